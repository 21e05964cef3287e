//! Metrics for a monitoring system: one dictionary makes the OpenMetrics text and its description
//! (docs/metrics.md). Pure. What is not known has no sample, never 0.

mod dictionary;
mod plan;
mod text;

pub use dictionary::{DICTIONARY, Kind, Metric, Sample};
pub use plan::MetricsPlan;
pub use text::{description, exposition};

/// The content type of [`exposition`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
