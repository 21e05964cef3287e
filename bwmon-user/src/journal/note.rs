//! What happened between two ticks: lines of a journal that are no entries.

use super::PolicyRecord;
use crate::command::{Hold, PauseAt, Terms};
use crate::policy::canary::{CanaryEnd, Rule};
use serde::{Deserialize, Serialize};

/// A line between two entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// From the next entry on this policy decides.
    Policy {
        /// The policy, whole.
        policy: PolicyRecord,
        /// Rails and product that hold from now on, where they come with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<Terms>,
    },
    /// From the next entry on this policy runs in shadow beside the one that decides.
    Canary {
        /// The policy, whole.
        policy: PolicyRecord,
        /// For so long.
        ms: u64,
        /// What it is judged by.
        rule: Rule,
        /// Rails and product that hold once it takes over, where they come with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<Terms>,
    },
    /// The shadow's time is over.
    CanaryEnd(CanaryEnd),
    /// The policy has faulted so often that the native rule decides from now on, until the policy
    /// is replaced.
    Demoted {
        /// The domain.
        domain: String,
        /// Its last fault, in one line.
        fault: String,
    },
    /// From the next entry on the policy does not have its way.
    Pause(PauseAt),
    /// From the next entry on it has.
    Resume,
    /// From the next entry on this bound holds.
    Hold(Hold),
    /// From the next entry on the hold with this number does not.
    Release(u64),
    /// Here lines are missing, which could not be written.
    Lost(Lost),
}

/// Lines that are missing from a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Entries among them.
    pub entries: u64,
    /// Notes among them.
    pub notes: u64,
    /// The tick of the first entry; `None` where only notes are missing.
    pub from_tick: Option<u64>,
    /// The tick of the last one.
    pub to_tick: Option<u64>,
}

impl Note {
    /// The line, without its end.
    ///
    /// # Errors
    /// Never in practice: every part is plain data.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            note: &'a Note,
        }
        serde_json::to_string(&Line { note: self })
    }
}
