//! The answer: what an experiment's results say, as plain values for every kind of report.

use super::agenda::Better;
use serde::{Deserialize, Serialize};

/// Everything that a report shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The experiment's name.
    pub name: String,
    /// What it was to find out.
    pub what: String,
    /// Where it ran: `simulator`, `machine`, or `ssh NAME`.
    pub place: String,
    /// The baseline's name.
    pub baseline: String,
    /// The subjects, baseline first.
    pub subjects: Vec<String>,
    /// The workloads.
    pub workloads: Vec<String>,
    /// The measures, in the agenda's order.
    pub measures: Vec<MeasureInfo>,
    /// Blocks asked for per workload.
    pub blocks: u32,
    /// Confidence of the intervals, in percent.
    pub confidence_pct: f64,
    /// One for each workload, measure and subject that has values, in that order.
    pub cells: Vec<JudgedCell>,
    /// Runs by how they ended.
    pub runs: Runs,
    /// Subjects that could not run, and why.
    pub skipped: Vec<Said>,
    /// Runs that failed, and why: at most a few per subject and workload.
    pub failed: Vec<Said>,
    /// Blocks that were void, and why.
    pub void: Vec<Said>,
    /// What a reader should know: drift, outliers, blocks that are missing.
    pub notes: Vec<String>,
}

/// A measure, for reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureInfo {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Which way is good.
    pub better: Better,
    /// Whether the answer rests on it.
    pub primary: bool,
    /// Compared by ratio (effects are percent), not by difference (effects are in its unit).
    pub by_ratio: bool,
    /// The smallest effect of interest, in percent or in its unit.
    pub smallest_effect: f64,
}

/// One subject under one workload by one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedCell {
    /// The workload.
    pub workload: String,
    /// The measure.
    pub measure: String,
    /// The subject.
    pub subject: String,
    /// Values that count, by block.
    pub values: Vec<(u32, f64)>,
    /// First quartile, median, third quartile.
    pub quartiles: [f64; 3],
    /// Against the baseline; `None` for the baseline itself and where no pair is complete.
    pub effect: Option<Effect>,
}

/// A difference from the baseline, with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Pairs that it rests on.
    pub pairs: u64,
    /// Hodges-Lehmann estimate: in percent of the baseline, or in the measure's unit.
    pub estimate: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Wilcoxon signed-rank, two-sided.
    pub p: f64,
    /// Corrected within the primary measures (Holm); the same as `p` for the others.
    pub p_adjusted: f64,
    /// What follows.
    pub verdict: Verdict,
    /// For `undecided`: about how many pairs would be needed, if that can be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs_needed: Option<u64>,
}

/// What follows from an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// The interval lies within the smallest effect of interest.
    Equivalent,
    /// Too few pairs to say.
    Undecided,
}

/// Runs by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// Measured.
    pub done: u64,
    /// The workload failed.
    pub failed: u64,
    /// Disturbed.
    pub void: u64,
    /// Could not run.
    pub skipped: u64,
}

/// Something said about a subject under a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The subject.
    pub subject: String,
    /// The workload; empty for all.
    pub workload: String,
    /// What.
    pub what: String,
}
