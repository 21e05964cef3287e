//! How a policy fails.

use crate::board::Level;
use crate::diag::Diagnostic;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What went wrong, for counting and for the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The script raised an error (arithmetic, unknown name, its own `throw`).
    Error,
    /// It used up its operations, depth or sizes.
    Budget,
    /// Its answer was no proposal.
    WrongType,
    /// It asked for a level that the table does not have.
    UnknownLevel,
    /// It changed the keys or types of its state.
    State,
    /// A host function panicked.
    Panic,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Budget => "budget",
            Self::WrongType => "wrong type",
            Self::UnknownLevel => "unknown level",
            Self::State => "state",
            Self::Panic => "panic",
        })
    }
}

/// A fault of a policy at one tick.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("policy fault ({kind}): {diagnostic}")]
pub struct PolicyFault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Where, and what to do.
    pub diagnostic: Box<Diagnostic>,
}

impl PolicyFault {
    /// A fault of `kind`.
    pub fn new(kind: FaultKind, diagnostic: Diagnostic) -> Self {
        Self { kind, diagnostic: Box::new(diagnostic) }
    }

    /// The fault of `policy`, which asked for `level` of a table that has `levels` of them.
    pub fn unknown_level(policy: &str, level: Level, levels: usize) -> Self {
        let message = format!("opp({level}) is not in the table, which has {levels} levels");
        let diagnostic = Diagnostic::new(policy, message);
        Self::new(
            FaultKind::UnknownLevel,
            diagnostic.help(format!("levels go from 0 to {}", levels.saturating_sub(1))),
        )
    }

    /// One line, for the journal: message and place.
    pub fn line(&self) -> String {
        match &self.diagnostic.place {
            Some(place) => format!(
                "{} ({}:{}:{})",
                self.diagnostic.message, self.diagnostic.file, place.line, place.column
            ),
            None => format!("{} ({})", self.diagnostic.message, self.diagnostic.file),
        }
    }
}
