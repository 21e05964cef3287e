//! Votes through devfreq's `min_freq` and `max_freq`, where the governor is to stay.
//!
//! Both are PM QoS requests (drivers/devfreq/devfreq.c): they are kept in kHz (the minimum rounded
//! down, the maximum up), reading them gives the aggregate over everybody's requests, and where they
//! cross the maximum wins. So the order matters: to rise, the maximum goes first; to fall, the
//! minimum.

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
    written: Option<Hz>,
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
        Ok(Self { dir, device, freqs, written: None })
    }

    fn number(&self, name: &str) -> Option<u64> {
        read_line(&self.dir.join(name)).ok()?.parse().ok()
    }

    fn write(&self, name: &str, value: u64) -> Result<(), Applied> {
        let path = self.dir.join(name);
        write_value(&path, &value.to_string()).map_err(|error| {
            if self.dir.exists() {
                Applied::Refused { why: format!("{}: {error}", path.display()) }
            } else {
                Applied::Gone { what: format!("devfreq {}", self.device) }
            }
        })
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
        Ok(())
    }

    fn vote(&mut self, level: Level) -> Applied {
        let Some(freq) = self.freqs.get(level.0).or(self.freqs.last()).copied() else {
            return Applied::Refused { why: format!("devfreq {} has no levels", self.device) };
        };
        let rises = self.written.is_none_or(|before| freq >= before);
        let order = if rises { ["max_freq", "min_freq"] } else { ["min_freq", "max_freq"] };
        for file in order {
            if let Err(answer) = self.write(file, freq.0) {
                return answer;
            }
        }
        self.written = Some(freq);
        let khz = |hz: u64| hz / 1_000;
        match (self.number("min_freq"), self.number("max_freq"), self.number("cur_freq")) {
            // Somebody else's limit is stricter: a floor above ours, or a ceiling below.
            (Some(min), ..) if khz(min) != khz(freq.0) => Applied::Clamped { found: min },
            (_, Some(max), _) if max.div_ceil(1_000) != freq.0.div_ceil(1_000) => {
                Applied::Clamped { found: max }
            }
            (.., Some(current)) if current != freq.0 => Applied::NotHonoured { found: current },
            _ => Applied::Placed,
        }
    }

    fn look(&self) -> Applied {
        let Some(ours) = self.written else { return Applied::InForce };
        let (min, max) = (self.number("min_freq"), self.number("max_freq"));
        match (min, max) {
            (None, _) | (_, None) if !self.dir.exists() => {
                Applied::Gone { what: format!("devfreq {}", self.device) }
            }
            // The aggregate can be stricter than our request, never looser: then ours is gone.
            (Some(min), _) if min / 1_000 < ours.0 / 1_000 && max.is_none_or(|max| max > min) => {
                let device = &self.device;
                let what = format!("devfreq {device}: min_freq is now {min}, we wrote {ours}");
                Applied::Foreign { what }
            }
            (_, Some(max)) if max.div_ceil(1_000) > ours.0.div_ceil(1_000) => {
                let device = &self.device;
                let what = format!("devfreq {device}: max_freq is now {max}, we wrote {ours}");
                Applied::Foreign { what }
            }
            _ => Applied::InForce,
        }
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
    write_value(&dir.join(name), &text)
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
}
