//! What the machine says besides registers and probes: how long it slept, which CPUs are on line.

use super::root::{Root, read_line};
use crate::sample::ProbeFacts;
use crate::units::Nanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// CPUs come and go rarely; reading a file on every tick would cost more than it tells.
const CPUS_EVERY: Nanos = Nanos(Nanos::PER_S);
/// Less than this between the two clocks is the time between reading them.
const SHORTEST_SLEEP: u64 = Nanos::PER_MS;

/// Looks at the machine on every tick.
#[derive(Debug)]
pub(super) struct Standing {
    root: Root,
    /// How far `CLOCK_BOOTTIME`, which counts sleep, is ahead of `CLOCK_MONOTONIC`.
    ahead: u64,
    cpus: Option<u32>,
    looked: Option<Nanos>,
}

impl Standing {
    pub(super) fn new(root: &Root) -> Self {
        Self { root: root.clone(), ahead: boottime_ahead(), cpus: None, looked: None }
    }

    /// Fills in what it sees at `now`.
    pub(super) fn facts(&mut self, now: Nanos, facts: &mut ProbeFacts) {
        let ahead = boottime_ahead();
        let slept = ahead.saturating_sub(self.ahead);
        facts.slept_ns = Nanos(if slept >= SHORTEST_SLEEP { slept } else { 0 });
        self.ahead = ahead;
        if self.looked.is_none_or(|at| now.since(at) >= CPUS_EVERY) {
            self.looked = Some(now);
            let list = read_line(&self.root.path("/sys/devices/system/cpu/online"));
            self.cpus = list.ok().and_then(|list| count(&list));
        }
        facts.cpus_online = self.cpus;
    }
}

fn boottime_ahead() -> u64 {
    let monotonic = nanos(clock_gettime(ClockId::Monotonic));
    nanos(clock_gettime(ClockId::Boottime)).saturating_sub(monotonic)
}

fn nanos(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(Nanos::PER_S).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPUs in a list such as `0-3,6` (Documentation/admin-guide/cputopology.rst).
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted_and_nonsense_is_unknown() {
        assert_eq!(count("0-7"), Some(8));
        assert_eq!(count("0,2-3,7"), Some(4));
        for nonsense in ["", "x", "3-1", "0-4294967295"] {
            assert_eq!(count(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn cpus_are_read_from_the_tree_once_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let file = root.path("/sys/devices/system/cpu/online");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "0-7\n").unwrap();
        let mut standing = Standing::new(&root);
        let mut facts = ProbeFacts::default();
        let mut at = |ms: u64| {
            standing.facts(Nanos(ms * Nanos::PER_MS), &mut facts);
            facts.cpus_online
        };
        assert_eq!(at(0), Some(8));
        std::fs::write(&file, "0-3\n").unwrap();
        assert_eq!((at(999), at(1_000)), (Some(8), Some(4)));
    }
}
