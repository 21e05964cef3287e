//! The thread that governs: it takes the machine over, runs the loop, and puts everything back.

use super::Say;
use super::commands::Commands;
use super::hub::Hub;
use super::narrator::Narrator;
use super::plan::{Plan, Summary};
use super::reload::{Loader, Nudge};
use super::steady::steady;
use super::tail::Tail;
use super::trial::Trial;
use crate::board::Board;
use crate::config::OnExit;
use crate::governor::Governor;
use crate::journal::{Header, PolicyRecord, SCHEMA};
use crate::live::{AgentJournal, LiveActuator, Mode, Takeover, takeover};
use crate::ports::{Actuator, Outcome};
use crate::run::{Doors, Pace, RunStats, run_under};
use crate::status::{Identity, Live};
use crate::units::Nanos;
use crate::vote::Vote;
use anyhow::{Context, anyhow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use tokio::sync::oneshot;

/// Policies may call eight deep; a debug build takes 130 KiB for each.
const STACK: usize = 4 * 1024 * 1024;

/// What the thread needs.
pub(super) struct Governing {
    pub(super) plan: Plan,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) say: Say,
    /// Gets the hub as soon as there is one.
    pub(super) born: oneshot::Sender<Hub>,
}

/// The thread, and its lines to the outside.
pub(super) struct Threads {
    pub(super) thread: JoinHandle<anyhow::Result<Summary>>,
    pub(super) nudges: Sender<Nudge>,
    /// Hears of the loop's end.
    pub(super) ended: oneshot::Receiver<()>,
}

impl Governing {
    /// Starts the thread.
    ///
    /// # Errors
    /// When there can be none.
    pub(super) fn start(self) -> anyhow::Result<Threads> {
        let (done, ended) = oneshot::channel();
        let (nudges, queue) = channel();
        let sender = nudges.clone();
        let thread = Builder::new()
            .name("bwmon-govern".into())
            .stack_size(STACK)
            .spawn(move || {
                let summary = self.govern(sender, queue);
                let _ = done.send(());
                summary
            })
            .context("cannot start the governing thread")?;
        Ok(Threads { thread, nudges, ended })
    }

    fn govern(self, sender: Sender<Nudge>, nudges: Receiver<Nudge>) -> anyhow::Result<Summary> {
        let Self { plan, stop, say, born } = self;
        let choice = &plan.choice;
        // Policy and journal first: what is wrong with them must not cost the machine a takeover.
        let (policy, record) = choice.policy.clone().build(&plan.board)?;
        let file = plan.journal.as_ref().map(AgentJournal::create).transpose()?;
        let (root, interrupts) = (plan.machine.root(), plan.heartbeat.is_some());
        let taken =
            takeover(root, &plan.board, plan.mode, &choice.rails, &plan.state_dir, interrupts)?;
        let pace = pace(&plan, &taken, &stop);
        let header = header(&plan, &record, &taken, pace.period);
        let (hub, orders) = Hub::new(
            identity(&plan, &taken, pace.period),
            Live::new(&plan.board, &record, choice.product.clone()),
            sender,
        );
        let Takeover { mut source, mut actuator, mut clock, levels, paths, notes, .. } = taken;
        let mut governor = Governor::new(plan.board.clone(), policy, choice.rails.clone(), &levels);
        // From here on every way out passes the end of this function.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            notes.iter().for_each(|note| say(note));
            for path in &paths {
                say(&format!("domain {}: vote path {}", path.domain, path.path));
            }
            let mut narrator = Narrator::new(file, &say);
            narrator.begin(&header)?;
            hub.set_header(&serde_json::to_string(&header)?);
            let mut journal = Tail { hub: hub.clone(), inner: narrator };
            follow(&plan, &hub, nudges, &say)?;
            let _ = born.send(hub.clone());
            let mut commands = Commands::new(hub.clone(), orders);
            steady(plan.mode).iter().for_each(|note| say(note));
            let doors = Doors {
                source: &mut source,
                actuator: &mut actuator,
                clock: &mut clock,
                journal: &mut journal,
            };
            anyhow::Ok(run_under(&mut governor, doors, pace, &mut commands)?)
        }));
        let lost_events = source.lost_events();
        // The block is quiet and its page free before the kernel's driver gets it back.
        source.stop();
        let ended_well = matches!(outcome, Ok(Ok(_)));
        let ending = if ended_well { plan.on_exit } else { OnExit::Restore };
        let end = end(&plan, ending, &mut actuator, &governor);
        let stats = match outcome {
            Ok(Ok(stats)) => stats,
            Ok(Err(error)) => return Err(failed(error, &end.left)),
            Err(_) => return Err(failed(anyhow!("the governing loop panicked"), &end.left)),
        };
        Ok(summary(&plan, &hub, stats, lost_events, end))
    }
}

/// What became of the objects.
#[derive(Debug, Default)]
struct End {
    restored: Vec<String>,
    kept: Vec<String>,
    left: Vec<String>,
}

/// Puts back, or leaves behind, what was changed.
fn end(plan: &Plan, ending: OnExit, actuator: &mut LiveActuator, governor: &Governor) -> End {
    if plan.mode != Mode::Govern || ending == OnExit::Restore {
        return put_back(actuator);
    }
    if !actuator.can_keep() {
        let mut end = put_back(actuator);
        end.restored.push(
            "votes through the vote device end with the process, so nothing was kept".to_owned(),
        );
        return end;
    }
    if ending == OnExit::Max {
        to_the_top(plan, actuator, governor);
    }
    let line = |o: Outcome| format!("{}: {}", o.object, o.what);
    match actuator.keep() {
        Ok(kept) => End { kept: kept.into_iter().map(line).collect(), ..End::default() },
        // What is not on disk as kept would be put back by whoever comes next: then now.
        Err(error) => {
            let mut end = put_back(actuator);
            end.left.push(format!("the votes could not be kept: {error}"));
            end
        }
    }
}

fn put_back(actuator: &mut LiveActuator) -> End {
    let line = |o: Outcome| format!("{}: {}", o.object, o.what);
    let (done, left): (Vec<_>, Vec<_>) = actuator.release().into_iter().partition(|o| o.done);
    End {
        restored: done.into_iter().map(line).collect(),
        left: left.into_iter().map(line).collect(),
        ..End::default()
    }
}

/// Every domain at its highest level allowed.
fn to_the_top(plan: &Plan, actuator: &mut LiveActuator, governor: &Governor) {
    for (index, domain) in plan.board.domains.iter().enumerate() {
        let Some(rails) = governor.rails(index) else { continue };
        let level = rails.max_level.min(domain.table.top());
        let peak_kbps = domain.table.kbps_of(level);
        let change = governor.level(index) != Some(level);
        actuator.apply(&Vote { domain: index, level, peak_kbps, change });
    }
}

/// Starts the loader; it ends when it is told so.
fn follow(plan: &Plan, hub: &Hub, nudges: Receiver<Nudge>, say: &Say) -> anyhow::Result<()> {
    let trial = Trial::new(plan.trials.clone(), say.clone());
    let (choice, reload) = (plan.choice.clone(), plan.reload.clone());
    let loader = Loader::new(choice, reload, hub.clone(), say.clone(), trial);
    Builder::new()
        .name("bwmon-loader".into())
        .stack_size(STACK)
        .spawn(move || loader.follow(&nudges))
        .context("cannot start the loader")?;
    Ok(())
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
        product: plan.choice.product.clone(),
        rails: plan.choice.rails.clone(),
        levels: taken.levels.clone(),
        continues: None,
        board: Board::clone(&plan.board),
    }
}

fn identity(plan: &Plan, taken: &Takeover, period: Nanos) -> Identity {
    let path = |name: &str| {
        let path = taken.paths.iter().find(|path| path.domain == name);
        path.map(|path| path.path.clone())
    };
    Identity {
        board: plan.board.clone(),
        mode: plan.mode.name(),
        period_us: period.as_us(),
        pid: std::process::id(),
        paths: plan.board.domains.iter().map(|domain| path(&domain.name)).collect(),
        journal: plan.journal.as_ref().map(|journal| journal.file.clone()),
    }
}

fn summary(plan: &Plan, hub: &Hub, stats: RunStats, lost_events: Option<u64>, end: End) -> Summary {
    let status = hub.status();
    Summary {
        board: plan.board.id.clone(),
        policy: status.policy.name,
        product: status.product.map(|product| product.name),
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
        restored: end.restored,
        kept: end.kept,
        not_restored: end.left,
    }
}
