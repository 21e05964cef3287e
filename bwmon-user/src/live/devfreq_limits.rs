//! Votes through devfreq's `min_freq` and `max_freq`, where the governor is to stay.
//!
//! Both are PM QoS requests (drivers/devfreq/devfreq.c): they are kept in kHz (the minimum rounded
//! down, the maximum up), reading them gives the aggregate over everybody's requests, and where they
//! cross the maximum wins. So the order matters: to rise, the maximum goes first; to fall, the
//! minimum.
//!
//! All writers of one file share one request, drivers (thermal) have requests of their own, and the
//! aggregate does not tell the two apart. Writing our own value again does: a stricter limit that
//! goes away with it was in our file, so somebody else has written there. It is written back.

use super::refusal;
use super::restore::{Item, RestoreFile};
use super::root::{Root, names, read_line, write_value};
use super::voter::Voter;
use crate::board::{DevfreqPath, Level};
use crate::units::Hz;
use crate::vote::Applied;
use anyhow::{Context, bail};
use std::io;
use std::path::{Path, PathBuf};

const CLASS: &str = "/sys/class/devfreq";

/// A device whose limits are ours.
#[derive(Debug)]
pub(super) struct LimitsVoter {
    dir: PathBuf,
    device: String,
    freqs: Vec<Hz>,
    /// Our requests, each as it was last taken.
    floor: Option<u64>,
    ceiling: Option<u64>,
    /// Both limits before ours.
    before: Option<(u64, u64)>,
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Min,
    Max,
}

impl Limit {
    fn file(self) -> &'static str {
        match self {
            Self::Min => "min_freq",
            Self::Max => "max_freq",
        }
    }

    /// What the kernel keeps of `hz`, in kHz.
    fn khz(self, hz: u64) -> u64 {
        match self {
            Self::Min => hz / 1_000,
            Self::Max => hz.div_ceil(1_000),
        }
    }
}

impl LimitsVoter {
    /// Looks at the device; changes nothing.
    pub(super) fn open(root: &Root, path: &DevfreqPath) -> anyhow::Result<Self> {
        let dir = root.path(CLASS).join(&path.device);
        if !dir.exists() {
            let found = names(&root.path(CLASS));
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            bail!("there is no devfreq device {}; this machine has {found}", path.device);
        }
        let listed = read_line(&dir.join("available_frequencies"))
            .with_context(|| format!("devfreq {}: available_frequencies", path.device))?;
        let known: Vec<u64> = listed.split_whitespace().flat_map(str::parse).collect();
        if let Some(freq) = path.freq_hz.iter().find(|freq| !known.contains(&freq.0)) {
            bail!("devfreq {} has no frequency {freq} Hz; it lists: {listed}", path.device);
        }
        for file in ["min_freq", "max_freq"] {
            read_line(&dir.join(file))
                .with_context(|| format!("devfreq {}: {file}", path.device))?;
        }
        let (device, freqs) = (path.device.clone(), path.freq_hz.clone());
        Ok(Self { dir, device, freqs, floor: None, ceiling: None, before: None })
    }

    fn number(&self, name: &str) -> Option<u64> {
        read_line(&self.dir.join(name)).ok()?.parse().ok()
    }

    fn ours(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Min => self.floor,
            Limit::Max => self.ceiling,
        }
    }

    fn write(&mut self, limit: Limit, hz: u64) -> Result<(), Applied> {
        let path = self.dir.join(limit.file());
        write_value(&path, &hz.to_string()).map_err(|error| {
            let place = path.display().to_string();
            refusal::answer(&error, &place, &self.object(), self.dir.exists())
        })?;
        match limit {
            Limit::Min => self.floor = Some(hz),
            Limit::Max => self.ceiling = Some(hz),
        }
        Ok(())
    }

    /// Both limits to `hz`, in the order in which they never cross; if the second is refused, the
    /// first is as before.
    fn write_both(&mut self, hz: u64) -> Result<(), Applied> {
        let floor = self.floor.or_else(|| self.number("min_freq"));
        let falls = floor.is_some_and(|floor| hz < floor);
        let (first, second) =
            if falls { (Limit::Min, Limit::Max) } else { (Limit::Max, Limit::Min) };
        let before = self.ours(first);
        self.write(first, hz)?;
        self.write(second, hz).inspect_err(|_| {
            if let Some(before) = before {
                // If this fails too, the half vote is known as ours: see `write`.
                let _ = self.write(first, before);
            }
        })
    }

    /// Whether the limit `found`, which is stricter than ours, was written over our request.
    fn is_over_ours(&mut self, limit: Limit, ours: u64, found: u64) -> bool {
        if self.write(limit, ours).is_err() {
            return false;
        }
        let back = self.number(limit.file()).is_some_and(|now| limit.khz(now) == limit.khz(ours));
        if back {
            let _ = write_value(&self.dir.join(limit.file()), &found.to_string());
        }
        back
    }

    fn foreign(&self, limit: Limit, found: u64, ours: u64) -> Applied {
        let (device, file) = (&self.device, limit.file());
        Applied::Foreign {
            what: format!("devfreq {device}: {file} is now {found}, we wrote {ours}"),
        }
    }

    /// What is in force of `ours`, if that is something else.
    fn came_to(&self, ours: u64) -> Option<Applied> {
        match (self.number("min_freq"), self.number("max_freq"), self.number("cur_freq")) {
            // Somebody else's limit is stricter: a floor above ours, or a ceiling below.
            (Some(min), ..) if Limit::Min.khz(min) != Limit::Min.khz(ours) => {
                Some(Applied::Clamped { found: min })
            }
            (_, Some(max), _) if Limit::Max.khz(max) != Limit::Max.khz(ours) => {
                Some(Applied::Clamped { found: max })
            }
            (.., Some(current)) if current != ours => Some(Applied::NotHonoured { found: current }),
            _ => None,
        }
    }
}

impl Voter for LimitsVoter {
    fn name(&self) -> String {
        format!("devfreq {} (limits)", self.device)
    }

    fn object(&self) -> String {
        format!("devfreq {}", self.device)
    }

    fn level_in_force(&self) -> Option<Level> {
        let current = self.number("cur_freq")?;
        let below = self.freqs.iter().filter(|freq| freq.0 <= current).count();
        below.checked_sub(1).map(Level)
    }

    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        let (min_hz, max_hz) = (self.number("min_freq"), self.number("max_freq"));
        let (Some(min_hz), Some(max_hz)) = (min_hz, max_hz) else {
            bail!("devfreq {}: its limits do not read as numbers", self.device);
        };
        restore.note(Item::DevfreqLimits { device: self.device.clone(), min_hz, max_hz })?;
        self.before = Some((min_hz, max_hz));
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let Some(freq) = self.freqs.get(level.0).or(self.freqs.last()).copied() else {
            return Applied::Refused { why: format!("devfreq {} has no levels", self.device) };
        };
        match self.write_both(freq.0) {
            Ok(()) => self.came_to(freq.0).unwrap_or(Applied::Placed),
            Err(answer) => answer,
        }
    }

    fn look(&mut self) -> Applied {
        let (Some(floor), Some(ceiling)) = (self.floor, self.ceiling) else {
            return Applied::InForce;
        };
        let (Some(min), Some(max)) = (self.number("min_freq"), self.number("max_freq")) else {
            return if self.dir.exists() {
                let why = format!("{}: its limits do not read as numbers", self.object());
                Applied::Refused { why }
            } else {
                Applied::Gone { what: self.object() }
            };
        };
        let (low, high) = (Limit::Min.khz(min), Limit::Max.khz(max));
        let (our_low, our_high) = (Limit::Min.khz(floor), Limit::Max.khz(ceiling));
        // The aggregate can be stricter than our request, never looser: then ours is gone.
        if high > our_high || high < our_high && self.is_over_ours(Limit::Max, ceiling, max) {
            return self.foreign(Limit::Max, max, ceiling);
        }
        // A ceiling below our floor takes the floor with it.
        let loose = low < our_low && max > min;
        if loose || low > our_low && self.is_over_ours(Limit::Min, floor, min) {
            return self.foreign(Limit::Min, min, floor);
        }
        if floor != ceiling {
            return Applied::InForce;
        }
        self.came_to(floor).unwrap_or(Applied::InForce)
    }

    fn is_lost(&self) -> bool {
        let now = self.number("min_freq").zip(self.number("max_freq"));
        now.is_some() && now == self.before
    }
}

/// Gives the limits back. What was read before is the aggregate: a limit at the table's end was no
/// request of anybody's, so none is left behind (0).
pub(super) fn put_back(root: &Root, device: &str, min_hz: u64, max_hz: u64) -> io::Result<String> {
    let dir = root.path(CLASS).join(device);
    if !dir.exists() {
        return Ok("it is gone: nothing to put back".into());
    }
    let listed = read_line(&dir.join("available_frequencies")).unwrap_or_default();
    let known: Vec<u64> = listed.split_whitespace().flat_map(str::parse).collect();
    let min = if known.iter().min().is_none_or(|least| min_hz <= *least) { 0 } else { min_hz };
    let max = if known.iter().max().is_none_or(|most| max_hz >= *most) { 0 } else { max_hz };
    // Wide open first, so that the two cannot cross on the way.
    write(&dir, "max_freq", 0)?;
    write(&dir, "min_freq", min)?;
    write(&dir, "max_freq", max)?;
    let said = |hz: u64, none: &str| if hz == 0 { none.to_owned() } else { format!("{hz} Hz") };
    Ok(format!("limits back to {} and {}", said(min, "no floor"), said(max, "no ceiling")))
}

fn write(dir: &Path, name: &str, value: u64) -> io::Result<()> {
    let text = value.to_string();
    write_value(&dir.join(name), &text).map_err(|error| {
        let told = format!("{name}: {}", refusal::named(&error));
        refusal::say(&error, told)
    })
}

#[cfg(test)]
#[path = "devfreq_limits_tests.rs"]
mod tests;
