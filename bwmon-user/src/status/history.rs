//! The last half minute of a domain, for a graph that is full as soon as it is opened.

use crate::units::{Kbps, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Milliseconds in a bucket.
pub const BUCKET_MS: u64 = 250;

/// Buckets that are kept.
pub const BUCKETS: usize = 120;

/// A quarter of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The busiest window; `None` without a reading.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Option<Kbps>,
    /// The highest level's bandwidth; `None` without one.
    #[serde(rename = "level_kBps")]
    pub level_kbps: Option<Kbps>,
}

/// Buckets of time, the newest last.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Number of the newest bucket since the clock's start.
    newest: u64,
    buckets: VecDeque<Bucket>,
}

impl History {
    /// Takes what was measured and voted at `now`. Time without ticks leaves empty buckets.
    pub fn take(&mut self, now: Nanos, seen: Bucket) {
        let number = now.as_ms() / BUCKET_MS;
        if self.buckets.is_empty() {
            self.newest = number;
            self.buckets.reserve_exact(BUCKETS + 1);
            self.buckets.push_back(Bucket::default());
        }
        let passed = number.saturating_sub(self.newest).min(BUCKETS as u64);
        for _ in 0..passed {
            self.buckets.push_back(Bucket::default());
            if self.buckets.len() > BUCKETS {
                self.buckets.pop_front();
            }
        }
        self.newest = self.newest.max(number);
        if let Some(last) = self.buckets.back_mut() {
            last.peak_kbps = last.peak_kbps.max(seen.peak_kbps);
            last.level_kbps = last.level_kbps.max(seen.level_kbps);
        }
    }

    /// Oldest first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        self.buckets.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peak: u64) -> Bucket {
        Bucket { peak_kbps: Some(Kbps(peak)), level_kbps: None }
    }

    fn peaks(history: &History) -> Vec<Option<u64>> {
        history.buckets().map(|bucket| bucket.peak_kbps.map(|k| k.0)).collect()
    }

    #[test]
    fn a_bucket_keeps_its_busiest_moment_and_a_gap_stays_empty() {
        let mut history = History::default();
        // 1000 and 1100 ms lie in bucket 4, 1800 in bucket 7: two buckets between are empty.
        for (ms, peak) in [(1_000, 5), (1_100, 9), (1_100, 7), (1_800, 3)] {
            history.take(Nanos(ms * Nanos::PER_MS), seen(peak));
        }
        assert_eq!(peaks(&history), [Some(9), None, None, Some(3)]);
    }

    #[test]
    fn only_the_last_half_minute_is_kept_and_a_clock_that_goes_back_adds_nothing() {
        let mut history = History::default();
        (0..1_000).for_each(|n| history.take(Nanos(n * 250 * Nanos::PER_MS), seen(n)));
        assert_eq!((history.buckets().count(), peaks(&history)[0]), (BUCKETS, Some(880)));
        history.take(Nanos(0), seen(5_000));
        assert_eq!((history.buckets().count(), peaks(&history)[119]), (BUCKETS, Some(5_000)));
        history.take(Nanos(u64::MAX), seen(1));
        assert_eq!(peaks(&history).iter().flatten().count(), 1);
    }
}
