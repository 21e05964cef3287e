//! Pairs of runs: how large is the difference, and how sure is that?

use super::input::{StatsError, sample};
use super::signed_rank::{critical, signed_rank};
use serde::Serialize;

/// What pairs say. `estimate`, `low` and `high` have the unit of the input: log ratios, for
/// [`verdict`](super::verdict()).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// Pairs.
    pub n: usize,
    /// Pairs without any difference: the test drops them, estimate and interval do not.
    pub zeros: usize,
    /// The difference: the median of the Walsh averages (Hodges & Lehmann 1963).
    pub estimate: f64,
    /// Lower bound of the difference.
    pub low: f64,
    /// Upper bound of the difference.
    pub high: f64,
    /// The confidence that was asked for.
    pub confidence: f64,
    /// The confidence that `low..high` has. Less than `confidence` if there are too few pairs for it:
    /// five reach 0.9375.
    pub achieved: f64,
    /// Two-sided p of Wilcoxon's signed-rank test.
    pub p: f64,
    /// Whether `p` comes from the exact distribution.
    pub exact: bool,
}

/// Analyses differences within pairs: the log ratios ln(candidate / baseline), one per pair, or
/// differences of any other unit. `confidence` is that of the interval, 0.95 for example.
///
/// The Walsh averages are the means of all pairs of values, each value with itself included. Their
/// median estimates the centre, and their order statistics bound it whatever the distribution, if it
/// is symmetric: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., sections
/// 3.2 and 3.3. Ties and zeros make the interval wider than it had to be, not narrower.
///
/// # Errors
///
/// No value or more than [`MOST_VALUES`](super::MOST_VALUES), a value that is not finite, a confidence
/// that is not between 0 and 1.
pub fn paired(log_ratios: &[f64], confidence: f64) -> Result<Paired, StatsError> {
    sample(log_ratios, 1)?;
    let n = log_ratios.len();
    let cut = critical(n, confidence)?;
    let test = signed_rank(log_ratios)?;
    let (low, estimate, high) =
        cut.of(walsh(log_ratios)).ok_or(StatsError::TooFew { need: 1, got: n })?;
    Ok(Paired {
        n,
        zeros: test.zeros,
        estimate,
        low,
        high,
        confidence,
        achieved: cut.achieved,
        p: test.p,
        exact: test.exact,
    })
}

/// The n (n + 1) / 2 Walsh averages.
fn walsh(values: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, a) in values.iter().enumerate() {
        // Halves first: the sum of two large numbers is not finite.
        averages.extend(values.iter().skip(index).map(|b| a / 2.0 + b / 2.0));
    }
    averages
}

#[cfg(test)]
#[path = "paired_tests.rs"]
mod tests;
