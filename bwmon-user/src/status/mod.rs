//! What the agent says about itself: the answer to `bwmon status`, the picture of `bwmon top`, and
//! the source of the metrics.

mod history;
mod live;

pub use history::{BUCKET_MS, BUCKETS, Bucket, History};
pub use live::{Identity, Live};

use crate::command::{Hold, PauseAt};
use crate::journal::ProductRecord;
use crate::units::Kbps;
use serde::{Deserialize, Serialize};

/// Everything, as of the last tick. What is not known is absent (`null`), never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Program, version and commit.
    pub program: String,
    /// Its process id.
    pub pid: u32,
    /// The board.
    pub board: String,
    /// `govern`, `dry-run` or `shadow`.
    pub mode: String,
    /// Time since the first tick.
    pub uptime_ms: u64,
    /// Distance of the ticks.
    pub period_us: u64,
    /// Where the levels stand while the policy does not have its way; `None` while it has.
    pub pause: Option<PauseAt>,
    /// The policy that decides.
    pub policy: PolicyNow,
    /// The product that chose it, with its bundle.
    pub product: Option<ProductRecord>,
    /// The policy that runs in shadow.
    pub canary: Option<CanaryNow>,
    /// Bounds that somebody holds.
    pub holds: Vec<Hold>,
    /// What was counted since the start.
    pub counts: Counts,
    /// The policy's first fault, in one line.
    pub first_fault: Option<String>,
    /// The journal's file.
    pub journal: Option<String>,
    /// What came of the last reload.
    pub last_reload: Option<ReloadNow>,
    /// Per domain, in the board's order.
    pub domains: Vec<DomainStatus>,
}

/// A policy in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyNow {
    /// Its file or name.
    pub name: String,
    /// The first 16 digits of the SHA-256 of its text; empty for one that is compiled in.
    pub digest: String,
}

/// A policy in shadow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryNow {
    /// Its file or name.
    pub name: String,
    /// As in [`PolicyNow`].
    pub digest: String,
    /// How long it runs.
    pub ms: u64,
    /// What it is judged by.
    pub rule: String,
}

/// What came of a reload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReloadNow {
    /// Whether the new policy was taken.
    pub ok: bool,
    /// What came of it, in words.
    pub what: String,
}

/// Counters since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Samples walked.
    pub ticks: u64,
    /// Those of them that an interrupt brought.
    pub wakes: u64,
    /// Grid points missed.
    pub missed: u64,
    /// Policy faults.
    pub faults: u64,
    /// Decisions that were the native rule's.
    pub fallbacks: u64,
    /// Domains for which the policy is demoted now.
    pub demoted: u64,
    /// Level changes taken.
    pub transitions: u64,
    /// Votes refused.
    pub refused: u64,
    /// Journal entries that could not be written.
    pub journal_errors: u64,
    /// Policies or products taken while running.
    pub reloads: u64,
    /// Those refused.
    pub reloads_refused: u64,
    /// Probe events lost; `None` without probes.
    pub lost_events: Option<u64>,
    /// Page faults of the governing thread since it has settled; `None` before that.
    pub page_faults: Option<u64>,
}

/// One domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DomainStatus {
    /// Its name.
    pub name: String,
    /// How it is voted, in words.
    pub path: Option<String>,
    /// The monitor that measures it.
    pub monitor: Option<String>,
    /// The busiest window of the last tick.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Option<Kbps>,
    /// The mean, where it is known.
    #[serde(rename = "mean_kBps")]
    pub mean_kbps: Option<Kbps>,
    /// Why there is no reading, as in journals.
    pub missing: Option<String>,
    /// The highest peak vote of other consumers.
    #[serde(rename = "others_kBps")]
    pub others_kbps: Option<Kbps>,
    /// The level of our vote.
    pub level: Option<usize>,
    /// Its bandwidth.
    #[serde(rename = "level_kBps")]
    pub level_kbps: Option<Kbps>,
    /// The bandwidth of every level, lowest first.
    #[serde(rename = "table_kBps")]
    pub table_kbps: Vec<Kbps>,
    /// The lowest and the highest level allowed now, under the holds.
    pub min_level: usize,
    /// See `min_level`.
    pub max_level: usize,
    /// What was asked for, in words: `demand 1804000 kBps`, `level 3`, `max`, `min`, `hold`.
    pub ask: String,
    /// The reason that was given; empty for none.
    pub why: String,
    /// Whose wish that was: `policy`, `fallback` or `demoted`, as in journals.
    pub by: String,
    /// What made the decision, as in journals.
    pub reason: String,
    /// Who has the say: `ours`, `manual` or `gone`.
    pub owner: String,
    /// The machine's last answer other than "in force", in words.
    pub answer: Option<String>,
    /// Level changes taken.
    pub transitions: u64,
    /// Votes refused.
    pub refused: u64,
    /// Policy faults.
    pub faults: u64,
    /// The last half minute, oldest first.
    pub history: Vec<Bucket>,
}
