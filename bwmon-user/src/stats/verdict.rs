//! From pairs to a verdict on the candidate.

use super::input::{StatsError, open_unit};
use super::normal::two_sided_z;
use super::paired::Paired;
use serde::Serialize;

/// More pairs than anybody will run: no number is named beyond.
const OUT_OF_REACH: f64 = 1e9;

/// What is asked of the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Question {
    /// The smallest effect that matters, as the size of a log ratio: `1.01_f64.ln()` for 1 %. With 0
    /// nothing is ever equivalent.
    pub smallest_effect: f64,
    /// Whether less is better (time, energy) or more (bandwidth, frames).
    pub lower_is_better: bool,
    /// The risk of calling a difference that is none, 0.05 for example.
    pub alpha: f64,
}

/// What the pairs say about the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is better than the baseline.
    Better,
    /// It is worse than the baseline.
    Worse,
    /// It differs by less than what matters, if at all.
    Equivalent,
    /// The pairs do not tell.
    Undecided {
        /// Pairs in all that would probably tell, if they scatter as those so far do: an order of
        /// magnitude, not a promise. `None` if it cannot be known, or is beyond 10^9.
        pairs_needed: Option<u64>,
    },
}

/// Judges `paired`, an analysis of ln(candidate / baseline), by `question`. `adjusted_p` is its `p`
/// after the correction for all comparisons made together ([`holm`](super::holm())); the `p` itself
/// if there is only one.
///
/// - Equivalent: the interval lies wholly within ± the smallest effect. This comes first, also where
///   the difference is significant: it is known to be too small to matter. (Schuirmann's two
///   one-sided tests, 1987, at a stricter level: they would take the interval of confidence
///   1 - 2 alpha.)
/// - Better, Worse: the interval lies wholly on one side of 0, and `adjusted_p` <= alpha.
/// - Undecided otherwise, and whenever there are too few pairs for the interval's confidence.
///
/// # Pairs needed
///
/// An interval's half width h shrinks with the square root of the number of pairs n, so that it
/// reaches a target t at n (h / t)^2 pairs. Clear of 0 it is at t = |estimate|, within ± the smallest
/// effect s at t = s - |estimate|; the cheaper of the two is named. h is scaled by the ratio of normal
/// deviates from the achieved confidence to the one needed: the asked one or, for a difference, 1 -
/// alpha p / `adjusted_p` where that is more, since the correction asks more of one comparison. At
/// least n + 1, and at least the smallest m with 2^(1 - m) <= 1 - the confidence needed, since m pairs
/// have no smaller p: 6 for 0.05.
///
/// # Errors
///
/// An alpha that is not between 0 and 1, a smallest effect that is negative or not finite, an
/// `adjusted_p` that is no probability.
pub fn verdict(
    paired: &Paired,
    question: &Question,
    adjusted_p: f64,
) -> Result<Verdict, StatsError> {
    open_unit("alpha", question.alpha)?;
    let effect = question.smallest_effect;
    if !(effect.is_finite() && effect >= 0.0) {
        let range = "a finite log ratio, 0 or more";
        return Err(StatsError::OutOfRange { what: "the smallest effect", value: effect, range });
    }
    if !(0.0..=1.0).contains(&adjusted_p) {
        let range = "between 0 and 1";
        return Err(StatsError::OutOfRange { what: "the adjusted p", value: adjusted_p, range });
    }
    let (low, high) = (paired.low, paired.high);
    let sure = paired.achieved >= paired.confidence;
    let clear = adjusted_p <= question.alpha && (low > 0.0 || high < 0.0);
    Ok(if sure && low > -effect && high < effect {
        Verdict::Equivalent
    } else if sure && clear && (high < 0.0) == question.lower_is_better {
        Verdict::Better
    } else if sure && clear {
        Verdict::Worse
    } else {
        Verdict::Undecided { pairs_needed: pairs_needed(paired, question, adjusted_p) }
    })
}

fn pairs_needed(paired: &Paired, question: &Question, adjusted_p: f64) -> Option<u64> {
    let outside = 1.0 - paired.confidence;
    let corrected =
        if adjusted_p > paired.p { question.alpha * paired.p / adjusted_p } else { question.alpha };
    let size = paired.estimate.abs();
    let difference = pairs_for(paired, size, outside.min(corrected));
    let sameness = pairs_for(paired, question.smallest_effect - size, outside);
    let needed = match (difference, sameness) {
        (Some(a), Some(b)) => a.min(b),
        (a, b) => a.or(b)?,
    };
    let needed = needed.max(paired.n as f64 + 1.0);
    (needed <= OUT_OF_REACH).then_some(needed as u64)
}

/// Pairs until the half width of an interval that misses with the probability `outside` is `target`.
fn pairs_for(paired: &Paired, target: f64, outside: f64) -> Option<f64> {
    if target <= 0.0 {
        return None;
    }
    let half = paired.high / 2.0 - paired.low / 2.0;
    let now = two_sided_z(1.0 - paired.achieved);
    // One pair has no width to go by; only the fewest pairs are known then.
    let shrink = if now > 0.0 { half * two_sided_z(outside) / now / target } else { 0.0 };
    let fewest = 1.0 - outside.max(f64::MIN_POSITIVE).log2();
    Some((paired.n as f64 * shrink * shrink).max(fewest).ceil())
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
