//! A clock whose sleep ends early when a block interrupts.

use super::clock::MonotonicClock;
use crate::ports::Clock;
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The machine's monotonic clock, and the UIO devices that may wake it.
#[derive(Debug, Default)]
pub struct WakingClock {
    clock: MonotonicClock,
    events: Vec<OwnedFd>,
}

impl WakingClock {
    /// Woken by `events`: files of UIO devices, opened without blocking.
    pub(super) fn new(events: Vec<OwnedFd>) -> Self {
        Self { clock: MonotonicClock, events }
    }

    /// Whether anything can wake it.
    pub fn can_be_woken(&self) -> bool {
        !self.events.is_empty()
    }

    /// Takes what has come; true if something had. A device that is gone is waited for no more: it
    /// would answer at once, for ever.
    fn take(&mut self) -> bool {
        let mut woken = false;
        self.events.retain(|file| {
            let mut count = [0; 4];
            match rustix::io::read(file, &mut count) {
                Ok(4) => woken = true,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Ok(_) | Err(_) => return false,
            }
            true
        });
        woken
    }
}

impl Clock for WakingClock {
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn sleep_until(&mut self, moment: Nanos) {
        while !self.events.is_empty() {
            let left = moment.since(self.now()).0;
            if left == 0 {
                // What has come meanwhile is answered by this tick.
                self.take();
                return;
            }
            let left = Timespec {
                tv_sec: (left / Nanos::PER_S) as i64,
                tv_nsec: (left % Nanos::PER_S) as i64,
            };
            let mut files: Vec<PollFd<'_>> =
                self.events.iter().map(|file| PollFd::new(file, PollFlags::IN)).collect();
            match poll(&mut files, Some(&left)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) if self.take() => return,
                Ok(_) => {}
                // Nothing that could be waited for: sleep.
                Err(_) => break,
            }
        }
        self.clock.sleep_until(moment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use std::os::unix::net::UnixStream;

    fn event(count: u32) -> OwnedFd {
        eventfd(count, EventfdFlags::NONBLOCK).unwrap()
    }

    #[test]
    fn a_clock_that_nothing_wakes_sleeps_to_the_moment() {
        let mut clock = WakingClock::default();
        let moment = clock.now().plus(Nanos(2 * Nanos::PER_MS));
        clock.sleep_until(moment);
        assert!(clock.now() >= moment && !clock.can_be_woken());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_waited_for_no_more() {
        // An event counter wants eight bytes and refuses four, as a UIO device that is gone refuses
        // any: it is dropped, and the sleep goes on to its moment.
        let mut clock = WakingClock::new(vec![event(1)]);
        let moment = clock.now().plus(Nanos(2 * Nanos::PER_MS));
        clock.sleep_until(moment);
        assert!(clock.now() >= moment && !clock.can_be_woken());
    }

    #[test]
    fn an_event_ends_the_sleep_early_and_is_taken_once() {
        let (reader, writer) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        rustix::io::write(&writer, &1u32.to_ne_bytes()).unwrap();
        let mut clock = WakingClock::new(vec![reader.into()]);
        // Far beyond what a test may take: only the event can end it.
        clock.sleep_until(clock.now().plus(Nanos(3600 * Nanos::PER_S)));
        assert!(clock.can_be_woken() && !clock.take());
    }
}
