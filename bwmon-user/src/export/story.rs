//! What an entry says, as it was written: nothing is decided again.

use crate::board::Board;
use crate::sample::Sample;
use serde::Deserialize;
use serde_json::Value;

/// One tick of a journal (docs/journal-format.md).
#[derive(Clone, Debug, Deserialize)]
pub struct Story {
    /// The sample.
    pub sample: Sample,
    /// Its domains.
    pub domains: Vec<DomainStory>,
}

/// One domain in a tick.
#[derive(Clone, Debug, Deserialize)]
pub struct DomainStory {
    /// Its name.
    pub name: String,
    /// The busiest window, in kB/s; `None` where nothing was read.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Option<u64>,
    /// Whose proposal it was: `policy`, `fallback` or `demoted`.
    pub by: String,
    /// What the policy did wrong.
    #[serde(default)]
    pub fault: Option<String>,
    /// Why, in the policy's words.
    #[serde(default)]
    pub why: String,
    /// What the guard rails made of it.
    pub decision: Decided,
    /// The machine's answer.
    #[serde(default)]
    applied: Option<Value>,
}

/// A decision as it was written.
#[derive(Clone, Debug, Deserialize)]
pub struct Decided {
    /// The level; `None` where nothing is voted.
    pub level: Option<usize>,
    /// The rule that made it so.
    pub reason: String,
}

impl Story {
    /// From a journal's line.
    ///
    /// # Errors
    /// When it is no entry.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// What other consumers vote for the domain number `index`, in kB/s, as far as probes told.
    pub fn others_kbps(&self, index: usize) -> Option<u64> {
        self.sample.probes.others_kbps.get(index).copied().flatten().map(|kbps| kbps.0)
    }
}

impl DomainStory {
    /// The name of the machine's answer: `placed`, `clamped`, `foreign`, …
    pub fn answer(&self) -> Option<&str> {
        match self.applied.as_ref()? {
            Value::String(word) => Some(word),
            Value::Object(map) => map.keys().next().map(String::as_str),
            _ => None,
        }
    }

    /// What the decided level of the domain number `index` of `board` carries, in kB/s.
    pub fn vote_kbps(&self, board: &Board, index: usize) -> Option<u64> {
        let table = &board.domains.get(index)?.table;
        table.kbps().get(self.decision.level?).map(|kbps| kbps.0)
    }
}
