//! Wilcoxon's signed-rank test: do differences lie around zero?

use super::cut::Cut;
use super::input::{StatsError, finite, open_unit};
use super::normal::two_sided_p;
use super::ranks::Ranks;
use serde::Serialize;

/// Up to so many values the null distribution is computed exactly; beyond, the normal one is within
/// a few thousandths of it.
pub const MOST_EXACT: usize = 50;

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SignedRank {
    /// The sum of the ranks of the positive differences (Wilcoxon's T+, R's V).
    pub v_plus: f64,
    /// Differences that are not zero.
    pub n: usize,
    /// Differences that are zero: they say nothing about the direction and are dropped.
    pub zeros: usize,
    /// Two-sided p: how often differences without a direction look at least as lopsided.
    pub p: f64,
    /// Whether `p` comes from the exact distribution.
    pub exact: bool,
}

/// Tests `differences` (any unit) against a symmetric distribution around zero: Wilcoxon 1945;
/// Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., section 3.1. Zeros are
/// dropped. Up to [`MOST_EXACT`] others, p is exact given the ties; beyond, normal with the tie
/// correction and a continuity correction of 1/2. Nothing but zeros gives p = 1.
///
/// # Errors
///
/// A difference that is not finite.
pub fn signed_rank(differences: &[f64]) -> Result<SignedRank, StatsError> {
    finite(differences)?;
    let others: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let n = others.len();
    let ranks = Ranks::of(&others.iter().map(|d| d.abs()).collect::<Vec<_>>());
    let positive = ranks.doubled.iter().zip(&others).filter(|(_, d)| **d > 0.0);
    let doubled: u64 = positive.map(|(rank, _)| *rank).sum();
    let v_plus = doubled as f64 / 2.0;
    let exact = n <= MOST_EXACT;
    let p = if exact {
        exact_p(&sums(&ranks.doubled), doubled)
    } else {
        let (mean, variance) = moments(n);
        let sd = (variance - ranks.tie_term() / 48.0).sqrt();
        two_sided_p(((v_plus - mean).abs() - 0.5) / sd)
    };
    Ok(SignedRank { v_plus, n, zeros: differences.len() - n, p, exact })
}

/// Which Walsh averages of `n` values bound an interval of at least `confidence` (0.95, say):
/// Hollander, Wolfe & Chicken, section 3.3. Exact up to [`MOST_EXACT`] values, normal beyond.
///
/// # Errors
///
/// `n` is 0, or `confidence` is not between 0 and 1.
pub fn critical(n: usize, confidence: f64) -> Result<Cut, StatsError> {
    open_unit("the confidence", confidence)?;
    if n == 0 {
        return Err(StatsError::TooFew { need: 1, got: 0 });
    }
    if n <= MOST_EXACT {
        let ranks: Vec<u64> = (1..=n as u64).collect();
        return Ok(Cut::exact(sums(&ranks), 1 << n, confidence));
    }
    let (mean, variance) = moments(n);
    Ok(Cut::normal(mean, variance.sqrt(), confidence))
}

/// Mean and variance of the statistic without ties.
fn moments(n: usize) -> (f64, f64) {
    let n = n as f64;
    (n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0)
}

/// How many of the 2^n ways to give signs to `ranks` have the positive sum 0, 1, 2 …. At most
/// [`MOST_EXACT`] ranks: 2^50 fits with room.
pub(super) fn sums(ranks: &[u64]) -> Vec<u64> {
    let most: u64 = ranks.iter().sum();
    let mut ways = vec![0_u64; most as usize + 1];
    if let Some(none) = ways.first_mut() {
        *none = 1;
    }
    for rank in ranks {
        let without = ways.clone();
        for (with, count) in ways.iter_mut().skip(*rank as usize).zip(without) {
            *with += count;
        }
    }
    ways
}

/// Twice the smaller tail at `seen` of a distribution given by counts.
pub(super) fn exact_p(ways: &[u64], seen: u64) -> f64 {
    let seen = seen as usize;
    let low: u64 = ways.iter().take(seen + 1).sum();
    let high: u64 = ways.iter().skip(seen).sum();
    let all: u64 = ways.iter().sum();
    (2.0 * low.min(high) as f64 / all as f64).min(1.0)
}

#[cfg(test)]
#[path = "signed_rank_tests.rs"]
mod tests;
