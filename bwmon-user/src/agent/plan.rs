//! What a run needs, and what it came to.

use super::control::ControlPlan;
use super::reload::{Choice, Reload};
use super::trial::Trials;
use crate::board::Board;
use crate::config::OnExit;
use crate::live::{JournalPlan, Machine, Mode};
use crate::metrics::MetricsPlan;
use crate::units::Nanos;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything that a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machine.
    pub machine: Machine,
    /// The board.
    pub board: Arc<Board>,
    /// What is to run at the start.
    pub choice: Choice,
    /// What may be done.
    pub mode: Mode,
    /// Distance of the ticks.
    pub period: Nanos,
    /// Samples after which to stop.
    pub ticks: Option<u64>,
    /// The pace instead, where blocks can wake the loop; without it they are polled.
    pub heartbeat: Option<Heartbeat>,
    /// How what is to run is chosen anew.
    pub reload: Reload,
    /// How bundles on trial are followed; `None` for a run that leaves the store alone.
    pub trials: Option<Trials>,
    /// Where to write the journal.
    pub journal: Option<JournalPlan>,
    /// Where the lock and the restore file are.
    pub state_dir: PathBuf,
    /// Where clients are answered; `None` for nowhere.
    pub control: Option<ControlPlan>,
    /// Where metrics are served; `None` for nowhere.
    pub metrics: Option<MetricsPlan>,
    /// What becomes of the votes at the end.
    pub on_exit: OnExit,
}

/// The ticks between interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    /// The longest time without a tick.
    pub period: Nanos,
    /// Heartbeats after which to stop.
    pub ticks: Option<u64>,
}

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The board.
    pub board: String,
    /// The policy that decided last.
    pub policy: String,
    /// The product that chose it, if one did.
    pub product: Option<String>,
    /// `govern`, `dry-run` or `shadow`.
    pub mode: &'static str,
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
    /// Domains for which the policy is demoted.
    pub demoted: u64,
    /// The policy's first fault.
    pub first_fault: Option<String>,
    /// Level changes taken.
    pub transitions: u64,
    /// Votes refused.
    pub refused: u64,
    /// Probe events lost; `None` without probes.
    pub lost_events: Option<u64>,
    /// Journal entries that could not be written.
    pub journal_errors: u64,
    /// What was put back, one line each.
    pub restored: Vec<String>,
    /// What stays as the agent left it, because `on_exit` says so, one line each.
    pub kept: Vec<String>,
    /// What could not be put back: `bwmon restore` tries again.
    pub not_restored: Vec<String>,
}
