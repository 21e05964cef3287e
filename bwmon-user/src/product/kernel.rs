//! Kernel versions: `>=6.6, <6.20`, compared on the numbers at the start of the release.

use std::cmp::Ordering;
use std::fmt;

/// Comparisons that all have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRange {
    text: String,
    terms: Vec<(Op, Vec<u32>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Least,
    Above,
    Most,
    Below,
    Equal,
}

/// Longer signs first: `>` begins `>=` too.
const OPS: [(&str, Op); 5] =
    [(">=", Op::Least), ("<=", Op::Most), (">", Op::Above), ("<", Op::Below), ("=", Op::Equal)];

impl Op {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Least => order.is_ge(),
            Self::Above => order.is_gt(),
            Self::Most => order.is_le(),
            Self::Below => order.is_lt(),
            Self::Equal => order.is_eq(),
        }
    }
}

impl KernelRange {
    /// The range that `text` describes: comparisons with commas between them.
    ///
    /// # Errors
    /// The part that is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms =
            text.split(',').map(|term| Self::term(term.trim())).collect::<Result<_, _>>()?;
        Ok(Self { text: text.trim().to_owned(), terms })
    }

    fn term(term: &str) -> Result<(Op, Vec<u32>), String> {
        let wrong = || format!("\"{term}\" is no comparison with a kernel version");
        let (sign, op) =
            OPS.into_iter().find(|(sign, _)| term.starts_with(sign)).ok_or_else(wrong)?;
        let version = term.strip_prefix(sign).unwrap_or_default().trim();
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let numbers: Option<Vec<u32>> =
            version.split('.').map(|part| part.parse().ok().filter(|_| digits(part))).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= 4).ok_or_else(wrong)?;
        Ok((op, numbers))
    }

    /// Whether `release`, as `uname -r` prints it, is in the range. As many numbers are compared as
    /// the comparison writes, so `=6.12` and `<=6.12` take 6.12.9; a number that the release lacks
    /// is 0. `None` if the release does not start with a number.
    pub fn holds(&self, release: &str) -> Option<bool> {
        let found = numbers(release);
        if found.is_empty() {
            return None;
        }
        let order = |wanted: &[u32]| {
            let found = found.iter().copied().chain(std::iter::repeat(0));
            found.take(wanted.len()).cmp(wanted.iter().copied())
        };
        Some(self.terms.iter().all(|(op, wanted)| op.holds(order(wanted))))
    }
}

/// The numbers at the start of a release: 6, 12, 9 of `6.12.9-arm64`.
fn numbers(release: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in release.split('.') {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let Some(Ok(number)) = part.get(..digits).map(str::parse) else { break };
        numbers.push(number);
        if digits < part.len() {
            break;
        }
    }
    numbers
}

impl fmt::Display for KernelRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(range: &str, release: &str) -> Option<bool> {
        KernelRange::parse(range).unwrap().holds(release)
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_as_many_as_are_written() {
        for (range, release, wanted) in [
            (">=6.6, <6.20", "6.12.9-arm64", true),
            // 20 is more than 12 although "20" < "6".
            (">=6.6, <6.20", "6.20.0", false),
            (">=6.6", "6.5.99", false),
            (">=6.6", "6.6.0-rc3", true),
            ("=6.12", "6.12.9", true),
            ("<=6.12", "6.12.9", true),
            (">6.12", "6.12.9", false),
            (">6.12.8", "6.12.9", true),
            ("=6.12.0", "6.12", true),
            ("> 5", "6.1", true),
            (">=7.1", "7.1-rc2-next-20260101", true),
        ] {
            assert_eq!(holds(range, release), Some(wanted), "{range} {release}");
        }
        assert_eq!(holds(">=6", "unknown"), None);
        assert_eq!(holds(">=6", ""), None);
    }

    #[test]
    fn what_is_no_comparison_is_refused_with_the_part() {
        for (text, part) in [
            ("6.6", "\"6.6\""),
            (">=6.6,", "\"\""),
            (">=6.x", "\">=6.x\""),
            ("=>6.6", "\"=>6.6\""),
            (">=6.6 <7", "\">=6.6 <7\""),
            (">=+6", "\">=+6\""),
            (">=", "\">=\""),
            (">=1.2.3.4.5", "1.2.3.4.5"),
            ("", "\"\""),
        ] {
            let said = KernelRange::parse(text).unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}
