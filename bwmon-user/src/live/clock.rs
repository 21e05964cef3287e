//! The machine's monotonic clock, the one that `bpf_ktime_get_ns` reads.

use crate::ports::Clock;
use crate::units::Nanos;
use rustix::thread::{ClockId, NanosleepRelativeResult};

/// `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

/// The longest single sleep, so that a request to stop is seen soon.
const SLICE: Nanos = Nanos(100 * Nanos::PER_MS);

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        Nanos(seconds * Nanos::PER_S + nanos)
    }

    fn sleep_until(&mut self, moment: Nanos) {
        loop {
            let left = moment.since(self.now()).0.min(SLICE.0);
            if left == 0 {
                return;
            }
            let request = rustix::time::Timespec {
                tv_sec: (left / Nanos::PER_S) as i64,
                tv_nsec: (left % Nanos::PER_S) as i64,
            };
            // An interrupted sleep is looked at again by the loop.
            let _: NanosleepRelativeResult =
                match rustix::thread::clock_nanosleep_relative(ClockId::Monotonic, &request) {
                    NanosleepRelativeResult::Err(_) => return,
                    other => other,
                };
        }
    }
}
