//! The running agent: the governing loop on a thread of its own, signals on a small runtime, and
//! putting everything back on every way out.

mod narrator;
mod reload;
mod stopping;

pub use stopping::stop_on_signals;

pub use reload::Reload;

use crate::board::Board;
use crate::decide::Rails;
use crate::governor::Governor;
use crate::journal::{Header, PolicyRecord, ProductRecord, SCHEMA};
use crate::live::{FileJournal, Machine, Mode, Takeover, takeover};
use crate::policy::PolicySpec;
use crate::ports::{Actuator, Outcome};
use crate::run::{Doors, Pace, RunStats, run_under};
use crate::units::Nanos;
use anyhow::{Context, anyhow};
use narrator::Narrator;
pub(crate) use narrator::news;
use reload::{Commands, Loader, Nudge};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use tokio::signal::unix::{SignalKind, signal};

/// Everything that a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machine.
    pub machine: Machine,
    /// The board.
    pub board: Arc<Board>,
    /// The policy.
    pub policy: PolicySpec,
    /// The product that chose it, for the journal.
    pub product: Option<ProductRecord>,
    /// The rails, one entry per domain of the board.
    pub rails: Vec<Rails>,
    /// What may be done.
    pub mode: Mode,
    /// Distance of the ticks.
    pub period: Nanos,
    /// Samples after which to stop.
    pub ticks: Option<u64>,
    /// The pace instead, where blocks can wake the loop; without it they are polled.
    pub heartbeat: Option<Heartbeat>,
    /// How the policy's file is followed.
    pub reload: Reload,
    /// Where to write the journal.
    pub journal: Option<String>,
    /// Where the lock and the restore file are.
    pub state_dir: PathBuf,
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
    /// The policy.
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
    /// What could not be put back: `bwmon restore` tries again.
    pub not_restored: Vec<String>,
}

/// What tells the operator, from any thread.
type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Signals that end a run in good order, and the one that reloads the policy.
const SIGNALS: [SignalKind; 4] =
    [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];

/// Runs `plan` until its end, SIGINT, SIGTERM or SIGQUIT; SIGHUP reloads the policy. `say` gets what
/// the operator should know.
///
/// # Errors
/// When the machine cannot be taken over or the loop fails. Everything is put back before that.
pub fn govern(plan: Plan, say: impl Fn(&str) + Send + Sync + 'static) -> anyhow::Result<Summary> {
    let say: Say = Arc::new(say);
    let stop = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(async move {
        let mut signals = SIGNALS
            .map(signal)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .context("cannot listen for signals")?;
        let (done, mut ended) = tokio::sync::oneshot::channel();
        let flag = stop.clone();
        let (nudge, nudges) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("bwmon-govern".into())
            // Policies may call eight deep; a debug build takes 130 KiB for each.
            .stack_size(4 * 1024 * 1024)
            .spawn(move || {
                let summary = govern_here(&plan, &flag, nudges, &say);
                let _ = done.send(());
                summary
            })
            .context("cannot start the governing thread")?;
        let [interrupt, terminate, quit, hangup] = signals.as_mut_slice() else {
            return Err(anyhow!("four signals were asked for"));
        };
        loop {
            tokio::select! {
                _ = &mut ended => break,
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = quit.recv() => break,
                // A loader that is gone has nobody to load for.
                _ = hangup.recv() => drop(nudge.send(Nudge::Hangup)),
            }
        }
        stop.store(true, Ordering::Relaxed);
        drop(nudge);
        thread.join().map_err(|_| anyhow!("the governing thread panicked; run `bwmon restore`"))?
    })
}

fn govern_here(
    plan: &Plan,
    stop: &AtomicBool,
    nudges: Receiver<Nudge>,
    say: &Say,
) -> anyhow::Result<Summary> {
    // Policy and journal first: what is wrong with them must not cost the machine a takeover.
    let (policy, record) = plan.policy.clone().build(&plan.board)?;
    let file = plan.journal.as_deref().map(FileJournal::create).transpose()?;
    let (root, interrupts) = (plan.machine.root(), plan.heartbeat.is_some());
    let taken = takeover(root, &plan.board, plan.mode, &plan.rails, &plan.state_dir, interrupts)?;
    let pace = pace(plan, &taken, stop);
    let header = header(plan, &record, &taken, pace.period);
    let Takeover { mut source, mut actuator, mut clock, levels, paths, notes, .. } = taken;
    let mut governor = Governor::new(plan.board.clone(), policy, plan.rails.clone(), &levels);
    // From here on every way out passes the end of this function.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        notes.iter().for_each(|note| say(note));
        for path in &paths {
            say(&format!("domain {}: vote path {}", path.domain, path.path));
        }
        let mut journal = Narrator::new(file.map(FileJournal::flush_each), say);
        journal.begin(&header)?;
        let doors = Doors {
            source: &mut source,
            actuator: &mut actuator,
            clock: &mut clock,
            journal: &mut journal,
        };
        let mut commands = follow(plan, &record, nudges, say)?;
        anyhow::Ok(run_under(&mut governor, doors, pace, &mut commands)?)
    }));
    let lost_events = source.lost_events();
    // The block is quiet and its page free before the kernel's driver gets it back.
    source.stop();
    let (done, left): (Vec<_>, Vec<_>) = actuator.release().into_iter().partition(|o| o.done);
    let line = |o: Outcome| format!("{}: {}", o.object, o.what);
    let restored: Vec<String> = done.into_iter().map(line).collect();
    let not_restored: Vec<String> = left.into_iter().map(line).collect();
    let stats = match outcome {
        Ok(Ok(stats)) => stats,
        Ok(Err(error)) => return Err(failed(error, &not_restored)),
        Err(_) => return Err(failed(anyhow!("the governing loop panicked"), &not_restored)),
    };
    Ok(summary(plan, &record, stats, lost_events, restored, not_restored))
}

/// Starts the loader; it ends when the other end of `nudges` is gone.
fn follow(
    plan: &Plan,
    record: &PolicyRecord,
    nudges: Receiver<Nudge>,
    say: &Say,
) -> anyhow::Result<Commands> {
    let (sender, commands) = std::sync::mpsc::sync_channel(1);
    let digest = record.digest.clone();
    let loader = Loader::new(plan.reload.clone(), plan.board.clone(), digest, sender, say.clone());
    std::thread::Builder::new()
        .name("bwmon-loader".into())
        .stack_size(4 * 1024 * 1024)
        .spawn(move || loader.follow(&nudges))
        .context("cannot start the loader")?;
    Ok(Commands { commands, say: say.clone() })
}

fn failed(error: anyhow::Error, not_restored: &[String]) -> anyhow::Error {
    if not_restored.is_empty() {
        return error;
    }
    error.context(format!("not put back: {}; run `bwmon restore`", not_restored.join("; ")))
}

/// The heartbeat's where blocks can wake the loop.
fn pace<'a>(plan: &Plan, taken: &Takeover, stop: &'a AtomicBool) -> Pace<'a> {
    match plan.heartbeat {
        Some(heart) if taken.clock.can_be_woken() => {
            Pace { period: heart.period, ticks: heart.ticks, stop }
        }
        _ => Pace { period: plan.period, ticks: plan.ticks, stop },
    }
}

fn header(plan: &Plan, record: &PolicyRecord, taken: &Takeover, period: Nanos) -> Header {
    Header {
        schema: SCHEMA,
        program: format!("bwmon {}", crate::version()),
        kernel: plan.machine.kernel(),
        mode: plan.mode.name().to_owned(),
        capabilities: taken.capabilities.clone(),
        period_us: period.as_us(),
        policy: record.clone(),
        product: plan.product.clone(),
        rails: plan.rails.clone(),
        levels: taken.levels.clone(),
        board: Board::clone(&plan.board),
    }
}

fn summary(
    plan: &Plan,
    record: &PolicyRecord,
    stats: RunStats,
    lost_events: Option<u64>,
    restored: Vec<String>,
    not_restored: Vec<String>,
) -> Summary {
    Summary {
        board: plan.board.id.clone(),
        policy: record.name.clone(),
        product: plan.product.as_ref().map(|product| product.name.clone()),
        mode: plan.mode.name(),
        ticks: stats.ticks,
        wakes: stats.wakes,
        missed: stats.missed,
        faults: stats.tally.faults,
        fallbacks: stats.tally.fallbacks,
        demoted: stats.tally.demoted,
        first_fault: stats.tally.first_fault,
        transitions: stats.transitions,
        refused: stats.refused,
        lost_events,
        journal_errors: stats.journal_errors,
        restored,
        not_restored,
    }
}
