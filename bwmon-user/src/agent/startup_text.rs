//! Program text that only starting needed: the command line, the loader of the probes, the checks of
//! policies. It is some 6 MB, which would stay resident (and locked) for as long as the agent runs.

use rustix::mm::{Advice, madvise};
use std::ops::Range;

/// Lets go of the pages of this program's text. What runs on comes back from the page cache with its
/// first use, a few microseconds for each 64 kB; so this is for before the first tick.
pub(super) fn let_go() {
    let Ok(program) = std::fs::read_link("/proc/self/exe") else { return };
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    let program = program.to_string_lossy();
    for Range { start, end } in maps.lines().filter_map(|line| text_of(line, &program)) {
        let first = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: a private mapping of a file that was never writable, so it holds nothing but what
        // the file has; the kernel reads a page again when it is used next, on whatever thread.
        #[expect(unsafe_code, reason = "no safe call says this to the kernel")]
        let answer = unsafe { madvise(first, end - start, Advice::LinuxDontNeed) };
        // The agent is larger then, nothing else.
        let _ = answer;
    }
}

/// The addresses in `line` of `/proc/PID/maps` (proc(5)), if it is text of `program`.
fn text_of(line: &str, program: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (addresses, rights) = (words.next()?, words.next()?);
    // Relocated data is read-only by now too, and would be lost; text has none.
    if rights != "r-xp" || !line.ends_with(program) {
        return None;
    }
    let (start, end) = addresses.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let range = address(start)?..address(end)?;
    (range.start < range.end).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_of_the_program_is_let_go_of() {
        let line = |rights: &str, file: &str| {
            format!("555555554000-555555560000 {rights} 00001000 fe:01 1234    {file}")
        };
        let text = text_of(&line("r-xp", "/usr/bin/bwmon"), "/usr/bin/bwmon");
        assert_eq!(text, Some(0x5555_5555_4000..0x5555_5556_0000));
        for (rights, file) in [
            ("r--p", "/usr/bin/bwmon"),
            ("rw-p", "/usr/bin/bwmon"),
            ("rwxp", "/usr/bin/bwmon"),
            ("r-xp", "/usr/lib/libc.so.6"),
            ("r-xp", ""),
        ] {
            assert_eq!(text_of(&line(rights, file), "/usr/bin/bwmon"), None, "{rights} {file}");
        }
        assert_eq!(text_of("nonsense", "/usr/bin/bwmon"), None);
    }
}
