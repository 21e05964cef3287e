//! A few numbers for many.

use serde::Serialize;

/// Quartiles, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quartiles {
    /// A quarter of the values lies below.
    pub lower: f64,
    /// Half of the values lies below.
    pub median: f64,
    /// Three quarters of the values lie below.
    pub upper: f64,
}

/// The median, in the unit of `values`; of an even number the mean of the two in the middle. `None` if
/// there are none, or one is not a number.
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&sorted(values)?)
}

/// Quartiles, interpolated between the neighbouring values: type 7 of Hyndman & Fan, *Sample Quantiles
/// in Statistical Packages*, 1996, as in R and NumPy. `None` if there are no values, or one is not a
/// number.
pub fn quartiles(values: &[f64]) -> Option<Quartiles> {
    let sorted = sorted(values)?;
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = last as f64 * share;
        let below = *sorted.get(place.floor() as usize)?;
        let above = *sorted.get(place.ceil() as usize)?;
        let part = place.fract();
        Some(if part == 0.0 { below } else { below * (1.0 - part) + above * part })
    };
    Some(Quartiles { lower: at(0.25)?, median: middle(&sorted)?, upper: at(0.75)? })
}

/// The geometric mean, in the unit of `values`: the number whose ratios to them cancel out, for
/// speed-ups and other ratios. `None` if there are none, or one is not a positive finite number.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !(*value > 0.0 && value.is_finite())) {
        return None;
    }
    // Logarithms: a product of many values overflows.
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    Some((sum / values.len() as f64).exp())
}

fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

/// The median of sorted values.
pub(super) fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let above = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(above);
    }
    // Halves first: the sum of two large numbers is not finite.
    Some(sorted.get(half.checked_sub(1)?)? / 2.0 + above / 2.0)
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
