//! What is known about installed bundles: which have proven themselves, which are on trial, which
//! have failed.

use super::terms::Record;
use crate::journal::BundleRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// The version of the format.
pub(super) const SCHEMA: u32 = 1;

/// An installed bundle: the folder `NAME/VERSION-DIGEST` of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Id {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The first 16 digits of the SHA-256 of its file.
    pub digest: String,
}

impl Id {
    /// Name and version.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Its folder, relative to the store.
    pub(super) fn folder(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl From<BundleRecord> for Id {
    fn from(record: BundleRecord) -> Self {
        let BundleRecord { name, version, digest } = record;
        Self { name, version, digest }
    }
}

impl From<Id> for BundleRecord {
    fn from(id: Id) -> Self {
        let Id { name, version, digest } = id;
        Self { name, version, digest }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}-{}", self.name, self.version, self.digest)
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(name, rest)| {
            let (version, digest) = rest.rsplit_once('-')?;
            Some((name.to_owned(), version.to_owned(), digest.to_owned()))
        });
        let (name, version, digest) = parts.ok_or_else(|| format!("\"{text}\" is no bundle"))?;
        crate::bundle::name(&name)?;
        version.parse::<crate::bundle::Version>()?;
        if digest.len() != 16 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("\"{text}\" has no digest"));
        }
        Ok(Self { name, version, digest })
    }
}

/// How an installed bundle stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// It has not shown yet that it works.
    Trial {
        /// The boots in which it was started, first to last.
        boots: Vec<String>,
    },
    /// It works.
    Proven,
    /// It does not, and is not tried again.
    Failed {
        /// Why, in a line.
        why: String,
    },
    /// Somebody went back to an earlier one.
    RolledBack,
}

impl Standing {
    /// Whether it may govern.
    pub fn may_run(&self) -> bool {
        matches!(self, Self::Trial { .. } | Self::Proven)
    }

    /// In a word or two, for tables.
    pub fn word(&self) -> String {
        match self {
            Self::Trial { boots } if boots.is_empty() => "not started yet".into(),
            Self::Trial { boots } => format!("on trial, {} boot(s)", boots.len()),
            Self::Proven => "proven".into(),
            Self::Failed { why } => format!("failed: {why}"),
            Self::RolledBack => "rolled back".into(),
        }
    }
}

/// `state.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) schema: u32,
    /// Every bundle that was installed and is not forgotten.
    pub(super) bundles: BTreeMap<Id, Record>,
    /// Those that have proven themselves, the last one last.
    pub(super) good: Vec<Id>,
    /// The one that counted before the last was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<Id>,
}

impl State {
    pub(super) fn empty() -> Self {
        Self { schema: SCHEMA, ..Self::default() }
    }

    /// The one to go back to from `from`: the last that has proven itself, else the one before it,
    /// which is on trial still.
    pub(super) fn last_good(&self, from: Option<&Id>) -> Option<&Id> {
        let standing = |id: &Id| self.bundles.get(id).map(|record| &record.standing);
        let proven = |id: &&Id| standing(id) == Some(&Standing::Proven);
        let others = self.good.iter().rev().filter(|id| Some(*id) != from);
        let previous = self.previous.iter().filter(|id| Some(*id) != from);
        let may_run = |id: &&Id| standing(id).is_some_and(Standing::may_run);
        others.filter(proven).chain(previous.filter(may_run)).next()
    }

    /// Forgets that `id` can be gone back to.
    pub(super) fn not_good(&mut self, id: &Id) {
        self.good.retain(|good| good != id);
        self.previous = self.previous.take().filter(|previous| previous != id);
    }
}
