//! The first line: what is needed to walk the rest again, years later.

use crate::board::{Board, Level};
use crate::decide::Rails;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format.
pub const SCHEMA: u32 = 1;

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Program, version and commit.
    pub program: String,
    /// Kernel release; `None` in the simulator.
    pub kernel: Option<String>,
    /// `govern`, `dry-run`, `shadow` or `sim`.
    pub mode: String,
    /// Names of the capabilities that were present.
    pub capabilities: Vec<String>,
    /// Distance of the ticks.
    pub period_us: u64,
    /// The policy, whole.
    pub policy: PolicyRecord,
    /// The rails, one entry per domain.
    pub rails: Vec<Rails>,
    /// The levels in force before the first tick, one per domain.
    pub levels: Vec<Option<Level>>,
    /// The board, whole.
    pub board: Board,
}

/// A policy as it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Its file, or `native`.
    pub name: String,
    /// The first 16 digits of the SHA-256 of its text; empty for `native`.
    pub digest: String,
    /// Its text; empty for `native`.
    pub source: String,
    /// Its tunables, with the values in use.
    pub params: BTreeMap<String, serde_json::Value>,
}
