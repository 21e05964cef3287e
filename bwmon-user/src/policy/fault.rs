//! How a policy fails.

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
