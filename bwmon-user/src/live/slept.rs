//! Whether the machine has slept: `CLOCK_BOOTTIME` counts sleep, `CLOCK_MONOTONIC` does not.

use crate::units::Nanos;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Less than this between the two clocks is the time between reading them.
const SHORTEST: u64 = Nanos::PER_MS;

/// Tells each sleep once.
#[derive(Debug)]
pub(super) struct SleepWatch {
    /// How far the one clock is ahead of the other, in nanoseconds.
    read: fn() -> u64,
    ahead: u64,
}

impl SleepWatch {
    /// A watch that has seen all sleep up to now.
    pub(super) fn new() -> Self {
        Self::reading(boottime_ahead)
    }

    /// One that reads the difference from `read`.
    pub(super) fn reading(read: fn() -> u64) -> Self {
        Self { read, ahead: read() }
    }

    /// Time slept since the last call; 0 if none.
    pub(super) fn slept(&mut self) -> Nanos {
        let ahead = (self.read)();
        let slept = ahead.saturating_sub(self.ahead);
        self.ahead = ahead;
        Nanos(if slept >= SHORTEST { slept } else { 0 })
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

/// The difference that tests set, in place of the machine's.
#[cfg(test)]
pub(super) mod played {
    use std::cell::Cell;

    thread_local! {
        static AHEAD: Cell<u64> = const { Cell::new(5_000_000_000) };
    }

    /// For [`super::SleepWatch::reading`].
    pub(in crate::live) fn ahead() -> u64 {
        AHEAD.get()
    }

    /// Lets the machine sleep for `ns` nanoseconds (or, negative, the clocks drift back).
    pub(in crate::live) fn sleep(ns: i64) {
        AHEAD.set(AHEAD.get().saturating_add_signed(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_told_once_and_the_time_between_two_clocks_is_none() {
        let mut watch = SleepWatch::reading(played::ahead);
        assert_eq!(watch.slept(), Nanos(0));
        played::sleep(3_600_000_000_000);
        assert_eq!(watch.slept(), Nanos(3_600_000_000_000));
        assert_eq!(watch.slept(), Nanos(0));
        played::sleep(999_999);
        assert_eq!(watch.slept(), Nanos(0));
        // The two readings may lie so that the difference shrinks a little.
        played::sleep(-900_000);
        assert_eq!(watch.slept(), Nanos(0));
        played::sleep(2_000_000);
        assert_eq!(watch.slept(), Nanos(2_000_000));
    }

    #[test]
    fn this_machine_does_not_sleep_between_two_calls() {
        let mut watch = SleepWatch::new();
        assert_eq!(watch.slept(), Nanos(0));
    }
}
