//! Votes on vendor kernels: `/sys/devices/system/cpu/bus_dcvs/<HW>/boost_freq`, a floor in kHz that
//! the vendor's aggregator combines with all other voters by maximum, and that persists.

use super::refusal::{self, errno_of};
use super::restore::{Item, RestoreFile};
use super::root::{Root, names, read_line, write_value};
use super::voter::Voter;
use crate::board::{BusDcvsPath, Level};
use crate::units::Khz;
use crate::vote::Applied;
use anyhow::{Context, bail};
use rustix::io::Errno;
use std::io;
use std::path::PathBuf;

/// Where they are.
pub(super) const BUS_DCVS: &str = "/sys/devices/system/cpu/bus_dcvs";

/// One hardware block of the aggregator.
#[derive(Debug)]
pub(super) struct BusDcvsVoter {
    dir: PathBuf,
    hw: String,
    freqs: Vec<Khz>,
    written: Option<Written>,
    /// The floor before ours.
    before: Option<u64>,
}

/// A vote, and what it read back as.
#[derive(Clone, Copy, Debug)]
struct Written {
    ours: Khz,
    found: u64,
}

impl BusDcvsVoter {
    /// Looks at the block; changes nothing.
    pub(super) fn open(root: &Root, path: &BusDcvsPath) -> anyhow::Result<Self> {
        let dir = root.path(BUS_DCVS).join(&path.hw);
        if !dir.join("boost_freq").exists() {
            let found = names(&root.path(BUS_DCVS));
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            bail!("there is no bus_dcvs/{} with a boost_freq; this machine has {found}", path.hw);
        }
        let listed = read_line(&dir.join("available_frequencies"))
            .with_context(|| format!("bus_dcvs {}: available_frequencies", path.hw))?;
        let known: Vec<u64> = listed.split_whitespace().flat_map(str::parse).collect();
        if let Some(freq) = path.freq_khz.iter().find(|freq| !known.contains(&freq.0)) {
            bail!("bus_dcvs {} has no frequency {} kHz; it lists: {listed}", path.hw, freq.0);
        }
        let (hw, freqs) = (path.hw.clone(), path.freq_khz.clone());
        Ok(Self { dir, hw, freqs, written: None, before: None })
    }

    fn failed(&self, error: &io::Error, freq: Khz) -> Applied {
        let place = self.dir.join("boost_freq").display().to_string();
        let why = match errno_of(error) {
            // drivers of the vendor tree: EPERM without a slow path, EINVAL above the maximum.
            Some(Errno::PERM) => "the block has no slow path to vote through".to_owned(),
            Some(Errno::INVAL) => format!("{} kHz is above hw_max_freq", freq.0),
            _ => return refusal::answer(error, &place, &self.object(), self.dir.exists()),
        };
        let told = refusal::say(error, format!("{} ({why})", refusal::named(error)));
        refusal::answer(&told, &place, &self.object(), self.dir.exists())
    }

    /// What is in force of `written`, if that is less.
    fn came_to(&self, written: Written) -> Option<Applied> {
        match self.number("cur_freq") {
            _ if written.found != written.ours.0 => Some(Applied::Clamped { found: written.found }),
            // A floor: others may hold the clock higher, nobody lower.
            Some(current) if current < written.ours.0 => {
                Some(Applied::NotHonoured { found: current })
            }
            _ => None,
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        read_line(&self.dir.join(name)).ok()?.parse().ok()
    }
}

impl Voter for BusDcvsVoter {
    fn name(&self) -> String {
        format!("bus_dcvs {} (boost_freq, a floor)", self.hw)
    }

    fn object(&self) -> String {
        format!("bus_dcvs {}", self.hw)
    }

    fn level_in_force(&self) -> Option<Level> {
        let current = self.number("cur_freq")?;
        let below = self.freqs.iter().filter(|freq| freq.0 <= current).count();
        below.checked_sub(1).map(Level)
    }

    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        let Some(boost_khz) = self.number("boost_freq") else {
            bail!("bus_dcvs {}: boost_freq does not read as a number", self.hw);
        };
        restore.note(Item::BusDcvs { hw: self.hw.clone(), boost_khz })?;
        self.before = Some(boost_khz);
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let Some(freq) = self.freqs.get(level.0).or(self.freqs.last()).copied() else {
            return Applied::Refused { why: format!("bus_dcvs {} has no levels", self.hw) };
        };
        if let Err(error) = write_value(&self.dir.join("boost_freq"), &freq.0.to_string()) {
            return self.failed(&error, freq);
        }
        let found = self.number("boost_freq").unwrap_or(freq.0);
        let written = Written { ours: freq, found };
        self.written = Some(written);
        self.came_to(written).unwrap_or(Applied::Placed)
    }

    fn look(&mut self) -> Applied {
        match (self.number("boost_freq"), self.written) {
            (None, _) if !self.dir.exists() => Applied::Gone { what: self.object() },
            (Some(now), Some(Written { ours, found })) if now != found => Applied::Foreign {
                what: format!("{}: boost_freq is now {now}, we wrote {}", self.object(), ours.0),
            },
            (Some(_), Some(written)) => self.came_to(written).unwrap_or(Applied::InForce),
            _ => Applied::InForce,
        }
    }

    fn is_lost(&self) -> bool {
        let now = self.number("boost_freq");
        now.is_some() && (now == self.before || now == Some(0))
    }
}

/// Gives the floor before ours back.
pub(super) fn put_back(root: &Root, hw: &str, boost_khz: u64) -> io::Result<String> {
    let file = root.path(BUS_DCVS).join(hw).join("boost_freq");
    if !file.exists() {
        return Ok("it is gone: nothing to put back".into());
    }
    refusal::write_named(&file, &boost_khz.to_string())?;
    Ok(format!("boost_freq back to {boost_khz} kHz"))
}
