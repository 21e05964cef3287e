//! `bwmon run`.

use super::Answer;
use super::choose::{ChoiceArgs, Fitted};
use super::common;
use super::output::{json, line, say};
use crate::agent::{Heartbeat, Plan, Reload, Summary, govern};
use crate::live::{AgentLock, DEFAULT_STATE_DIR, Machine, Mode, RestoreFile, Root};
use crate::units::Nanos;
use anyhow::bail;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `bwmon run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon run --shadow --duration-ms 10000 --journal shadow.jsonl   without a write\n\
\x20 bwmon run --board my.toml --policy my.rhai                      govern until Ctrl-C\n\
\x20 bwmon run --limit ddr.min_kBps=1804000                          the machine's product, and a floor\n\
\x20 bwmon run --board my.toml --interrupts                          asleep until a block interrupts\n\
\n\
Without --policy, policies and limits come from the product that fits the machine most closely\n\
(`bwmon policy which`); without one, the policy is bwmon.")]
pub(super) struct Args {
    #[command(flatten)]
    choice: ChoiceArgs,
    /// The board: a board file or a built-in one [default: as the product says, else by the device
    /// tree]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// What may be done to the machine
    #[arg(long, value_enum, value_name = "MODE", default_value_t = ModeArg::Govern)]
    mode: ModeArg,
    /// Write no vote and no register: judge the policy beside the kernel's driver, on its own
    /// measurements (short for --mode shadow)
    #[arg(long, conflicts_with_all = ["mode", "dry_run"])]
    shadow: bool,
    /// Decide and journal, never vote; a block that no driver holds is programmed to count, and
    /// read (short for --mode dry-run)
    #[arg(long, conflicts_with = "mode")]
    dry_run: bool,
    /// Distance of the ticks. A poll starts a new 4 ms window, so the default holds two whole ones
    /// and half a millisecond for a late wake-up; below 4500 many polls find no whole window and
    /// say so [default: as the product says, else 8500]
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(1_000..=1_000_000))]
    period_us: Option<u64>,
    /// Let the blocks' interrupts wake the loop instead of polling. It needs the kernel module
    /// bwmon_vote (or another that offers the blocks as UIO devices); where a block has no interrupt
    /// for us, all are polled, and that is said
    #[arg(long, conflicts_with = "shadow")]
    interrupts: bool,
    /// With --interrupts, the longest time between two ticks
    #[arg(long, value_name = "MS", requires = "interrupts", default_value_t = 500,
        value_parser = clap::value_parser!(u64).range(100..=10_000))]
    heartbeat_ms: u64,
    /// Stop after this time [default: run until a signal: INT, TERM or QUIT]
    #[arg(long, value_name = "MS", conflicts_with = "ticks",
        value_parser = clap::value_parser!(u64).range(1..=31_536_000_000))]
    duration_ms: Option<u64>,
    /// Stop after so many ticks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ticks: Option<u64>,
    /// Do not look for changes of the policy's file; SIGHUP still reloads it
    #[arg(long)]
    no_watch: bool,
    #[command(flatten)]
    canary: common::CanaryArgs,
    /// Write the journal to this file
    #[arg(long, value_name = "FILE")]
    journal: Option<String>,
    /// Where the lock and the restore file are
    #[arg(long, value_name = "DIR", default_value = DEFAULT_STATE_DIR)]
    state_dir: PathBuf,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Two whole windows of 4 ms and half a millisecond.
const DEFAULT_PERIOD_US: u64 = 8_500;

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModeArg {
    /// Read the registers, vote, put everything back at the end
    Govern,
    /// Decide and journal, never vote; the kernel's driver stays bound
    DryRun,
    /// Write no vote and no register; the kernel's own updates are the measurement
    Shadow,
}

impl Args {
    fn reload(&self, fitted: &Fitted) -> Reload {
        let (file, preset, set) = fitted.followed();
        Reload { file, preset, set, watch: !self.no_watch, canary: self.canary.wanted() }
    }

    fn heartbeat(&self) -> Heartbeat {
        Heartbeat {
            period: Nanos(self.heartbeat_ms * Nanos::PER_MS),
            ticks: self.ticks.or(self.duration_ms.map(|ms| ms.div_ceil(self.heartbeat_ms))),
        }
    }

    fn mode(&self) -> Mode {
        match (self.shadow, self.dry_run, self.mode) {
            (true, ..) | (_, _, ModeArg::Shadow) => Mode::Shadow,
            (_, true, _) | (_, _, ModeArg::DryRun) => Mode::DryRun,
            (_, _, ModeArg::Govern) => Mode::Govern,
        }
    }
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let machine = Machine::new(Root::at(&args.root));
    let mode = args.mode();
    let picked = args.choice.pick(machine.root(), &machine.facts())?;
    let board = match (&args.board, picked.board()) {
        (Some(name), _) => common::board(name)?,
        (None, Some(board)) => board?,
        (None, None) => common::machine_board(&machine)?,
    };
    let fitted = args.choice.fit(&picked, &board, mode.unvoted())?;
    for note in picked.notes.iter().chain(&fitted.notes) {
        say(&format!("bwmon: {note}"));
    }
    let period_us = args.period_us.or(picked.period_us()).unwrap_or(DEFAULT_PERIOD_US);
    // A shadow writes nothing, so any number may run beside each other and beside an agent.
    let _lock = match mode {
        Mode::Shadow => None,
        Mode::DryRun | Mode::Govern => Some(AgentLock::take(&args.state_dir)?),
    };
    if mode == Mode::Govern {
        clear_leftovers(&machine, &args)?;
    }
    let ticks = args.ticks.or(args.duration_ms.map(|ms| (ms * 1_000).div_ceil(period_us)));
    let plan = Plan {
        machine,
        board: Arc::new(board),
        reload: args.reload(&fitted),
        policy: fitted.spec,
        product: fitted.record,
        rails: fitted.rails,
        mode,
        period: Nanos(period_us * Nanos::PER_US),
        ticks,
        heartbeat: args.interrupts.then(|| args.heartbeat()),
        journal: args.journal.clone(),
        state_dir: args.state_dir.clone(),
    };
    let summary = govern(plan, |note| say(&format!("bwmon: {note}")))?;
    report(&args, &summary)?;
    if !summary.not_restored.is_empty() {
        bail!("not put back: {}; run `bwmon restore`", summary.not_restored.join("; "));
    }
    Ok(Answer::Yes)
}

/// What an earlier agent could not put back is put back before anything new is noted.
fn clear_leftovers(machine: &Machine, args: &Args) -> anyhow::Result<()> {
    let Some(mut left) = RestoreFile::load(machine.root(), &args.state_dir, &mut |text| {
        say(&format!("bwmon: {text}"))
    })?
    else {
        return Ok(());
    };
    say("bwmon: an earlier agent did not put everything back; doing that first");
    for outcome in left.put_back()? {
        say(&format!("bwmon: {}: {}", outcome.object, outcome.what));
        if !outcome.done {
            bail!(
                "{} is not as it was before that agent; see {}",
                outcome.object,
                left.path().display()
            );
        }
    }
    Ok(())
}

fn report(args: &Args, summary: &Summary) -> anyhow::Result<()> {
    if args.json {
        return json(summary);
    }
    let lost = summary
        .lost_events
        .map_or_else(|| "no probes".to_owned(), |lost| format!("{lost} probe events lost"));
    let woken = match summary.wakes {
        0 => String::new(),
        wakes => format!(" ({wakes} by interrupt)"),
    };
    line(&format!(
        "{} on {} ({}): {} ticks{woken}, {} missed, {} transitions, {} votes refused, {} policy faults, \
         {lost}",
        summary.policy,
        summary.board,
        summary.mode,
        summary.ticks,
        summary.missed,
        summary.transitions,
        summary.refused,
        summary.faults,
    ))?;
    if let Some(fault) = &summary.first_fault {
        line(&format!(
            "the native rule decided {} times instead of the policy; its first fault: {fault}",
            summary.fallbacks
        ))?;
    }
    if summary.demoted > 0 {
        line(&format!(
            "{} domain(s) ended on the native rule: the policy is demoted",
            summary.demoted
        ))?;
    }
    for restored in &summary.restored {
        line(restored)?;
    }
    if summary.journal_errors > 0 {
        say(&format!("warning: {} journal entries could not be written", summary.journal_errors));
    }
    Ok(())
}
