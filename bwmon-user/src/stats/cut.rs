//! Which order statistics bound a distribution-free interval.

use super::normal::two_sided_z;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// How far an interval reaches into sorted values: from the `order`th smallest to the `order`th
/// largest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// Counted from 1; 1 is the widest interval there is.
    pub order: usize,
    /// The confidence of that interval: at least the one asked for, unless even the widest interval
    /// does not reach it.
    pub achieved: f64,
}

impl Cut {
    /// From how often the statistic takes the values 0, 1, 2 … under the null distribution: the
    /// largest order k with 2 P(S <= k - 1) <= 1 - `confidence`.
    pub(super) fn exact(
        counts: impl IntoIterator<Item = u64>,
        total: u64,
        confidence: f64,
    ) -> Self {
        let total = total as f64;
        let mut below = 0_u64;
        let mut cut: Option<Self> = None;
        for (value, count) in counts.into_iter().enumerate() {
            below += count;
            let outside = 2.0 * below as f64 / total;
            let here = Self { order: value + 1, achieved: (1.0 - outside).max(0.0) };
            if cut.is_some() && outside > 1.0 - confidence {
                break;
            }
            cut = Some(here);
        }
        cut.unwrap_or(Self { order: 1, achieved: 0.0 })
    }

    /// From the normal approximation with continuity correction of a statistic with `mean` and
    /// standard deviation `sd`.
    pub(super) fn normal(mean: f64, sd: f64, confidence: f64) -> Self {
        let order = (mean + 0.5 - two_sided_z(1.0 - confidence) * sd).floor().max(1.0);
        let outside = 2.0 * Normal::standard().cdf((order - 0.5 - mean) / sd);
        Self { order: order as usize, achieved: (1.0 - outside).max(0.0) }
    }

    /// Lower bound, median and upper bound of `values`; `None` if there are none.
    pub(super) fn of(self, mut values: Vec<f64>) -> Option<(f64, f64, f64)> {
        values.sort_unstable_by(f64::total_cmp);
        let low = *values.get(self.order.checked_sub(1)?)?;
        let high = *values.get(values.len().checked_sub(self.order)?)?;
        Some((low, super::summary::middle(&values)?, high))
    }
}
