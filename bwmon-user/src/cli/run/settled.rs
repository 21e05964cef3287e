//! What holds for a run: the command line over the configuration file over the defaults.

use super::{Args, DEFAULT_STATE_DIR, ModeArg};
use crate::agent::{ControlPlan, GROUP};
use crate::cli::choose::ChoiceArgs;
use crate::cli::common;
use crate::config::{self, Config, ModeName, OnExit};
use crate::live::{DEFAULT_KEEP, JournalPlan, Mode, Root};
use crate::metrics::MetricsPlan;
use crate::policy::canary::Rule;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// Longest name of a socket that nobody asked for: longer ones do not fit into an address.
const LONGEST_SOCKET: usize = 107;

/// Time between heartbeats, where nothing is said.
const DEFAULT_HEARTBEAT_MS: u64 = 500;

/// One value for everything.
pub(super) struct Settled {
    pub(super) choice: ChoiceArgs,
    pub(super) board: Option<String>,
    pub(super) mode: Mode,
    pub(super) period_us: Option<u64>,
    pub(super) interrupts: bool,
    pub(super) heartbeat_ms: u64,
    pub(super) watch: bool,
    pub(super) on_exit: OnExit,
    /// Of the command line: it goes over what a bundle says.
    pub(super) asked_canary: Option<(u64, Rule)>,
    /// Of the configuration: where a bundle says nothing.
    pub(super) canary: Option<(u64, Rule)>,
    pub(super) journal: Option<JournalPlan>,
    pub(super) state_dir: PathBuf,
    pub(super) control: Option<ControlPlan>,
    pub(super) metrics: Option<MetricsPlan>,
    pub(super) notes: Vec<String>,
}

impl Settled {
    /// Reads the configuration that `args` name, and settles every value.
    pub(super) fn of(args: &Args) -> anyhow::Result<Self> {
        let config = match &args.config {
            Some(file) => {
                let name = file.display().to_string();
                config::parse(&name, &common::text_of(&name)?)?
            }
            None => Config::default(),
        };
        let mode = mode(args, &config);
        let interrupts = args.interrupts || config.interrupts.unwrap_or(false);
        if args.heartbeat_ms.is_some() && !interrupts {
            bail!("--heartbeat-ms goes with --interrupts");
        }
        if interrupts && mode == Mode::Shadow {
            bail!("a shadow reads no block, so no interrupt can wake it; leave interrupts out");
        }
        let state_dir = args.state_dir.clone().or(config.state_dir.as_ref().map(PathBuf::from));
        let state_dir = state_dir.unwrap_or_else(|| PathBuf::from(DEFAULT_STATE_DIR));
        let mut notes = Vec::new();
        let journal = journal(args, &config)?;
        let metrics = args.metrics.clone().or(config.metrics_listen.clone());
        let control = control(args, &config, mode, &state_dir, &mut notes);
        Ok(Self {
            choice: args.choice.over(&config),
            board: args.board.clone().or(config.board),
            mode,
            period_us: args.period_us.or(config.period_us),
            interrupts,
            heartbeat_ms: args.heartbeat_ms.or(config.heartbeat_ms).unwrap_or(DEFAULT_HEARTBEAT_MS),
            watch: !args.no_watch && config.watch.unwrap_or(true),
            on_exit: args.on_exit.map(OnExit::from).or(config.on_exit).unwrap_or_default(),
            asked_canary: args.canary.wanted(),
            canary: config.canary,
            journal,
            state_dir,
            control,
            metrics,
            notes,
        })
    }
}

/// A file on the command line has nothing to do with the file's numbers.
fn journal(args: &Args, config: &Config) -> anyhow::Result<Option<JournalPlan>> {
    const MB: u64 = 1_000_000;
    let plan = |file: &String, max_mb: Option<u64>, keep: Option<u64>| JournalPlan {
        file: file.clone(),
        max_bytes: max_mb.map(|mb| mb * MB),
        keep: keep.or(max_mb.map(|_| DEFAULT_KEEP)),
    };
    if let Some(file) = &args.journal {
        return Ok(Some(plan(file, args.journal_max_mb, args.journal_keep)));
    }
    let configured = &config.journal;
    let max_mb = args.journal_max_mb.or(configured.max_mb);
    let keep = args.journal_keep.or(configured.keep);
    match &configured.file {
        Some(file) => Ok(Some(plan(file, max_mb, keep))),
        None if max_mb.is_some() || keep.is_some() => {
            bail!("a size or a number of journals without a journal; name its file")
        }
        None => Ok(None),
    }
}

fn mode(args: &Args, config: &Config) -> Mode {
    match (args.shadow, args.dry_run, args.mode, config.mode) {
        (true, ..) | (_, _, Some(ModeArg::Shadow), _) => Mode::Shadow,
        (_, true, ..) | (_, _, Some(ModeArg::DryRun), _) => Mode::DryRun,
        (_, _, Some(ModeArg::Govern), _) => Mode::Govern,
        (_, _, None, Some(ModeName::Shadow)) => Mode::Shadow,
        (_, _, None, Some(ModeName::DryRun)) => Mode::DryRun,
        (_, _, None, Some(ModeName::Govern) | None) => Mode::Govern,
    }
}

fn control(
    args: &Args,
    config: &Config,
    mode: Mode,
    state_dir: &Path,
    notes: &mut Vec<String>,
) -> Option<ControlPlan> {
    let asked = args.socket.clone().or(config.control.socket.as_ref().map(PathBuf::from));
    let socket = match asked {
        Some(path) if path == Path::new("none") => return None,
        Some(path) => path,
        // Any number of shadows may run beside each other.
        None if mode == Mode::Shadow => return None,
        None => {
            let path = state_dir.join("control.sock");
            if path.as_os_str().len() > LONGEST_SOCKET {
                notes.push(format!(
                    "no control socket: {} is too long for one; --socket names another",
                    path.display()
                ));
                return None;
            }
            path
        }
    };
    let group = match config.control.group.as_deref() {
        Some("") => None,
        Some(name) => Some(name.to_owned()),
        None => Some(GROUP.to_owned()),
    };
    let readers = config.control.readers.unwrap_or_default();
    Some(ControlPlan { socket, group, readers, root: Root::at(&args.root) })
}
