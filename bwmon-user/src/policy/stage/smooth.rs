//! Values that follow others: exponential averages, bounded slopes, lines.

use super::tame;
use crate::units::Nanos;

/// Fraction bits that an average keeps, so that it reaches what it follows.
const FRACTION: u32 = 10;

/// An exponentially weighted moving average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ewma {
    scaled: Option<i64>,
}

impl Ewma {
    /// Takes `x` with a weight of `pct` percent (0 to 100) and answers the average, rounded up;
    /// the first `x` is the first average.
    pub fn step(&mut self, x: i64, pct: i64) -> i64 {
        let x = tame(x) << FRACTION;
        let old = self.scaled.unwrap_or(x);
        let pct = i128::from(pct.clamp(0, 100));
        let new = (i128::from(x) * pct + i128::from(old) * (100 - pct)) / 100;
        // Between two tame values, so it fits.
        let new = i64::try_from(new).unwrap_or(x);
        self.scaled = Some(new);
        let whole = new >> FRACTION;
        if whole << FRACTION == new { whole } else { whole + 1 }
    }

    /// As [`Ewma::step`], but a larger `x` is taken at once.
    pub fn step_up(&mut self, x: i64, pct: i64) -> i64 {
        let rises = self.scaled.is_none_or(|old| tame(x) << FRACTION >= old);
        self.step(x, if rises { 100 } else { pct })
    }
}

/// A value that moves by no more than so much per millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slew {
    last: Option<(Nanos, i64)>,
}

impl Slew {
    /// Moves towards `x`, by at most `up_per_ms` or `down_per_ms` for each millisecond since the
    /// last step; 0 is no bound.
    pub fn step(&mut self, now: Nanos, x: i64, up_per_ms: i64, down_per_ms: i64) -> i64 {
        let x = tame(x);
        let value = match self.last {
            None => x,
            Some((at, last)) => {
                let us = i128::from(now.since(at).as_us());
                let most = |per_ms: i64| match per_ms {
                    0 => i128::MAX,
                    per_ms => i128::from(per_ms.max(0)) * us / 1_000,
                };
                let way = i128::from(x) - i128::from(last);
                let way = way.clamp(-most(down_per_ms), most(up_per_ms));
                i64::try_from(i128::from(last) + way).unwrap_or(x)
            }
        };
        self.last = Some((now, value));
        value
    }
}

/// So much that `x` uses `pct` percent of it, rounded up; `None` beyond 1 to 100 percent or what
/// fits.
pub fn headroom(x: i64, pct: i64) -> Option<i64> {
    if !(1..=100).contains(&pct) {
        return None;
    }
    let scaled = x.checked_mul(100)?;
    Some(scaled.div_euclid(pct) + i64::from(scaled.rem_euclid(pct) != 0))
}

/// On the line through (x0, y0) and (x1, y1), and no further than the two; y0 where they coincide.
pub fn lerp(x: i64, x0: i64, y0: i64, x1: i64, y1: i64) -> i64 {
    let [x, x0, y0, x1, y1] = [x, x0, y0, x1, y1].map(|n| i128::from(tame(n)));
    if x0 == x1 {
        return i64::try_from(y0).unwrap_or(0);
    }
    let x = x.clamp(x0.min(x1), x0.max(x1));
    i64::try_from(y0 + (y1 - y0) * (x - x0) / (x1 - x0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_average_starts_at_the_first_value_and_moves_by_its_weight() {
        let mut ewma = Ewma::default();
        assert_eq!(ewma.step(1_000, 25), 1_000);
        // 2000 * 25 % + 1000 * 75 % = 1250; then 2000 * 25 % + 1250 * 75 % = 1437.5, rounded up.
        assert_eq!(ewma.step(2_000, 25), 1_250);
        assert_eq!(ewma.step(2_000, 25), 1_438);
    }

    #[test]
    fn an_average_that_rises_at_once_still_falls_slowly() {
        let mut ewma = Ewma::default();
        ewma.step_up(1_000, 10);
        assert_eq!(ewma.step_up(5_000, 10), 5_000);
        // 1000 * 10 % + 5000 * 90 % = 4600.
        assert_eq!(ewma.step_up(1_000, 10), 4_600);
    }

    #[test]
    fn a_slope_is_bounded_by_time_and_not_by_calls() {
        let ms = |n: u64| Nanos(n * Nanos::PER_MS);
        let mut slew = Slew::default();
        assert_eq!(slew.step(ms(0), 100, 10, 5), 100);
        // 8 ms at 10 a millisecond up; 4 ms at 5 a millisecond down.
        assert_eq!(slew.step(ms(8), 1_000, 10, 5), 180);
        assert_eq!(slew.step(ms(12), 0, 10, 5), 160);
        assert_eq!(slew.step(ms(13), 0, 10, 0), 0);
    }

    #[test]
    fn headroom_is_rounded_up() {
        // 256000 * 100 / 70 = 365714.3: a level of 365714 would be fuller than 70 %.
        assert_eq!(headroom(256_000, 70), Some(365_715));
        assert_eq!((headroom(80, 80), headroom(0, 1), headroom(5, 0)), (Some(100), Some(0), None));
    }

    #[test]
    fn a_line_ends_at_its_points_and_may_fall() {
        // Half way between 100 and 200 is half way between 10 and 20.
        assert_eq!(lerp(150, 100, 10, 200, 20), 15);
        assert_eq!(lerp(50, 100, 10, 200, 20), 10);
        assert_eq!(lerp(900, 200, 20, 100, 10), 20);
        assert_eq!(lerp(5, 3, 7, 3, 9), 7);
    }

    proptest! {
        #[test]
        fn averages_and_slopes_stay_between_what_they_saw(
            xs in prop::collection::vec(any::<i64>(), 1..50), pct in 0i64..=100, rate in 0i64..1_000_000,
        ) {
            let (mut ewma, mut up, mut slew) = (Ewma::default(), Ewma::default(), Slew::default());
            let (mut low, mut high) = (i64::MAX, i64::MIN);
            for (n, x) in xs.into_iter().enumerate() {
                (low, high) = (low.min(tame(x)), high.max(tame(x)));
                let now = Nanos(n as u64 * 3 * Nanos::PER_MS);
                for y in [ewma.step(x, pct), up.step_up(x, pct), slew.step(now, x, rate, rate)] {
                    prop_assert!((low..=high).contains(&y), "{} not in {}..{}", y, low, high);
                }
            }
        }

        #[test]
        fn an_average_reaches_a_constant(from in -1_000_000i64..1_000_000, to in -1_000_000i64..1_000_000, pct in 5i64..=100) {
            let mut ewma = Ewma::default();
            ewma.step(from, pct);
            let last = (0..600).map(|_| ewma.step(to, pct)).last().unwrap();
            // At most one above: rounding up. 20 steps of the fraction's 1/1024 are left at 5 %.
            prop_assert!((to..=to + 1).contains(&last), "{} {}", to, last);
        }
    }
}
