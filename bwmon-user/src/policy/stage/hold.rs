//! Values that stay up for a while.

use super::tame;
use crate::units::Nanos;

/// Maxima that are kept apart; more are merged, towards the larger and later.
const MOST_PEAKS: usize = 32;

/// The largest value of the last span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakHold {
    /// Falling values with their times, oldest first: only what can still become the largest.
    peaks: Vec<(Nanos, i64)>,
}

impl PeakHold {
    /// Takes `x` at `now` and answers the largest value of the last `ms` milliseconds, `x` among
    /// them.
    pub fn step(&mut self, now: Nanos, x: i64, ms: i64) -> i64 {
        let x = tame(x);
        while self.peaks.last().is_some_and(|(_, peak)| *peak <= x) {
            self.peaks.pop();
        }
        if self.peaks.len() == MOST_PEAKS
            && let Some(last) = self.peaks.last_mut()
        {
            // Never forgets a peak early: the smallest one that is kept lives longer instead.
            last.0 = now;
        } else {
            if self.peaks.capacity() == 0 {
                self.peaks.reserve_exact(MOST_PEAKS);
            }
            self.peaks.push((now, x));
        }
        let span = millis(ms);
        let old = self.peaks.iter().take_while(|(at, _)| now.since(*at) > span).count();
        self.peaks.drain(..old);
        self.peaks.first().map_or(x, |(_, peak)| *peak)
    }
}

/// Rises at once and falls late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HoldDown {
    held: Option<i64>,
    below: Option<(Nanos, i64)>,
}

impl HoldDown {
    /// Takes `x` at `now`; once everything has been below what is held for `ms` milliseconds on
    /// end, the largest of that span is held instead.
    pub fn step(&mut self, now: Nanos, x: i64, ms: i64) -> i64 {
        let x = tame(x);
        let held = match self.held {
            Some(held) if x < held => held,
            _ => {
                (self.held, self.below) = (Some(x), None);
                return x;
            }
        };
        let (since, largest) = self.below.map_or((now, x), |(at, most)| (at, most.max(x)));
        if now.since(since) >= millis(ms) {
            (self.held, self.below) = (Some(largest), None);
            return largest;
        }
        self.below = Some((since, largest));
        held
    }
}

/// The largest value of a run: the kernel driver's "so many windows on end". As in the hardware,
/// where `ZONE_MAX` stays until it is cleared, the largest value outlives a run that was cut short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunMax {
    count: i64,
    largest: Option<i64>,
}

impl RunMax {
    /// While `cond` holds, adds `by` to the count and keeps the largest `x`; answers it once the
    /// count has reached `n`, and forgets everything. `None` until then. Without `cond` the count
    /// starts anew.
    pub fn step(&mut self, cond: bool, x: i64, by: i64, n: i64) -> Option<i64> {
        if !cond {
            self.count = 0;
            return None;
        }
        let x = tame(x);
        let largest = self.largest.map_or(x, |largest| largest.max(x));
        self.count = self.count.saturating_add(by.max(1));
        if self.count < n {
            self.largest = Some(largest);
            return None;
        }
        *self = Self::default();
        Some(largest)
    }
}

/// Milliseconds of an operator's number; none below 0.
fn millis(ms: i64) -> Nanos {
    Nanos(u64::try_from(ms).unwrap_or(0).saturating_mul(Nanos::PER_MS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Nanos {
        Nanos(n * Nanos::PER_MS)
    }

    #[test]
    fn a_peak_is_held_for_its_time_and_then_the_next_one_counts() {
        let mut peak = PeakHold::default();
        assert_eq!(peak.step(ms(0), 9, 20), 9);
        assert_eq!(peak.step(ms(10), 5, 20), 9);
        assert_eq!(peak.step(ms(20), 3, 20), 9);
        // The 9 is 21 ms old; the 5 of 10 ms is the largest left.
        assert_eq!(peak.step(ms(21), 1, 20), 5);
        assert_eq!(peak.step(ms(42), 1, 20), 1);
    }

    #[test]
    fn a_hold_comes_down_to_the_largest_of_the_quiet_span() {
        let mut hold = HoldDown::default();
        assert_eq!(hold.step(ms(0), 9, 20), 9);
        assert_eq!(hold.step(ms(5), 3, 20), 9);
        assert_eq!(hold.step(ms(15), 6, 20), 9);
        assert_eq!(hold.step(ms(24), 2, 20), 9);
        // Below since 5 ms: at 25 ms the largest since then was 6.
        assert_eq!(hold.step(ms(25), 2, 20), 6);
        assert_eq!(hold.step(ms(26), 7, 20), 7);
    }

    #[test]
    fn a_run_answers_its_largest_value_once_it_is_long_enough() {
        let mut run = RunMax::default();
        assert_eq!(run.step(true, 5, 1, 3), None);
        assert_eq!(run.step(true, 7, 1, 3), None);
        assert_eq!(run.step(true, 6, 1, 3), Some(7));
        assert_eq!(run.step(true, 5, 2, 3), None);
        assert_eq!(run.step(false, 9, 1, 3), None);
        // The count began again, the 5 stays; three windows at once are enough.
        assert_eq!(run.step(true, 4, 2, 3), None);
        assert_eq!(run.step(true, 4, 1, 3), Some(5));
        assert_eq!(run.step(true, 4, 3, 3), Some(4));
    }

    proptest! {
        #[test]
        fn a_peak_is_never_less_than_the_true_maximum(
            steps in prop::collection::vec((0u64..9, -1_000i64..1_000), 1..200), span in 0i64..60,
        ) {
            let mut peak = PeakHold::default();
            let (mut now, mut seen) = (0, Vec::new());
            for (dt, x) in steps {
                now += dt;
                seen.push((now, x));
                let truth = seen.iter().filter(|(at, _)| now - at <= span as u64).map(|(_, x)| *x).max();
                let answer = peak.step(ms(now), x, span);
                prop_assert!(Some(answer) >= truth);
                prop_assert!(seen.iter().any(|(_, x)| *x == answer));
                if peak.peaks.len() < MOST_PEAKS {
                    prop_assert_eq!(Some(answer), truth);
                }
            }
        }

        #[test]
        fn a_hold_is_never_below_its_input(steps in prop::collection::vec((0u64..9, -1_000i64..1_000), 1..200)) {
            let mut hold = HoldDown::default();
            let mut now = 0;
            for (dt, x) in steps {
                now += dt;
                prop_assert!(hold.step(ms(now), x, 16) >= x);
            }
        }
    }
}
