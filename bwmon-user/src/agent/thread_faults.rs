//! Page faults of one of our threads.

use std::fs;

/// Minor and major page faults of the thread `thread` of this process so far (proc_pid_stat(5),
/// fields 10 and 12); `None` where they cannot be read.
pub(super) fn of(thread: u32) -> Option<u64> {
    parse(&fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?)
}

/// The name in parentheses may hold anything, so fields are counted from its end: field 3 comes first.
fn parse(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(7);
    let minor: u64 = fields.next()?.parse().ok()?;
    let major: u64 = fields.nth(1)?.parse().ok()?;
    Some(minor + major)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_behind_any_name() {
        // Fields 10 to 13: 120 minor, 7 of children, 3 major, 1 of children.
        let stat = "12 (a) b) S 1 12 12 0 -1 4194304 120 7 3 1 5 6 0 0 20 0 1 0";
        assert_eq!(parse(stat), Some(123));
        assert_eq!(parse("12 (x) S 1"), None);
    }
}
