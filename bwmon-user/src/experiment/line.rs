//! One run's result: a line of `results.jsonl`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of one run: one subject under one workload in one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The block, from 0.
    pub block: u32,
    /// The workload.
    pub workload: String,
    /// The place in the block's order, from 0.
    pub position: u32,
    /// The subject.
    pub subject: String,
    /// How often the block had been tried before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// How it ended.
    pub status: Status,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What was measured, by the measure's name; what could not be measured is not there.
    #[serde(default)]
    pub measures: BTreeMap<String, f64>,
    /// What it was measured under: clocks, temperatures, readings back. Nothing in the simulator.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, serde_json::Value>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Measured, and counts.
    Done,
    /// The workload failed, hung or printed no measure: counted as failed, not run again.
    Failed,
    /// The rig was disturbed: the whole block does not count and is run again.
    Void,
    /// The subject cannot run here.
    Skipped,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
