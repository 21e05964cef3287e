//! Two samples that are not paired.

use super::cut::Cut;
use super::input::{StatsError, open_unit, sample};
use super::ranks::Ranks;
use super::signed_rank::{MOST_EXACT, exact_p};
use serde::Serialize;
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// What two samples say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Unpaired {
    /// Values of the first sample.
    pub n_first: usize,
    /// Values of the second sample.
    pub n_second: usize,
    /// Mann and Whitney's U of the first sample: how often one of its values is larger than one of
    /// the second; equal ones count half.
    pub u: f64,
    /// Two-sided p.
    pub p: f64,
    /// Whether `p` comes from the exact distribution.
    pub exact: bool,
    /// First minus second, in the input's unit: the median of all differences (Hodges & Lehmann
    /// 1963).
    pub shift: f64,
    /// Lower bound of the shift.
    pub low: f64,
    /// Upper bound of the shift.
    pub high: f64,
    /// The confidence that was asked for.
    pub confidence: f64,
    /// The confidence that `low..high` has; less than `confidence` if there are too few values.
    pub achieved: f64,
}

/// Compares `first` with `second` (the same unit) by the test of Mann & Whitney (1947), with the
/// shift between them and its interval of at least `confidence`: Hollander, Wolfe & Chicken,
/// *Nonparametric Statistical Methods*, 3rd ed., sections 4.1 to 4.3. Up to [`MOST_EXACT`] values
/// together, p is exact given the ties, and the interval exact without ties; beyond, both are normal
/// with a continuity correction.
///
/// # Errors
///
/// An empty sample or one of more than [`MOST_VALUES`](super::MOST_VALUES), a value that is not
/// finite, a confidence that is not between 0 and 1.
pub fn unpaired(first: &[f64], second: &[f64], confidence: f64) -> Result<Unpaired, StatsError> {
    sample(first, 1)?;
    sample(second, 1)?;
    open_unit("the confidence", confidence)?;
    let (m, n) = (first.len(), second.len());
    let exact = m + n <= MOST_EXACT;
    // statrs enumerates all subsets for its exact p, hours for 8 of 100, and takes the wrong tail if
    // the first sample is not the larger one: its normal p is used, the exact one is computed here.
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    let (u, normal_p) = mannwhitneyu(first, second, method, Alternative::TwoSided)
        .map_err(|_| StatsError::TooFew { need: 1, got: m.min(n) })?;
    let p = if exact {
        let all: Vec<f64> = first.iter().chain(second).copied().collect();
        let doubled = Ranks::of(&all).doubled;
        let seen = doubled.iter().take(m).sum();
        exact_p(&rank_sums(&doubled, m), seen)
    } else {
        normal_p
    };
    let cut = cut(m, n, confidence);
    let differences = first.iter().flat_map(|a| second.iter().map(move |b| a - b)).collect();
    let (low, shift, high) = cut.of(differences).ok_or(StatsError::TooFew { need: 1, got: 0 })?;
    Ok(Unpaired {
        n_first: m,
        n_second: n,
        u,
        p,
        exact,
        shift,
        low,
        high,
        confidence,
        achieved: cut.achieved,
    })
}

/// Which of the m n differences bound the interval.
fn cut(m: usize, n: usize, confidence: f64) -> Cut {
    if m + n <= MOST_EXACT {
        let ranks: Vec<u64> = (1..=(m + n) as u64).collect();
        let ways = rank_sums(&ranks, m);
        let total = ways.iter().sum();
        // U is the rank sum less the smallest that there is.
        return Cut::exact(ways.into_iter().skip(m * (m + 1) / 2), total, confidence);
    }
    let (m, n) = (m as f64, n as f64);
    Cut::normal(m * n / 2.0, (m * n * (m + n + 1.0) / 12.0).sqrt(), confidence)
}

/// How many of the ways to take `size` of `ranks` have the sum 0, 1, 2 …. At most [`MOST_EXACT`]
/// ranks: 25 of 50 is 1.3 10^14.
fn rank_sums(ranks: &[u64], size: usize) -> Vec<u64> {
    let most: u64 = ranks.iter().sum();
    let mut by_size = vec![vec![0_u64; most as usize + 1]; size + 1];
    if let Some(none) = by_size.first_mut().and_then(|sums| sums.first_mut()) {
        *none = 1;
    }
    for rank in ranks {
        let without = by_size.clone();
        for (with, smaller) in by_size.iter_mut().skip(1).zip(without) {
            for (count, more) in with.iter_mut().skip(*rank as usize).zip(smaller) {
                *count += more;
            }
        }
    }
    by_size.pop().unwrap_or_default()
}

#[cfg(test)]
#[path = "unpaired_tests.rs"]
mod tests;
