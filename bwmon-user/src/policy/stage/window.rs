//! The last values, and what they say together.

use super::tame;

/// Values that a window can hold.
pub const MOST_VALUES: usize = 64;

/// The last values, at most [`MOST_VALUES`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    n: usize,
    values: Vec<i64>,
    next: usize,
    sorted: Vec<i64>,
}

impl Window {
    /// Takes `x` into a window of the last `n` values (1 to [`MOST_VALUES`]); another `n` than
    /// before starts anew.
    pub fn push(&mut self, x: i64, n: usize) {
        let n = n.clamp(1, MOST_VALUES);
        if self.n != n {
            *self = Self { n, ..Self::default() };
            self.values.reserve_exact(n);
            self.sorted.reserve_exact(n);
        }
        match self.values.get_mut(self.next) {
            Some(place) => *place = tame(x),
            None => self.values.push(tame(x)),
        }
        self.next = (self.next + 1) % n;
    }

    /// The mean, rounded up; 0 of none.
    pub fn average(&self) -> i64 {
        let count = i64::try_from(self.values.len().max(1)).unwrap_or(1);
        // 64 values of 2^52 fit in 2^58.
        let sum: i64 = self.values.iter().sum();
        sum.div_euclid(count) + i64::from(sum.rem_euclid(count) != 0)
    }

    /// The value that `pct` percent of the values do not exceed, by nearest rank; 0 of none.
    pub fn percentile(&mut self, pct: i64) -> i64 {
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.values);
        self.sorted.sort_unstable();
        let pct = usize::try_from(pct.clamp(0, 100)).unwrap_or(100);
        let rank = (self.sorted.len() * pct).div_ceil(100).max(1);
        self.sorted.get(rank - 1).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_oldest_value_leaves() {
        let mut window = Window::default();
        for x in [10, 20, 30, 40] {
            window.push(x, 3);
        }
        // 20, 30, 40 are left. Half of three values is the second, 90 % of them the third.
        assert_eq!((window.average(), window.percentile(50), window.percentile(90)), (30, 30, 40));
        assert_eq!((window.percentile(0), window.percentile(100)), (20, 40));
        window.push(1, 2);
        assert_eq!((window.average(), window.percentile(100)), (1, 1));
    }

    #[test]
    fn a_mean_is_rounded_up() {
        let mut window = Window::default();
        window.push(1, 4);
        window.push(2, 4);
        assert_eq!(window.average(), 2);
        window.push(-5, 4);
        // (1 + 2 - 5) / 3 = -0.67, rounded up.
        assert_eq!(window.average(), 0);
    }

    proptest! {
        #[test]
        fn it_is_the_last_n_values(xs in prop::collection::vec(-99i64..99, 1..200), n in 1usize..=64, pct in 0i64..=100) {
            let mut window = Window::default();
            for x in &xs {
                window.push(*x, n);
            }
            let mut last: Vec<i64> = xs.iter().rev().take(n).copied().collect();
            last.sort_unstable();
            let rank = (last.len() as i64 * pct).div_euclid(100) + i64::from(last.len() as i64 * pct % 100 != 0);
            prop_assert_eq!(window.percentile(pct), last[rank.max(1) as usize - 1]);
            let sum: i64 = last.iter().sum();
            prop_assert!(window.average() * last.len() as i64 >= sum);
            prop_assert!((window.average() - 1) * (last.len() as i64) < sum);
        }
    }
}
