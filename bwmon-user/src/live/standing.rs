//! What the machine says besides registers and probes: how long it slept, which CPUs are on line.

use super::root::{Root, read_line};
use super::slept::SleepWatch;
use crate::sample::ProbeFacts;
use crate::units::Nanos;

/// CPUs come and go rarely; reading a file on every tick would cost more than it tells.
const CPUS_EVERY: Nanos = Nanos(Nanos::PER_S);

/// Looks at the machine on every tick.
#[derive(Debug)]
pub(super) struct Standing {
    root: Root,
    sleep: SleepWatch,
    cpus: Option<u32>,
    looked: Option<Nanos>,
}

impl Standing {
    pub(super) fn new(root: &Root) -> Self {
        Self::watching(root, SleepWatch::new())
    }

    /// One that learns of sleep from `sleep`.
    pub(super) fn watching(root: &Root, sleep: SleepWatch) -> Self {
        Self { root: root.clone(), sleep, cpus: None, looked: None }
    }

    /// Fills in what it sees at `now`.
    pub(super) fn facts(&mut self, now: Nanos, facts: &mut ProbeFacts) {
        facts.slept_ns = self.sleep.slept();
        if self.looked.is_none_or(|at| now.since(at) >= CPUS_EVERY) {
            self.looked = Some(now);
            let list = read_line(&self.root.path("/sys/devices/system/cpu/online"));
            self.cpus = list.ok().and_then(|list| count(&list));
        }
        facts.cpus_online = self.cpus;
    }
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
