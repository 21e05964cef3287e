//! Taking a machine over, in the order that never leaves a path without a voter: look at
//! everything, note what was there, place our own floor, and only then take the kernel's driver off.

use super::actuator::{LiveActuator, PathDescription, VotePath};
use super::binding::Binding;
use super::feed::Feed;
use super::interrupts;
use super::probes::{Loader, ProbeSet};
use super::registers::MappedRegisters;
use super::restore::{Item, RestoreFile};
use super::root::Root;
use super::source::{LiveMonitor, LiveSource};
use super::uio::{self, Uio};
use super::voter;
use super::wake::WakingClock;
use crate::board::{Board, Level, Monitor};
use crate::bwmon::Driver;
use crate::decide::{Rails, Unvoted};
use crate::vote::Applied;
use anyhow::{Context, anyhow, bail};
use bwmon_common::Kind;
use std::path::Path;
use std::sync::Arc;

/// What an agent may do to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read the registers and vote.
    Govern,
    /// Decide and journal, write nothing to any vote path and take no driver off. A block that
    /// nobody holds is programmed to count, and read.
    DryRun,
    /// Write no vote and no register: the kernel's own updates are the measurement.
    Shadow,
}

impl Mode {
    /// As in journals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Govern => "govern",
            Self::DryRun => "dry-run",
            Self::Shadow => "shadow",
        }
    }
}

impl Mode {
    /// What stands in for a level that nobody has voted yet: the kernel's driver votes where bwmon
    /// does not.
    pub fn unvoted(self) -> Unvoted {
        match self {
            Self::Govern => Unvoted::Top,
            Self::DryRun | Self::Shadow => Unvoted::Nothing,
        }
    }
}

/// A machine that has been taken over.
pub struct Takeover {
    /// Where samples come from.
    pub source: LiveSource,
    /// Where votes go.
    pub actuator: LiveActuator,
    /// Levels in force at the start.
    pub levels: Vec<Option<Level>>,
    /// How each domain is voted.
    pub paths: Vec<PathDescription>,
    /// What is present, for the journal's header.
    pub capabilities: Vec<String>,
    /// What was done and what is missing, one line each, for the operator.
    pub notes: Vec<String>,
    /// What the loop sleeps by; a block can wake it if that was asked for and can be had.
    pub clock: WakingClock,
}

/// Takes the machine under `root` over for `board`; `rails` has one entry per domain. With
/// `interrupts`, the blocks wake the loop, if all that are read can; `notes` says why not.
///
/// # Errors
/// What is missing. If something had been changed before that, it has been put back, or the error
/// says what could not be.
pub fn takeover(
    root: &Root,
    board: &Arc<Board>,
    mode: Mode,
    rails: &[Rails],
    state_dir: &Path,
    interrupts: bool,
) -> anyhow::Result<Takeover> {
    let mut work = Work {
        root,
        board,
        mode,
        rails,
        restore: RestoreFile::new(root, state_dir),
        notes: Vec::new(),
        capabilities: Vec::new(),
    };
    match work.take() {
        Ok(taken) => {
            let paths = taken.paths;
            let feed = Feed::of(taken.probes);
            let actuator = LiveActuator::new(taken.votes, Some(work.restore), feed.clone());
            let (monitors, clock) = if interrupts {
                interrupts::choose(board, taken.monitors, &mut |note| work.notes.push(note))
            } else {
                (taken.monitors, WakingClock::default())
            };
            if clock.can_be_woken() {
                work.capabilities.push("interrupts".into());
            }
            Ok(Takeover {
                source: LiveSource::new(board.clone(), monitors, feed, root),
                clock,
                actuator,
                levels: taken.levels,
                paths,
                capabilities: work.capabilities,
                notes: work.notes,
            })
        }
        Err(error) => match undo(&mut work.restore) {
            None => Err(error),
            Some(left) => Err(error.context(format!(
                "{left}; run `bwmon restore` when the cause is mended. First failure"
            ))),
        },
    }
}

fn undo(restore: &mut RestoreFile) -> Option<String> {
    match restore.put_back() {
        Err(error) => Some(error.to_string()),
        Ok(outcomes) => {
            let left: Vec<String> = outcomes
                .iter()
                .filter(|outcome| !outcome.done)
                .map(|outcome| format!("{} was not put back: {}", outcome.object, outcome.what))
                .collect();
            (!left.is_empty()).then(|| left.join("; "))
        }
    }
}

struct Work<'a> {
    root: &'a Root,
    board: &'a Arc<Board>,
    mode: Mode,
    rails: &'a [Rails],
    restore: RestoreFile,
    notes: Vec<String>,
    capabilities: Vec<String>,
}

struct Taken {
    votes: Vec<VotePath>,
    paths: Vec<PathDescription>,
    levels: Vec<Option<Level>>,
    monitors: Vec<LiveMonitor>,
    probes: Option<ProbeSet>,
}

impl Work<'_> {
    fn take(&mut self) -> anyhow::Result<Taken> {
        let mut votes = self.open_paths()?;
        for (index, monitor) in self.board.monitors.iter().enumerate() {
            if self.reads_registers(index, &votes) {
                self.must_be_that_block(&Binding::new(self.root, &monitor.device()), monitor)?;
            }
        }
        let probes = self.load_probes();
        let mut levels = vec![None; self.board.domains.len()];
        if self.mode == Mode::Govern {
            self.place_floors(&mut votes, &mut levels)?;
        }
        let paths = self.describe(&votes);
        let sees_updates = probes
            .as_ref()
            .is_some_and(|p| p.attached.iter().any(|probe| probe.kind == Kind::BwmonUpdate));
        let mut monitors = Vec::new();
        for index in 0..self.board.monitors.len() {
            monitors.push(self.monitor(index, &votes, sees_updates)?);
        }
        if monitors.iter().all(|monitor| matches!(monitor, LiveMonitor::Absent)) {
            bail!(
                "no monitor of board {} can be read on this machine: {}",
                self.board.id,
                self.notes.join("; ")
            );
        }
        Ok(Taken { votes, paths, levels, monitors, probes })
    }

    /// Looks at every domain's vote path; changes nothing.
    fn open_paths(&mut self) -> anyhow::Result<Vec<VotePath>> {
        let mut votes = Vec::new();
        for domain in &self.board.domains {
            votes.push(match self.mode {
                Mode::Govern => voter::open(self.root, domain)
                    .with_context(|| format!("domain {}", domain.name))?
                    .map_or(VotePath::DryRun, VotePath::Voted),
                _ => VotePath::DryRun,
            });
        }
        let governs = votes.iter().any(|path| matches!(path, VotePath::Voted(_)));
        if self.mode == Mode::Govern && !governs {
            bail!(
                "board {} names no vote path: give a domain of the board file `devfreq = {{ \
                 device = …, freq_hz = […] }}`, `icc = […]`, `bus_dcvs = {{ … }}` or `vote = {{ \
                 device = … }}`, or use --shadow or --dry-run",
                self.board.id
            );
        }
        Ok(votes)
    }

    fn load_probes(&mut self) -> Option<ProbeSet> {
        if !self.root.is_machine() {
            self.notes.push("no probes: this is not the machine itself but a tree".into());
            return None;
        }
        match Loader::embedded().and_then(Loader::load) {
            Ok(set) => {
                self.capabilities.extend(set.attached.iter().map(|probe| probe.event.clone()));
                for absent in &set.absent {
                    self.notes.push(format!(
                        "probe {} is absent ({}); without it: {}",
                        absent.event, absent.why, absent.lost
                    ));
                }
                Some(set)
            }
            Err(error) => {
                self.notes.push(format!("no probes: {error}"));
                None
            }
        }
    }

    /// Takes the vote paths and votes the highest level that the rails allow: a floor under what the kernel's driver
    /// voted, before that vote goes away with it.
    fn place_floors(
        &mut self,
        votes: &mut [VotePath],
        levels: &mut [Option<Level>],
    ) -> anyhow::Result<()> {
        let domains = self.board.domains.iter().zip(self.rails);
        for ((path, level), (domain, rails)) in votes.iter_mut().zip(levels).zip(domains) {
            let VotePath::Voted(voter) = path else { continue };
            voter
                .take_over(&mut self.restore)
                .with_context(|| format!("domain {} cannot be taken over", domain.name))?;
            let top = domain.table.top().min(rails.max_level);
            match voter.vote(top) {
                Applied::Refused { why } => bail!("domain {}: {why}", domain.name),
                Applied::Gone { what } => bail!("domain {}: {what} vanished", domain.name),
                Applied::NotHonoured { found } => self.notes.push(format!(
                    "{} accepts votes but runs at {found} whatever is voted: savings and gains are \
                     impossible there now",
                    voter.object()
                )),
                Applied::Clamped { found } => self.notes.push(format!(
                    "{}: the floor for the takeover was clamped to {found} by somebody else's limit",
                    voter.object()
                )),
                _ => {}
            }
            *level = Some(top);
            self.capabilities.push(voter.object());
        }
        Ok(())
    }

    fn describe(&mut self, votes: &[VotePath]) -> Vec<PathDescription> {
        let mut paths = Vec::new();
        for (domain, path) in self.board.domains.iter().zip(votes) {
            let path = match path {
                VotePath::Voted(voter) => voter.name(),
                VotePath::DryRun => "none: decided and journalled only".to_owned(),
            };
            paths.push(PathDescription { domain: domain.name.clone(), path });
        }
        paths
    }

    /// Whether the registers of the monitor `index` are ours to read: to govern, if a domain that it
    /// measures is voted by us; in a dry run, if no driver has the block, or one offers it.
    fn reads_registers(&self, index: usize, votes: &[VotePath]) -> bool {
        let Some(monitor) = self.board.monitors.get(index) else { return false };
        let binding = Binding::new(self.root, &monitor.device());
        match self.mode {
            Mode::Govern => self.board.domains.iter().zip(votes).any(|(domain, path)| {
                domain.monitor == Some(index) && matches!(path, VotePath::Voted(_))
            }),
            Mode::DryRun => {
                binding.present()
                    && (binding.driver().is_none()
                        || uio::find(self.root, &binding.device).is_some())
            }
            Mode::Shadow => false,
        }
    }

    /// How the monitor `index` is read. Its driver is taken off only if a domain that it measures
    /// is voted by us.
    fn monitor(
        &mut self,
        index: usize,
        votes: &[VotePath],
        sees_updates: bool,
    ) -> anyhow::Result<LiveMonitor> {
        let monitor = self.board.monitors.get(index).ok_or_else(|| anyhow!("no such monitor"))?;
        let binding = Binding::new(self.root, &monitor.device());
        let bound = binding.driver();
        if self.reads_registers(index, votes) {
            let registers = self
                .registers(monitor, &binding)
                .with_context(|| format!("monitor {} ({})", monitor.name, monitor.device()))?;
            self.capabilities.push(format!("registers {}", monitor.device()));
            let driver = Driver::new(registers, monitor.layout, monitor.scale, monitor.force_clear);
            return Ok(LiveMonitor::Polled(Box::new(driver)));
        }
        if bound.is_some() && sees_updates {
            self.notes.push(format!(
                "monitor {}: measured by the kernel's driver, through its updates",
                monitor.name
            ));
            return Ok(LiveMonitor::Kernel(monitor.device()));
        }
        let why = match (binding.present(), &bound) {
            (false, _) => "this machine has no such device",
            (true, None) => "no kernel driver is bound, so it reports nothing",
            (true, Some(_)) => "the kernel's updates cannot be seen without the probes",
        };
        self.notes.push(format!("monitor {} ({}): {why}", monitor.name, monitor.device()));
        Ok(LiveMonitor::Absent)
    }

    /// Through UIO where a driver offers that, which it then keeps; else through `/dev/mem`, for which
    /// a driver is taken off.
    fn registers(
        &mut self,
        monitor: &Monitor,
        binding: &Binding,
    ) -> anyhow::Result<MappedRegisters> {
        if let Some(dir) = uio::find(self.root, &binding.device) {
            let uio = Uio::open(self.root, dir)?;
            self.notes.push(format!("monitor {}: through {}", monitor.name, uio.node().display()));
            return MappedRegisters::through(uio, monitor);
        }
        if let Some(driver) = binding.driver() {
            self.take_off(binding, &driver)?;
        }
        Ok(MappedRegisters::open(self.root, monitor)?)
    }

    /// Registers are written only where the machine says that such a block is.
    fn must_be_that_block(&self, binding: &Binding, monitor: &Monitor) -> anyhow::Result<()> {
        if !binding.present() {
            bail!(
                "monitor {}: this machine has no device {}; is it the right board?",
                monitor.name,
                binding.device
            );
        }
        let found = binding.compatible();
        if !found.is_empty() && !found.iter().any(|name| monitor.compatible.contains(name)) {
            bail!(
                "monitor {}: {} is {} here and {} in the board; is it the right board?",
                monitor.name,
                binding.device,
                found.join(" "),
                monitor.compatible.join(" ")
            );
        }
        Ok(())
    }

    fn take_off(&mut self, binding: &Binding, driver: &str) -> anyhow::Result<()> {
        self.restore
            .note(Item::Driver { device: binding.device.clone(), driver: driver.to_owned() })?;
        binding
            .unbind(driver)
            .with_context(|| format!("cannot unbind {driver} from {}", binding.device))?;
        self.notes.push(format!("took {} over from {driver}", binding.device));
        Ok(())
    }
}
