//! Votes through the project's kernel module: `/dev/bwmon-vote-<device>` (bwmon-user/kmod/bwmon_vote
//! describes its interface).
//!
//! A vote lives as long as the file that it was written to is open, so it needs no undoing: the kernel
//! drops it however this process ends. What is noted and undone is the binding. If the device is
//! the monitor's own, the kernel's driver has to go first and its vote with it: there is no vote of
//! this node for the moment between.

use super::binding::{Binding, KERNEL_DRIVER};
use super::refusal;
use super::restore::{Item, RestoreFile};
use super::root::Root;
use super::voter::Voter;
use crate::board::{Level, OppTable, VoteDevice};
use crate::units::Kbps;
use crate::vote::Applied;
use anyhow::{Context, bail, ensure};
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The module's driver on the platform bus.
pub(super) const VOTE_DRIVER: &str = "bwmon-vote";
/// The version of the interface that this file speaks.
const VERSION: &str = "bwmon-vote 1 ";
/// What a read gives at most: a line for each path.
const MOST: usize = 4096;

/// An open vote device.
trait Votes: Debug {
    /// Writes one vote.
    fn write(&self, line: &str) -> io::Result<()>;
    /// All paths with their votes.
    fn read(&self) -> io::Result<String>;
}

impl Votes for File {
    fn write(&self, line: &str) -> io::Result<()> {
        let mut file = self;
        // One line is one `write`: a part of it would be another vote.
        match Write::write(&mut file, line.as_bytes())? {
            count if count == line.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    fn read(&self) -> io::Result<String> {
        let mut buffer = vec![0; MOST];
        let count = self.read_at(&mut buffer, 0)?;
        buffer.truncate(count);
        Ok(String::from_utf8_lossy(&buffer).into_owned())
    }
}

/// What the device says of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    index: String,
    name: String,
    /// Our own vote.
    own: Kbps,
    /// What is in force for all who have the device open.
    all: Kbps,
}

/// Reads the device's table; only peaks are of interest here.
fn rows(text: &str) -> Option<Vec<Row>> {
    let mut lines = text.lines();
    lines.next()?.starts_with(VERSION).then_some(())?;
    lines.next()?;
    let row = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [index, name, _avg, own, _all_avg, all] = words.as_slice() else { return None };
        Some(Row {
            index: (*index).to_owned(),
            name: (*name).to_owned(),
            own: Kbps(own.parse().ok()?),
            all: Kbps(all.parse().ok()?),
        })
    };
    lines.map(row).collect()
}

/// A domain's paths, one per column of its table, on one device.
#[derive(Debug)]
pub(super) struct DeviceVoter {
    root: Root,
    device: VoteDevice,
    table: OppTable,
    votes: Option<Box<dyn Votes>>,
    written: Option<Level>,
}

impl DeviceVoter {
    /// Looks whether the device can be had; changes nothing.
    pub(super) fn open(root: &Root, device: &VoteDevice, table: &OppTable) -> anyhow::Result<Self> {
        let binding = Binding::new(root, &device.device);
        ensure!(
            binding.present(),
            "this machine has no platform device {}; is it the right board?",
            device.device
        );
        ensure!(
            binding.has_driver(VOTE_DRIVER),
            "the kernel module bwmon_vote is not loaded: build it from bwmon-user/kmod/bwmon_vote \
             (dkms does), then `modprobe bwmon_vote`"
        );
        if let Some(driver) = binding.driver()
            && driver != VOTE_DRIVER
            && driver != KERNEL_DRIVER
        {
            bail!(
                "{} is bound to {driver}, which bwmon does not take it from: unbind it, if nothing \
                 needs it",
                device.device
            );
        }
        let (root, device, table) = (root.clone(), device.clone(), table.clone());
        let voter = Self { root, device, table, votes: None, written: None };
        if binding.driver().as_deref() == Some(VOTE_DRIVER) {
            voter.must_have_paths(&*voter.open_file()?)?;
        }
        Ok(voter)
    }

    fn path(&self) -> PathBuf {
        self.root.path("/dev").join(format!("bwmon-vote-{}", self.device.device))
    }

    fn open_file(&self) -> anyhow::Result<Box<dyn Votes>> {
        let path = self.path();
        let file = File::options().read(true).write(true).open(&path);
        Ok(Box::new(file.with_context(|| format!("open {}", path.display()))?))
    }

    /// An error unless the device speaks our version and has all paths that the board names.
    fn must_have_paths(&self, votes: &dyn Votes) -> anyhow::Result<()> {
        let path = self.path();
        let text = votes.read().with_context(|| format!("read {}", path.display()))?;
        let Some(rows) = rows(&text) else {
            bail!("{} does not speak version 1 of its interface", path.display());
        };
        for wanted in &self.device.paths {
            if find(&rows, wanted).is_none() {
                let there: Vec<String> =
                    rows.iter().map(|row| format!("{} ({})", row.index, row.name)).collect();
                bail!("{} has no path {wanted}; it has {}", path.display(), there.join(", "));
            }
        }
        Ok(())
    }

    /// Binds the device to the module, if it is not.
    fn bind(&self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        let binding = Binding::new(&self.root, &self.device.device);
        let driver = binding.driver();
        if driver.as_deref() == Some(VOTE_DRIVER) {
            return Ok(());
        }
        let device = self.device.device.clone();
        restore.note(Item::VoteDevice { device, driver: driver.clone() })?;
        if let Some(driver) = &driver {
            binding.unbind(driver).with_context(|| format!("cannot unbind {driver}"))?;
        }
        binding.allow_only(Some(VOTE_DRIVER)).context("driver_override")?;
        binding
            .bind(VOTE_DRIVER)
            .context("the module did not take it; the kernel's log says why")?;
        Ok(())
    }

    /// The peaks of `level`, one per path.
    fn peaks(&self, level: Level) -> impl Iterator<Item = (&String, Kbps)> {
        self.device.paths.iter().zip(self.table.row(level).iter().copied())
    }

    fn failed(&self, what: &str, error: &io::Error) -> Applied {
        let place = format!("{}: {what}", self.path().display());
        // The module answers ENODEV once its device is gone; the open file does not go before.
        refusal::answer(error, &place, &self.object(), true)
    }

    /// Votes the peaks of `level` on the first `count` paths again.
    fn undo(&mut self, count: usize) {
        let (Some(level), Some(votes)) = (self.written, &self.votes) else { return };
        let undone = self
            .peaks(level)
            .take(count)
            .all(|(path, peak)| votes.write(&line(path, peak)).is_ok());
        if !undone {
            // Neither the old level nor the new one: no look may take it for somebody else's.
            self.written = None;
        }
    }

    /// What is in force of `level`: our own vote as written, and nothing below it for all.
    fn compare(&self, votes: &dyn Votes, level: Level) -> Applied {
        let text = match votes.read() {
            Ok(text) => text,
            Err(error) => return self.failed("reading it back", &error),
        };
        let rows = rows(&text).unwrap_or_default();
        for (path, peak) in self.peaks(level) {
            match find(&rows, path) {
                None => return Applied::Refused { why: format!("{}: {text:?}", self.object()) },
                Some(row) if row.own != peak => return Applied::Clamped { found: row.own.0 },
                // Others who have the device open can only raise it.
                Some(row) if row.all < peak => return Applied::NotHonoured { found: row.all.0 },
                Some(_) => {}
            }
        }
        Applied::Placed
    }
}

/// A vote as the module reads it.
fn line(path: &str, peak: Kbps) -> String {
    format!("{path} 0 {}\n", peak.0)
}

fn find<'a>(rows: &'a [Row], path: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.index == path || row.name == path)
}

impl Voter for DeviceVoter {
    fn name(&self) -> String {
        let paths = self.device.paths.join(" ");
        format!("vote device {} path {paths} (kernel module, a floor)", self.device.device)
    }

    fn object(&self) -> String {
        format!("vote device {}", self.device.device)
    }

    fn level_in_force(&self) -> Option<Level> {
        let text = match &self.votes {
            Some(votes) => votes.read().ok()?,
            None => self.open_file().ok()?.read().ok()?,
        };
        let rows = rows(&text)?;
        let row = find(&rows, self.device.paths.first()?)?;
        self.table.kbps().iter().rposition(|kbps| *kbps <= row.all).map(Level)
    }

    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        self.bind(restore).with_context(|| self.object())?;
        let votes = self.open_file()?;
        self.must_have_paths(&*votes)?;
        self.votes = Some(votes);
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let level = level.min(self.table.top());
        let Some(votes) = &self.votes else {
            return Applied::Refused { why: format!("{} is not open", self.object()) };
        };
        let failure = self.peaks(level).enumerate().find_map(|(done, (path, peak))| {
            let error = votes.write(&line(path, peak)).err()?;
            Some((done, self.failed(&format!("path {path}, {peak} kBps"), &error)))
        });
        if let Some((done, answer)) = failure {
            self.undo(done);
            return answer;
        }
        let answer = self.compare(&**votes, level);
        self.written = Some(level);
        answer
    }

    fn look(&mut self) -> Applied {
        let (Some(votes), Some(level)) = (&self.votes, self.written) else {
            return Applied::InForce;
        };
        match self.compare(&**votes, level) {
            Applied::Placed => Applied::InForce,
            answer => answer,
        }
    }

    /// Only we write to our open file, so what differs is never somebody else's doing.
    fn is_lost(&self) -> bool {
        true
    }
}

/// Takes the device from the module and gives it to `driver`, which had it before.
pub(super) fn put_back(root: &Root, device: &str, driver: Option<&str>) -> io::Result<String> {
    let binding = Binding::new(root, device);
    if !binding.present() {
        return Ok("it is gone: nothing to put back".into());
    }
    // A word of somebody else's stays.
    if binding.only().as_deref() == Some(VOTE_DRIVER) {
        binding.allow_only(None)?;
    }
    match binding.driver() {
        Some(bound) if bound == VOTE_DRIVER => binding.unbind(VOTE_DRIVER)?,
        Some(bound) if Some(bound.as_str()) == driver => {
            return Ok(format!("{bound} has it already"));
        }
        Some(other) => return Ok(format!("left to {other}, which has it now")),
        None => {}
    }
    match driver {
        None => Ok("no driver has it, as before".into()),
        Some(driver) => {
            binding.bind(driver)?;
            Ok(format!("given back to {driver}"))
        }
    }
}

#[cfg(test)]
#[path = "vote_device_tests.rs"]
mod tests;
