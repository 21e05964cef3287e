//! Choices that a configuration names.

use serde::{Deserialize, Serialize};

/// What may be done to the machine, as `--mode` spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModeName {
    /// Read the registers, vote, put everything back at the end.
    Govern,
    /// Decide and journal, never vote.
    DryRun,
    /// Write nothing; the kernel's own updates are the measurement.
    Shadow,
}

/// What becomes of the votes when the agent ends well. After an error or a panic everything is put
/// back, whatever stands here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnExit {
    /// Everything is put back as it was before the first write.
    #[default]
    Restore,
    /// The last votes stay; `bwmon restore` or the next run puts back what was before them.
    Keep,
    /// Every domain gets its highest level allowed, which stays.
    Max,
}

/// Who may read the agent's state, besides those who may change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Readers {
    /// Nobody else.
    #[default]
    Group,
    /// Everybody on this machine.
    All,
}
