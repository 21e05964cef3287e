//! The first line: what is needed to walk the rest again, years later.

use super::Continues;
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
    /// The product that chose policy and limits; absent where none did, and in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<ProductRecord>,
    /// The rails, one entry per domain.
    pub rails: Vec<Rails>,
    /// The levels in force before the first tick, one per domain.
    pub levels: Vec<Option<Level>>,
    /// That this goes on from an earlier file of the same run; absent in the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<Continues>,
    /// The board, whole.
    pub board: Board,
}

/// A policy as it was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyRecord {
    /// Its file, or `native`; with `policies`, all of them with their domains.
    pub name: String,
    /// The first 16 digits of the SHA-256 of its text; empty for `native`.
    pub digest: String,
    /// Its text; empty for `native`.
    pub source: String,
    /// Its tunables, with the values in use.
    pub params: BTreeMap<String, serde_json::Value>,
    /// Where domains have policies of their own: those, and nothing in the keys above but the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<PartRecord>,
}

/// The policy of some domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// Names of the domains.
    pub domains: Vec<String>,
    /// Their policy.
    pub policy: PolicyRecord,
}

/// The product that chose policy and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductRecord {
    /// Its name.
    pub name: String,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// Its file, and those of its bases, nearest first.
    pub files: Vec<String>,
    /// Why it was chosen.
    pub why: String,
    /// The bundle that it or one of its bases came in; absent where there is none, and in older
    /// journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<BundleRecord>,
}

/// An installed bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleRecord {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The first 16 digits of the SHA-256 of its file.
    pub digest: String,
}

impl BundleRecord {
    /// Name and version.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}
