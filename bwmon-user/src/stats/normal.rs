//! The standard normal distribution, for samples beyond the exact tables.

use statrs::distribution::{ContinuousCDF, Normal};

/// The two-sided p of a standard normal deviate of size `z`.
pub(super) fn two_sided_p(z: f64) -> f64 {
    (2.0 * Normal::standard().sf(z.max(0.0))).min(1.0)
}

/// The deviate with the two-sided p `level`: 1.96 for 0.05, 0 for 1.
pub(super) fn two_sided_z(level: f64) -> f64 {
    // The lower tail, since 1 - level / 2 loses the small levels; within what statrs takes.
    let tail = level.clamp(f64::MIN_POSITIVE, 1.0) / 2.0;
    -Normal::standard().inverse_cdf(tail)
}
