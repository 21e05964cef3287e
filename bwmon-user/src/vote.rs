//! A decision as a concrete vote, compared with what is in force, and the machine's answer to it.

use crate::board::{Level, OppTable};
use crate::decide::Decision;
use crate::units::Kbps;
use serde::{Deserialize, Serialize};

/// What one domain is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Index of the domain in the board.
    pub domain: usize,
    /// The level.
    pub level: Level,
    /// Peak bandwidth of the level's first column. An interconnect vote is a floor: peaks of all
    /// consumers combine by maximum.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Kbps,
    /// The level differs from the one in force.
    pub change: bool,
}

/// What the machine answered to a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Applied {
    /// Nothing had to be written.
    InForce,
    /// Written and read back.
    Placed,
    /// Would have been written.
    DryRun,
    /// Written, but the machine made something else of it.
    Clamped {
        /// What it reads back as, in the path's own unit (Hz for devfreq).
        found: u64,
    },
    /// Accepted, but what the hardware really runs at is something else.
    NotHonoured {
        /// What it runs at, in the path's own unit (Hz for devfreq).
        found: u64,
    },
    /// The write failed.
    Refused {
        /// The object and the reason.
        why: String,
    },
    /// Somebody else changed what we had written: the domain becomes manual.
    Foreign {
        /// Which file, and what it holds now.
        what: String,
    },
    /// The device vanished.
    Gone {
        /// Which.
        what: String,
    },
}

impl Applied {
    /// Whether the vote's level counts as in force from now on.
    pub fn in_force(&self) -> bool {
        matches!(
            self,
            Self::InForce
                | Self::Placed
                | Self::DryRun
                | Self::Clamped { .. }
                | Self::NotHonoured { .. }
        )
    }
}

impl Vote {
    /// The vote for `decision`, or `None` where it is to leave the domain alone.
    pub fn from_decision(
        domain: usize,
        table: &OppTable,
        decision: Decision,
        in_force: Option<Level>,
    ) -> Option<Self> {
        let level = decision.level?.min(table.top());
        Some(Self {
            domain,
            level,
            peak_kbps: table.kbps_of(level),
            change: in_force != Some(level),
        })
    }
}
