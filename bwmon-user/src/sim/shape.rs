//! How a stream's demand runs over time.

use crate::random::{GAMMA, mixed};
use crate::units::{Kbps, Nanos};
use std::sync::Arc;

/// Demand over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// As fast as the machine can.
    Unbounded,
    /// The same all the time.
    Constant(Kbps),
    /// In a straight line from one value to another over the phase.
    Ramp(Kbps, Kbps),
    /// High for the first `high_us` of every `period_us`, else low.
    Square {
        /// Demand in the pause.
        low: Kbps,
        /// Demand in the pulse.
        high: Kbps,
        /// Length of the pulse.
        high_us: u32,
        /// Distance of the pulses; never 0.
        period_us: u32,
    },
    /// Slots that are busy or not, drawn from `seed`: the same seed draws the same slots.
    Bursts {
        /// Demand in a quiet slot.
        low: Kbps,
        /// Demand in a busy slot.
        high: Kbps,
        /// Length of a slot; never 0.
        slot_us: u32,
        /// Percent of the slots that are busy.
        busy_pct: u32,
        /// What they are drawn from.
        seed: u64,
    },
    /// Recorded values, `step` apart, again from the start at their end.
    Trace {
        /// The values; never empty.
        values: Arc<[Kbps]>,
        /// Their distance; never 0.
        step: Nanos,
    },
}

impl Shape {
    /// The mean demand in kB/s over `span`, `since` the phase of length `length` began; infinite if
    /// unbounded. Exact for steps within a phase, so that what is offered does not depend on the
    /// tick.
    pub fn mean(&self, since: Nanos, span: Nanos, length: Nanos) -> f64 {
        match self {
            Self::Unbounded | Self::Constant(_) => self.at(since, length),
            Self::Ramp(..) => self.at(since.plus(Nanos(span.0 / 2)), length),
            Self::Square { low, high, high_us, period_us } => {
                let (period, pulse) = (ns(*period_us), ns(*high_us));
                let high_until = |t: u64| t / period * pulse + (t % period).min(pulse);
                let high_ns = high_until(since.0 + span.0) - high_until(since.0);
                let share = high_ns as f64 / span.0.max(1) as f64;
                low.0 as f64 + (high.0 as f64 - low.0 as f64) * share
            }
            Self::Bursts { slot_us, .. } => self.sliced(since, span, length, ns(*slot_us)),
            Self::Trace { step, .. } => self.sliced(since, span, length, step.0.max(1)),
        }
    }

    /// The mean of what changes every `slice` only.
    fn sliced(&self, since: Nanos, span: Nanos, length: Nanos, slice: u64) -> f64 {
        let (mut at, end, mut sum) = (since.0, since.0 + span.0, 0.0);
        while at < end {
            let next = (at / slice + 1).saturating_mul(slice).min(end);
            sum += self.at(Nanos(at), length) * (next - at) as f64;
            at = next;
        }
        sum / span.0.max(1) as f64
    }

    /// The demand in kB/s, `since` the phase of length `length` began; infinite if unbounded.
    pub fn at(&self, since: Nanos, length: Nanos) -> f64 {
        match self {
            Self::Unbounded => f64::INFINITY,
            Self::Constant(kbps) => kbps.0 as f64,
            Self::Ramp(from, to) => {
                let share = since.0 as f64 / length.0.max(1) as f64;
                from.0 as f64 + (to.0 as f64 - from.0 as f64) * share
            }
            Self::Square { low, high, high_us, period_us } => {
                let inside = since.as_us() % u64::from((*period_us).max(1));
                pick(inside < u64::from(*high_us), *high, *low)
            }
            Self::Bursts { low, high, slot_us, busy_pct, seed } => {
                let slot = since.as_us() / u64::from((*slot_us).max(1));
                pick(
                    drawn(drawn(*seed).wrapping_add(slot)) % 100 < u64::from(*busy_pct),
                    *high,
                    *low,
                )
            }
            Self::Trace { values, step } => {
                let index = (since.0 / step.0.max(1)) as usize % values.len().max(1);
                values.get(index).map_or(0.0, |kbps| kbps.0 as f64)
            }
        }
    }
}

fn ns(us: u32) -> u64 {
    u64::from(us.max(1)) * Nanos::PER_US
}

fn pick(high: bool, a: Kbps, b: Kbps) -> f64 {
    if high { a.0 as f64 } else { b.0 as f64 }
}

/// SplitMix64's output number `seed`, so that any slot can be drawn by itself.
fn drawn(seed: u64) -> u64 {
    mixed(seed.wrapping_mul(GAMMA).wrapping_add(GAMMA))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(shape: &Shape, ms: u64) -> f64 {
        shape.at(Nanos(ms * Nanos::PER_MS), Nanos(100 * Nanos::PER_MS))
    }

    #[test]
    fn a_ramp_runs_straight_over_its_phase() {
        let ramp = Shape::Ramp(Kbps(100), Kbps(300));
        assert_eq!([at(&ramp, 0), at(&ramp, 50), at(&ramp, 100)], [100.0, 200.0, 300.0]);
    }

    #[test]
    fn a_square_wave_is_high_for_the_first_part_of_its_period() {
        let wave = Shape::Square { low: Kbps(1), high: Kbps(9), high_us: 4_000, period_us: 8_000 };
        let seen: Vec<f64> = [0, 3, 4, 7, 8].iter().map(|ms| at(&wave, *ms)).collect();
        assert_eq!(seen, [9.0, 9.0, 1.0, 1.0, 9.0]);
    }

    #[test]
    fn bursts_are_drawn_in_about_the_share_asked_for_and_the_same_each_time() {
        let bursts = |seed| Shape::Bursts {
            low: Kbps(0),
            high: Kbps(1),
            slot_us: 1_000,
            busy_pct: 30,
            seed,
        };
        let busy = |seed| (0..10_000).map(|ms| at(&bursts(seed), ms)).sum::<f64>();
        assert!((2_850.0..3_150.0).contains(&busy(1)), "{}", busy(1));
        assert_eq!(busy(7), busy(7));
        assert_ne!(busy(1), busy(2));
    }

    #[test]
    fn what_is_offered_does_not_depend_on_the_step() {
        let shapes = [
            Shape::Ramp(Kbps(100), Kbps(300)),
            Shape::Square { low: Kbps(1), high: Kbps(9), high_us: 6_000, period_us: 16_667 },
            Shape::Bursts { low: Kbps(0), high: Kbps(9), slot_us: 7_000, busy_pct: 40, seed: 3 },
            Shape::Trace { values: [Kbps(5), Kbps(6), Kbps(1)].into(), step: Nanos(9_000_000) },
        ];
        let length = Nanos(120 * Nanos::PER_MS);
        for shape in shapes {
            let offered = |ms: u64| {
                let step = Nanos(ms * Nanos::PER_MS);
                let means = (0..120 / ms).map(|n| shape.mean(Nanos(n * step.0), step, length));
                means.sum::<f64>() * ms as f64
            };
            for ms in [2, 4, 8, 40, 120] {
                assert!((offered(ms) / offered(1) - 1.0).abs() < 1e-9, "{shape:?} {ms}");
            }
        }
    }

    #[test]
    fn a_trace_starts_again_at_its_end() {
        let trace =
            Shape::Trace { values: [Kbps(5), Kbps(6)].into(), step: Nanos(10 * Nanos::PER_MS) };
        let seen: Vec<f64> = [0, 9, 10, 20].iter().map(|ms| at(&trace, *ms)).collect();
        assert_eq!(seen, [5.0, 5.0, 6.0, 5.0]);
    }
}
