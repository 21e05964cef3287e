//! One expectation: what must hold, on which domains, in which span.

use super::text::Bytes;
use super::value::LevelName;
use crate::policy::PolicySpec;
use crate::units::Kbps;

/// What must hold.
#[derive(Clone, Debug)]
pub(super) enum What {
    LevelMin(LevelName),
    LevelMax(LevelName),
    LevelAtEnd(LevelName),
    VoteMin(Kbps),
    VoteMax(Kbps),
    MeanVoteMax(Kbps),
    /// After the demand rises, this level (or the one that carries it) is in force in time.
    Rise {
        ms: u64,
        to: Option<LevelName>,
    },
    /// After the demand falls, the level has come down to this one (or the one that carries it).
    Fall {
        ms: u64,
        to: Option<LevelName>,
    },
    /// After the demand falls, the level does not come down for so long.
    Stay {
        ms: u64,
    },
    Transitions {
        max: u64,
    },
    /// The level carries every reading, but for so long at a time.
    NeverBelow {
        grace_ms: u64,
    },
    /// Without demand the lowest level comes in time and stays.
    Idle {
        ms: u64,
    },
    /// Simulator only: time in which the domain's clock holds traffic back.
    HeldBack {
        max_ms: u64,
    },
    Why(String),
    SameAs {
        name: String,
        policy: PolicySpec,
    },
}

impl What {
    /// Whether it is judged by what the domain's monitor reads.
    pub(super) fn needs_demand(&self) -> bool {
        matches!(
            self,
            Self::Rise { .. }
                | Self::Fall { .. }
                | Self::Stay { .. }
                | Self::NeverBelow { .. }
                | Self::Idle { .. }
        )
    }

    /// The level that it names.
    pub(super) fn level(&self) -> Option<LevelName> {
        match self {
            Self::LevelMin(level) | Self::LevelMax(level) | Self::LevelAtEnd(level) => Some(*level),
            Self::Rise { to, .. } | Self::Fall { to, .. } => *to,
            _ => None,
        }
    }

    /// What has to occur in the input for it to say anything.
    pub(super) fn event(&self) -> String {
        match self {
            Self::Rise { ms, .. } => format!("a demand that rises and lasts for {ms} ms"),
            Self::Fall { ms, .. } => format!("a demand that falls and stays down for {ms} ms"),
            Self::Stay { .. } => "a demand that falls, from a level above the lowest".to_owned(),
            Self::NeverBelow { .. } => "a reading".to_owned(),
            Self::Idle { ms } => format!("a demand within the lowest level for {ms} ms"),
            _ => "a tick".to_owned(),
        }
    }
}

/// One expectation, ready to be judged.
#[derive(Clone, Debug)]
pub(super) struct Check {
    /// Indices of the domains; it must hold on each. Never empty.
    pub(super) domains: Vec<usize>,
    /// From after this moment…
    pub(super) from_ms: u64,
    /// … until this one, included.
    pub(super) to_ms: u64,
    pub(super) what: What,
    /// As the operator wrote it: `rise_ms = 4`.
    pub(super) key: String,
    pub(super) at: Bytes,
}
