//! Values that do not belong to the rest.

use super::input::{StatsError, finite};
use super::summary::median;

/// A modified z-score beyond this marks an outlier (Iglewicz & Hoaglin 1993).
pub const THRESHOLD: f64 = 3.5;

/// A standard deviation in median absolute deviations of normal data is 1 / 0.6745.
const MAD_TO_Z: f64 = 0.6745;

/// A standard deviation in mean absolute deviations of normal data: the root of pi / 2.
const MEAN_AD_TO_SD: f64 = 1.253_314;

/// The indices of `values` (any unit), ascending, whose modified z-score 0.6745 (x - median) / MAD is
/// beyond ± [`THRESHOLD`]; MAD is the median absolute deviation from the median: Iglewicz & Hoaglin,
/// *How to Detect and Handle Outliers*, 1993. Where more than half of the values are equal MAD is 0,
/// and the score is (x - median) / (1.253314 mean absolute deviation). None if all are equal, and none
/// of no values.
///
/// An outlier is something to look at; taking it out because it is one makes every p too small.
///
/// # Errors
///
/// A value that is not finite.
pub fn outliers(values: &[f64]) -> Result<Vec<usize>, StatsError> {
    finite(values)?;
    let Some(centre) = median(values) else { return Ok(Vec::new()) };
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let mad = median(&deviations).unwrap_or(0.0);
    let sd = if mad > 0.0 {
        mad / MAD_TO_Z
    } else {
        MEAN_AD_TO_SD * deviations.iter().sum::<f64>() / deviations.len() as f64
    };
    // All equal: sd is 0 and so is every deviation.
    let far = deviations.iter().enumerate().filter(|(_, deviation)| **deviation > THRESHOLD * sd);
    Ok(far.map(|(index, _)| index).collect())
}

#[cfg(test)]
#[path = "outliers_tests.rs"]
mod tests;
