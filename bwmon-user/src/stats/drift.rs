//! Does a series rise or fall in the course of an experiment?

use super::input::{StatsError, finite};
use super::normal::two_sided_p;
use super::ranks::Ranks;
use super::signed_rank::MOST_EXACT;
use serde::Serialize;
use std::cmp::Ordering;

/// How far a series follows its order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Kendall's tau-b: 1 if it only rises, -1 if it only falls, 0 also if all values are equal.
    pub tau: f64,
    /// Two-sided p: how often a series in random order follows its order at least as far.
    pub p: f64,
    /// Values.
    pub n: usize,
}

/// Kendall's rank correlation of `series` (any unit) with its order, that is the trend test of Mann
/// (1945): Kendall, *Rank Correlation Methods*, 4th ed., chapters 3 to 5. p is exact up to
/// [`MOST_EXACT`] values without ties; otherwise normal with the tie correction and a continuity
/// correction of 1. Takes time in the square of the length.
///
/// # Errors
///
/// Fewer than two values, or one that is not finite.
pub fn drift(series: &[f64]) -> Result<Drift, StatsError> {
    let n = series.len();
    if n < 2 {
        return Err(StatsError::TooFew { need: 2, got: n });
    }
    finite(series)?;
    let (mut rises, mut falls) = (0_u64, 0_u64);
    for (index, a) in series.iter().enumerate() {
        for b in series.iter().skip(index + 1) {
            match b.partial_cmp(a) {
                Some(Ordering::Greater) => rises += 1,
                Some(Ordering::Less) => falls += 1,
                _ => {}
            }
        }
    }
    let score = rises as f64 - falls as f64;
    let untied = rises + falls;
    if untied == 0 {
        return Ok(Drift { tau: 0.0, p: 1.0, n });
    }
    let pairs = (n * (n - 1) / 2) as f64;
    // The order itself has no ties.
    let tau = score / (pairs * untied as f64).sqrt();
    let groups = Ranks::of(series).groups;
    let p = if n <= MOST_EXACT && groups.len() == n {
        exact_p(n, falls as usize)
    } else {
        let spread = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
        let tied: f64 = groups.iter().map(|t| spread(*t as f64)).sum();
        let sd = ((spread(n as f64) - tied) / 18.0).sqrt();
        two_sided_p((score.abs() - 1.0) / sd)
    };
    Ok(Drift { tau, p, n })
}

/// Twice the smaller tail of the number of falling pairs in a random order of `n` values.
fn exact_p(n: usize, falls: usize) -> f64 {
    let chances = inversions(n);
    let low: f64 = chances.iter().take(falls + 1).sum();
    let high: f64 = chances.iter().skip(falls).sum();
    (2.0 * low.min(high)).min(1.0)
}

/// The probability of 0, 1, 2 … falling pairs: the i-th value stands with equal chance behind 0 to
/// i - 1 of the earlier ones that are larger. (As probabilities, since 50! fits in no integer here.)
fn inversions(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for i in 2..=n {
        let mut next = vec![0.0; chances.len() + i - 1];
        for larger in 0..i {
            for (to, from) in next.iter_mut().skip(larger).zip(&chances) {
                *to += from / i as f64;
            }
        }
        chances = next;
    }
    chances
}

#[cfg(test)]
#[path = "drift_tests.rs"]
mod tests;
