//! What a program moved, by time.

use crate::units::Nanos;

/// Bytes moved so far at moments, both rising. Between two moments the bytes are taken to flow evenly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    marks: Vec<(Nanos, u64)>,
}

impl Moved {
    /// What a program wrote down.
    pub fn new(mut marks: Vec<(Nanos, u64)>) -> Self {
        marks.sort_unstable();
        Self { marks }
    }

    /// Bytes moved until `moment`.
    fn until(&self, moment: Nanos) -> f64 {
        let after = self.marks.partition_point(|(at, _)| *at <= moment);
        let before = after.checked_sub(1).and_then(|index| self.marks.get(index));
        match (before, self.marks.get(after)) {
            (Some((from, had)), Some((to, has))) => {
                let share = moment.since(*from).0 as f64 / to.since(*from).0.max(1) as f64;
                *had as f64 + share * has.saturating_sub(*had) as f64
            }
            (Some((_, had)), None) => *had as f64,
            (None, _) => self.marks.first().map_or(0.0, |(_, had)| *had as f64),
        }
    }

    /// Bytes in the busiest of the windows between `from` and `to`, at least and at most: no window is
    /// busiest with less than the mean of all, and none has more than the busiest stretch of that
    /// length wherever it begins. `None` if no whole window fits, or the program did not run all of
    /// that time.
    pub fn busiest(&self, from: Nanos, to: Nanos, window: Nanos) -> Option<(f64, f64)> {
        let (first, last) = (self.marks.first()?.0, self.marks.last()?.0);
        let windows = to.since(from).0.checked_div(window.0)?;
        if windows == 0 || from < first || to > last {
            return None;
        }
        let whole = Nanos(windows * window.0);
        let mean = (self.until(from.plus(whole)) - self.until(from)) / windows as f64;
        // Bytes grow in straight lines, so the busiest stretch begins or ends at a mark.
        let inside = self.marks.iter().map(|(at, _)| *at).filter(|at| *at >= from && *at <= to);
        let latest = Nanos(to.0.saturating_sub(window.0));
        let starts = inside.flat_map(|at| [at, Nanos(at.0.saturating_sub(window.0))]);
        let starts = starts.map(|start| start.clamp(from, latest.max(from)));
        let stretch = |start: Nanos| self.until(start.plus(window)) - self.until(start);
        Some((mean, starts.map(stretch).fold(mean, f64::max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * Nanos::PER_MS)
    }

    #[test]
    fn steady_traffic_has_the_same_in_every_window() {
        let moved = Moved::new(vec![(ms(0), 0), (ms(100), 100_000)]);
        // 1000 bytes a millisecond: 4000 in a window of 4 ms.
        assert_eq!(moved.busiest(ms(10), ms(30), ms(4)), Some((4_000.0, 4_000.0)));
    }

    #[test]
    fn a_burst_raises_the_upper_bound_alone() {
        // Ten milliseconds with nothing, two with 8000 bytes, eight with nothing.
        let marks = vec![(ms(0), 0), (ms(10), 0), (ms(12), 8_000), (ms(20), 8_000)];
        let moved = Moved::new(marks);
        assert_eq!(moved.busiest(ms(0), ms(20), ms(4)), Some((1_600.0, 8_000.0)));
    }

    #[test]
    fn outside_of_the_run_and_below_a_window_nothing_is_known() {
        let moved = Moved::new(vec![(ms(10), 0), (ms(20), 1_000)]);
        assert_eq!(moved.busiest(ms(5), ms(15), ms(4)), None);
        assert_eq!(moved.busiest(ms(15), ms(25), ms(4)), None);
        assert_eq!(moved.busiest(ms(12), ms(15), ms(4)), None);
        assert_eq!(Moved::default().busiest(ms(0), ms(8), ms(4)), None);
    }

    proptest! {
        #[test]
        fn every_aligned_window_lies_below_the_upper_bound_and_one_above_the_lower(
            steps in prop::collection::vec((1u64..3_000_000, 0u64..100_000), 5..60),
            from in 0u64..5_000_000,
        ) {
            let (mut at, mut bytes, mut marks) = (0, 0, vec![(Nanos(0), 0)]);
            for (time, more) in steps {
                at += time;
                bytes += more;
                marks.push((Nanos(at), bytes));
            }
            let moved = Moved::new(marks);
            let window = ms(1);
            if let Some((low, high)) = moved.busiest(Nanos(from), Nanos(at), window) {
                let starts = (0..(at - from) / window.0).map(|n| Nanos(from + n * window.0));
                let own: Vec<f64> =
                    starts.map(|s| moved.until(s.plus(window)) - moved.until(s)).collect();
                let busiest = own.iter().copied().fold(0.0, f64::max);
                prop_assert!(busiest <= high + 1.0, "{busiest} {high}");
                prop_assert!(busiest >= low - 1.0, "{busiest} {low}");
            }
        }
    }
}
