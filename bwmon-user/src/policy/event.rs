//! What a policy is told besides the observations.

use serde_json::Value;

/// Something that happened before a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyEvent {
    /// The policy has just taken the place of another one.
    Reload {
        /// The other one's state for this domain, if it had any and could tell.
        old_state: Option<Value>,
        /// The other one's digest; empty for one that is compiled in.
        old_digest: String,
    },
    /// The machine slept.
    Resumed {
        /// For so many milliseconds.
        slept_ms: u64,
    },
    /// CPUs went on or off line.
    CpusChanged {
        /// CPUs on line now.
        cpus: u32,
    },
    /// The limits that the guard rails enforce have changed.
    LimitsChanged,
}

impl PolicyEvent {
    /// Its name, `ev.kind` in scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Reload { .. } => "reload",
            Self::Resumed { .. } => "resumed",
            Self::CpusChanged { .. } => "cpus_changed",
            Self::LimitsChanged => "limits_changed",
        }
    }
}
