//! Why a run has no measures.

use super::knobs::KnobError;
use crate::experiment::Status;
use std::io;

/// Why a run has no measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Something disturbed it: it is run again.
    Void(String),
    /// The workload did not do what it should.
    Failed(String),
}

impl Trouble {
    /// The status and the reason, for the result line.
    pub(super) fn parts(self) -> (Status, String) {
        match self {
            Self::Void(why) => (Status::Void, why),
            Self::Failed(why) => (Status::Failed, why),
        }
    }
}

/// The machine did not answer, or something of ours could not be written.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Void(error.to_string())
    }
}

impl From<KnobError> for Trouble {
    fn from(error: KnobError) -> Self {
        Self::Void(error.to_string())
    }
}
