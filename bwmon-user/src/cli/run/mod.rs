//! `bwmon run`.

mod bundles;
mod chooser;
mod report;
mod settled;

use super::Answer;
use super::choose::ChoiceArgs;
use super::common;
use super::output::say;
use crate::agent::{Heartbeat, Plan, Reload, govern};
use crate::config::OnExit;
use crate::live::{AgentLock, DEFAULT_STATE_DIR, Machine, Mode, RestoreFile, Root};
use crate::metrics::MetricsPlan;
use crate::units::Nanos;
use anyhow::bail;
use chooser::Chooser;
use settled::Settled;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `bwmon run`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n\
\x20 bwmon run --shadow --duration-ms 10000 --journal shadow.jsonl   without a write\n\
\x20 bwmon run --board my.toml --policy my.rhai                      govern until Ctrl-C\n\
\x20 bwmon run --limit ddr.min_kBps=1804000                          the machine's product, and a floor\n\
\x20 bwmon run --board my.toml --interrupts                          asleep until a block interrupts\n\
\x20 bwmon run --config /etc/bwmon/bwmon.toml                        as the service does\n\
\n\
Without --policy, policies and limits come from the product that fits the machine most closely\n\
(`bwmon policy which`); without one, the policy is bwmon.")]
pub(super) struct Args {
    /// Take what is not said here from this configuration file (`bwmon config example`)
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// The board: a board file or a built-in one [default: as the product says, else by the device
    /// tree]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// What may be done to the machine [default: govern]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
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
    /// With --interrupts, the longest time between two ticks [default: 500]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(100..=10_000))]
    heartbeat_ms: Option<u64>,
    /// Stop after this time [default: run until a signal: INT, TERM or QUIT]
    #[arg(long, value_name = "MS", conflicts_with = "ticks",
        value_parser = clap::value_parser!(u64).range(1..=31_536_000_000))]
    duration_ms: Option<u64>,
    /// Stop after so many ticks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ticks: Option<u64>,
    /// Do not look for changes of files; SIGHUP and `bwmon reload` still take them
    #[arg(long)]
    no_watch: bool,
    #[command(flatten)]
    canary: common::CanaryArgs,
    /// A bundle that governed for so long without a demotion has proven itself; until then it is
    /// given up for the one before when its policy is demoted
    #[arg(long, value_name = "MS", default_value_t = 300_000,
        value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    prove_after_ms: u64,
    /// Write the journal to this file
    #[arg(long, value_name = "FILE")]
    journal: Option<String>,
    /// Begin a new journal after so many megabytes; older ones become FILE.1, FILE.2 and so on
    #[arg(long = "journal-max-MB", value_name = "MB",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    journal_max_mb: Option<u64>,
    /// Older journals that are kept; without this and a size, one that is there is overwritten
    /// [default: 4 with a size]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    journal_keep: Option<u64>,
    /// What becomes of the votes when the agent ends well; after an error everything is put back
    /// [default: restore]
    #[arg(long, value_enum, value_name = "WHAT")]
    on_exit: Option<OnExitArg>,
    /// Where clients are answered, or `none` [default: control.sock in the state folder; none in
    /// shadow]
    #[arg(long, value_name = "PATH|none")]
    socket: Option<PathBuf>,
    /// Serve OpenMetrics at a loopback address (127.0.0.1:9845) or a socket (unix:PATH)
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<MetricsPlan>,
    /// Where the lock and the restore file are [default: /run/bwmon]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
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

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OnExitArg {
    /// Put back what was there before
    Restore,
    /// Leave the last votes; `bwmon restore` puts back what was before
    Keep,
    /// Leave every domain at its highest level allowed
    Max,
}

impl From<OnExitArg> for OnExit {
    fn from(arg: OnExitArg) -> Self {
        match arg {
            OnExitArg::Restore => Self::Restore,
            OnExitArg::Keep => Self::Keep,
            OnExitArg::Max => Self::Max,
        }
    }
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let settled = Settled::of(&args)?;
    settled.notes.iter().for_each(|note| say(&format!("bwmon: {note}")));
    let machine = Machine::new(Root::at(&args.root));
    let mode = settled.mode;
    let picked = bundles::pick(&settled, &machine)?;
    let board = Arc::new(match (&settled.board, picked.board()) {
        (Some(name), _) => common::board(name)?,
        (None, Some(board)) => board?,
        (None, None) => common::machine_board(&machine)?,
    });
    let choice = chooser::choice(&settled, &picked, &board, &args)?;
    choice.notes.iter().for_each(|note| say(&format!("bwmon: {note}")));
    let period_us = settled.period_us.or(picked.period_us()).unwrap_or(DEFAULT_PERIOD_US);
    // A shadow writes nothing, so any number may run beside each other and beside an agent.
    let _lock = match mode {
        Mode::Shadow => None,
        Mode::DryRun | Mode::Govern => Some(AgentLock::take(&settled.state_dir)?),
    };
    if mode == Mode::Govern {
        clear_leftovers(&machine, &settled.state_dir)?;
    }
    let ticks = args.ticks.or(args.duration_ms.map(|ms| (ms * 1_000).div_ceil(period_us)));
    let chooser =
        Chooser { args: args.clone(), machine: machine.clone(), board: board.clone(), period_us };
    let heartbeat_ms = settled.heartbeat_ms;
    let trials = bundles::trials(&settled, &machine, &args);
    let plan = Plan {
        machine,
        board,
        choice,
        reload: Reload { choose: chooser.into(), watch: settled.watch },
        trials,
        mode,
        period: Nanos(period_us * Nanos::PER_US),
        ticks,
        heartbeat: settled.interrupts.then(|| Heartbeat {
            period: Nanos(heartbeat_ms * Nanos::PER_MS),
            ticks: args.ticks.or(args.duration_ms.map(|ms| ms.div_ceil(heartbeat_ms))),
        }),
        journal: settled.journal,
        state_dir: settled.state_dir,
        control: settled.control,
        metrics: settled.metrics,
        on_exit: settled.on_exit,
    };
    let summary = govern(plan, |note| say(&format!("bwmon: {note}")))?;
    report::report(args.json, &summary)?;
    if !summary.not_restored.is_empty() {
        bail!("not put back: {}; run `bwmon restore`", summary.not_restored.join("; "));
    }
    Ok(Answer::Yes)
}

/// What an earlier agent could not put back is put back before anything new is noted.
fn clear_leftovers(machine: &Machine, state_dir: &Path) -> anyhow::Result<()> {
    let Some(mut left) =
        RestoreFile::load(machine.root(), state_dir, &mut |text| say(&format!("bwmon: {text}")))?
    else {
        return Ok(());
    };
    say(if left.is_kept() {
        "bwmon: an earlier agent left its votes on purpose; putting back what was before them first"
    } else {
        "bwmon: an earlier agent did not put everything back; doing that first"
    });
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
