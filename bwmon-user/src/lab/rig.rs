//! The door to the place where runs happen: the model, this machine, or one that ssh reaches.

use crate::experiment::{Status, Subject, Workload};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What one run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Why, unless it is done.
    pub why: Option<String>,
    /// What was measured, by name; what could not be measured is not there.
    pub measures: BTreeMap<String, f64>,
    /// What it was measured under.
    pub conditions: BTreeMap<String, Value>,
}

impl Outcome {
    /// An end without measures.
    pub fn without(status: Status, why: impl Into<String>) -> Self {
        Self {
            status,
            why: Some(why.into()),
            measures: BTreeMap::new(),
            conditions: BTreeMap::new(),
        }
    }
}

/// One run to be done.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is put in place.
    pub subject: &'a Subject,
    /// What runs under it.
    pub workload: &'a Workload,
    /// The block.
    pub block: u32,
    /// When it runs, from 0 for the first run of the experiment to 1 for its last.
    pub progress: f64,
    /// The run's own folder, for outputs and journals; made when something is written.
    pub folder: &'a Path,
}

/// A place where runs happen. Whatever it changes on a machine is noted before it is changed, and
/// put back by [`Rig::end`], also after an interruption.
pub trait Rig {
    /// Why `subject` cannot run here, if it cannot: asked once, before the first run.
    fn cannot(&mut self, subject: &Subject) -> Option<String>;

    /// What is to be kept of the place beside the results: kernel, board, other daemons.
    fn environment(&mut self) -> BTreeMap<String, Value>;

    /// Puts the subject in place, verifies it, lets it settle, runs the workload, and measures. What
    /// disturbed it makes the run void; what the workload did wrong makes it failed.
    fn run(&mut self, job: &Job<'_>) -> Outcome;

    /// Puts back what was changed; what could not be put back is told.
    fn end(&mut self) -> Vec<String>;
}
