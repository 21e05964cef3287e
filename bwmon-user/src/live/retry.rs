//! When a vote that the machine refused is tried again.
//!
//! Soon at first, then ever more rarely: a file that answers EBUSY on every tick must not cost a
//! system call on every tick. A wish above everything refused so far is tried at once, since
//! performance never waits.

use crate::board::Level;
use crate::units::Nanos;

/// The wait after the first refusal.
const FIRST: Nanos = Nanos(20 * Nanos::PER_MS);
/// The longest wait.
const LONGEST: Nanos = Nanos(Nanos::PER_S);

/// What was refused, since the machine last took a vote.
#[derive(Debug)]
struct Refusal {
    why: String,
    highest: Level,
    at: Nanos,
    wait: Nanos,
}

/// The refusals of one vote path.
#[derive(Debug, Default)]
pub(super) struct Retry(Option<Refusal>);

impl Retry {
    /// Why `level` is not to be tried at `now`, if it is not.
    pub(super) fn waits(&self, level: Level, now: Nanos) -> Option<&str> {
        let refusal = self.0.as_ref()?;
        // A clock that went back must not make it wait longer.
        let over = now < refusal.at || now.since(refusal.at) >= refusal.wait;
        (level <= refusal.highest && !over).then_some(refusal.why.as_str())
    }

    /// The machine refused `level` at `now`.
    pub(super) fn refused(&mut self, level: Level, why: &str, now: Nanos) {
        let (highest, wait) = match &self.0 {
            None => (level, FIRST),
            Some(before) => {
                let doubled = Nanos(before.wait.0.saturating_mul(2).min(LONGEST.0));
                (before.highest.max(level), doubled)
            }
        };
        self.0 = Some(Refusal { why: why.to_owned(), highest, at: now, wait });
    }

    /// The machine took a vote.
    pub(super) fn taken(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * Nanos::PER_MS)
    }

    #[test]
    fn a_minute_of_refusals_at_every_tick_is_about_one_try_a_second() {
        let mut retry = Retry::default();
        let mut tries = 0;
        for tick in 0..15_000 {
            if retry.waits(Level(1), ms(tick * 4)).is_none() {
                tries += 1;
                retry.refused(Level(1), "EBUSY", ms(tick * 4));
            }
        }
        assert!((60..=66).contains(&tries), "{tries}");
    }

    #[test]
    fn a_higher_wish_does_not_wait_and_a_lower_one_does() {
        let mut retry = Retry::default();
        retry.refused(Level(1), "EBUSY", ms(0));
        assert_eq!(retry.waits(Level(2), ms(1)), None);
        assert_eq!(retry.waits(Level(0), ms(1)), Some("EBUSY"));
        retry.refused(Level(2), "EINVAL", ms(1));
        // Two levels that take turns do not get around the wait.
        assert_eq!(retry.waits(Level(1), ms(2)), Some("EINVAL"));
        assert_eq!(retry.waits(Level(2), ms(2)), Some("EINVAL"));
        assert_eq!(retry.waits(Level(2), ms(41)), None);
        retry.taken();
        assert_eq!(retry.waits(Level(0), ms(2)), None);
    }

    #[test]
    fn a_clock_that_went_back_tries_at_once() {
        let mut retry = Retry::default();
        retry.refused(Level(1), "EBUSY", ms(1_000_000));
        assert_eq!(retry.waits(Level(1), ms(5)), None);
    }
}
