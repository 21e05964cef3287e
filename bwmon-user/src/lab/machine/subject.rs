//! What puts a subject in place: files to write, or an agent to run.

use super::host::Host;
use super::journal::Whose;
use super::settings::Settings;
use super::ssh::quoted;
use crate::board::{Board, Level, builtin, parse};
use crate::experiment::{FixedLevel, Subject, SubjectKind};
use crate::live::{Machine, text_of};
use crate::policy::{self, library, stage};
use crate::units::Kbps;
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The kernel's own driver. Its devices have a `modalias`; the folder of its module has none.
const DRIVEN: &str = "/sys/bus/platform/drivers/qcom-bwmon/*/modalias";

/// Subjects on a machine.
#[derive(Debug)]
pub(super) struct Subjects {
    /// The board, once it is known.
    board: Option<Board>,
    /// Files that the other machine was sent, with their names there.
    sent: BTreeMap<PathBuf, String>,
}

impl Subjects {
    pub(super) fn new() -> Self {
        Self { board: None, sent: BTreeMap::new() }
    }

    /// Takes the board from an agent's journal, where it was not known.
    pub(super) fn learn(&mut self, board: Board) {
        self.board.get_or_insert(board);
    }

    /// The files that `subject` asks for, with their values.
    ///
    /// # Errors
    /// Why it cannot be had on this machine.
    pub(super) fn knobs(
        &mut self,
        host: &Host,
        settings: &Settings,
        subject: &Subject,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let (files, governor) = match &subject.kind {
            SubjectKind::Devfreq(governor) => (self.devfreq(host, settings)?, governor),
            SubjectKind::Cpufreq(governor) => (cpufreq(host)?, governor),
            SubjectKind::Kernel => {
                must_be_driven(host)?;
                return Ok(BTreeMap::new());
            }
            _ => return Ok(BTreeMap::new()),
        };
        for (file, offers) in &files {
            if !offers.split_whitespace().any(|offered| offered == governor) {
                bail!("{file} does not offer {governor}, but: {offers}");
            }
            if !host.writable(file)? {
                bail!("{file} may not be written: run as root");
            }
        }
        Ok(files.into_keys().map(|file| (file, governor.clone())).collect())
    }

    /// The governors' files of the board's devfreq devices, with what they offer.
    fn devfreq(
        &mut self,
        host: &Host,
        settings: &Settings,
    ) -> anyhow::Result<BTreeMap<String, String>> {
        let board = self.board(host, settings)?;
        let devices = board.domains.iter().filter_map(|domain| domain.devfreq.as_ref());
        let devices: Vec<String> = devices.map(|path| path.device.clone()).collect();
        if devices.is_empty() {
            bail!("board {} names no devfreq device", board.id);
        }
        let mut files = BTreeMap::new();
        for device in devices {
            let folder = format!("/sys/class/devfreq/{device}");
            let offers = host.line(&format!("{folder}/available_governors"))?;
            let offers = offers.ok_or_else(|| anyhow!("there is no devfreq device {device}"))?;
            files.insert(format!("{folder}/governor"), offers);
        }
        Ok(files)
    }

    /// The board: the agenda's, else the machine's, else what an agent said.
    pub(super) fn board(&mut self, host: &Host, settings: &Settings) -> anyhow::Result<&Board> {
        if self.board.is_none() {
            self.board = match &settings.agenda.board {
                Some(name) => Some(named(&settings.agenda_dir, name)?),
                None if host.ssh().is_none() => {
                    let identity = Machine::new(host.root().clone()).identify();
                    Some(identity.board.ok_or_else(|| anyhow!(identity.why))?)
                }
                None => None,
            };
        }
        self.board.as_ref().context("the board is not known: give it in the agenda (board = …)")
    }

    /// The arguments of the agent that `subject` is, or that looks on beside it.
    ///
    /// # Errors
    /// When a file cannot be read or sent, or a level or domain is not there.
    pub(super) fn agent(
        &mut self,
        host: &mut Host,
        settings: &Settings,
        subject: &Subject,
    ) -> anyhow::Result<(Vec<String>, Whose)> {
        let period = subject.period_us.unwrap_or(settings.agenda.period_us);
        let mut words = settings.site.command("run");
        words.extend(["--json", "--no-watch", "--period-us"].map(str::to_owned));
        words.push(period.to_string());
        if let Some(name) = &settings.agenda.board {
            let board = match builtin(name) {
                Some(_) => name.clone(),
                None => self.file(host, settings, name)?,
            };
            words.extend(["--board".to_owned(), board]);
        }
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        let whose = match &subject.kind {
            SubjectKind::Policy { policy, preset, set } => {
                option("--policy", self.policy(host, settings, policy)?);
                preset.iter().for_each(|preset| option("--preset", preset.clone()));
                set.iter().for_each(|(name, value)| option("--set", format!("{name}={value}")));
                Whose::Agents
            }
            SubjectKind::Fixed(levels) => {
                option("--policy", "performance".to_owned());
                let limits = limits(self.board(host, settings)?, levels)?;
                limits.into_iter().for_each(|limit| option("--limit", limit));
                Whose::Agents
            }
            _ => {
                option("--policy", policy::NATIVE.to_owned());
                Whose::Kernels
            }
        };
        match whose {
            Whose::Kernels => words.push("--shadow".to_owned()),
            Whose::Agents if settings.dry_run => words.push("--dry-run".to_owned()),
            Whose::Agents => {}
        }
        Ok((words, whose))
    }

    fn policy(
        &mut self,
        host: &mut Host,
        settings: &Settings,
        name: &str,
    ) -> anyhow::Result<String> {
        let ours = library::shipped(name).is_some()
            || policy::is_compiled_in(name)
            || name.starts_with(stage::PREFIX);
        if ours { Ok(name.to_owned()) } else { self.file(host, settings, name) }
    }

    /// The file that the agenda calls `name`, as the machine knows it; another one is sent it.
    fn file(&mut self, host: &mut Host, settings: &Settings, name: &str) -> anyhow::Result<String> {
        let path = found(&settings.agenda_dir, name);
        if let Some(known) = self.sent.get(&path) {
            return Ok(known.clone());
        }
        let text = text_of(&path.to_string_lossy())?;
        let Some(folder) = host.folder()? else {
            return Ok(std::path::absolute(&path)?.to_string_lossy().into_owned());
        };
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let there = format!("{folder}/sent-{}.{ending}", self.sent.len());
        if let Some(ssh) = host.ssh() {
            ssh.ask(&format!("printf %s {} > {}", quoted(&text), quoted(&there)))?;
        }
        self.sent.insert(path, there.clone());
        Ok(there)
    }
}

/// The governors' files of all cpufreq policies, with what they offer.
fn cpufreq(host: &Host) -> anyhow::Result<BTreeMap<String, String>> {
    let offered = "/sys/devices/system/cpu/cpufreq/policy*/scaling_available_governors";
    let known = host.read(&[offered])?;
    let files: BTreeMap<String, String> = known
        .iter()
        .filter_map(|(path, offers)| {
            let folder = path.rsplit_once('/')?.0;
            Some((format!("{folder}/scaling_governor"), offers.to_owned()))
        })
        .collect();
    if files.is_empty() {
        bail!("this machine has no cpufreq policy whose governor could be chosen");
    }
    Ok(files)
}

fn must_be_driven(host: &Host) -> anyhow::Result<()> {
    if host.read(&[DRIVEN])?.iter().next().is_none() {
        bail!("the kernel's driver qcom-bwmon (icc-bwmon) is not there or holds no device");
    }
    Ok(())
}

/// Limits that leave one level.
fn limits(board: &Board, levels: &BTreeMap<String, FixedLevel>) -> anyhow::Result<Vec<String>> {
    let mut limits = Vec::new();
    for (name, level) in levels {
        let Some(domain) = board.domains.iter().find(|domain| domain.name == *name) else {
            let known: Vec<&str> = board.domains.iter().map(|d| d.name.as_str()).collect();
            bail!("board {} has no domain {name}; it has {}", board.id, known.join(", "));
        };
        let Level(level) = match level {
            FixedLevel::Min => Level::LOWEST,
            FixedLevel::Max => domain.table.top(),
            FixedLevel::Kbps(kbps) => domain.table.ceil(Kbps(*kbps)),
        };
        limits.extend(["min", "max"].map(|bound| format!("{name}.{bound}_level={level}")));
    }
    Ok(limits)
}

fn named(folder: &Path, name: &str) -> anyhow::Result<Board> {
    if let Some(board) = builtin(name) {
        return Ok(board?);
    }
    let path = found(folder, name).to_string_lossy().into_owned();
    Ok(parse(&path, &text_of(&path)?)?)
}

/// A file of the agenda: beside it, or where it says from here.
fn found(folder: &Path, name: &str) -> PathBuf {
    let beside = folder.join(name);
    if beside.exists() { beside } else { PathBuf::from(name) }
}
