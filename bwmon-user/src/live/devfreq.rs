//! Votes through devfreq: the `userspace` governor and its `set_freq`.
//!
//! The kernel accepts garbage silently and clamps what it likes (reference: drivers/devfreq/
//! governor_userspace.c), so only frequencies from `available_frequencies` are written and every
//! write is read back from `target_freq` and `cur_freq`.

use super::refusal::{self, write_named};
use super::restore::{Item, RestoreError, RestoreFile};
use super::root::{Root, names, read_line, write_value};
use super::voter::Voter;
use crate::board::{DevfreqPath, Level};
use crate::units::Hz;
use crate::vote::Applied;
use std::io;
use std::path::PathBuf;

const CLASS: &str = "/sys/class/devfreq";
/// The governor that lets us choose.
const OURS: &str = "userspace";

/// Why a devfreq device cannot be voted through.
#[derive(Debug, thiserror::Error)]
pub enum DevfreqError {
    /// No such device.
    #[error("there is no devfreq device {device}; this machine has {found}")]
    NoDevice {
        /// The device.
        device: String,
        /// Those that are there.
        found: String,
    },
    /// The governor is not there.
    #[error(
        "devfreq {device} cannot have the governor {OURS} (it offers: {offers}); load \
         governor_userspace or use a kernel with CONFIG_DEVFREQ_GOV_USERSPACE"
    )]
    NoGovernor {
        /// The device.
        device: String,
        /// What it offers.
        offers: String,
    },
    /// It is under no governor that could be put back.
    #[error(
        "devfreq {device} is under the governor \"{governor}\", which it does not offer: nothing \
         could be put back"
    )]
    NoGovernorNow {
        /// The device.
        device: String,
        /// What it says.
        governor: String,
    },
    /// The board file names frequencies that the device does not list.
    #[error("devfreq {device} has no frequency {freq} Hz; it lists: {listed}")]
    UnlistedFrequency {
        /// The device.
        device: String,
        /// The frequency.
        freq: Hz,
        /// What it lists.
        listed: String,
    },
    /// A file could not be read or written.
    #[error("{}: {}", path.display(), refusal::named(error))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Another value came back.
    #[error("devfreq {device} took the governor {OURS} and reads back {found}")]
    NotTaken {
        /// The device.
        device: String,
        /// What it reads back.
        found: String,
    },
    /// The restore file could not be written, so nothing was touched.
    #[error(transparent)]
    Restore(#[from] RestoreError),
}

/// One domain's devfreq device.
#[derive(Debug)]
pub struct DevfreqVoter {
    dir: PathBuf,
    device: String,
    freqs: Vec<Hz>,
    written: Option<Hz>,
}

impl DevfreqVoter {
    /// Looks at the device; changes nothing.
    ///
    /// # Errors
    /// What is missing, and what is there instead.
    pub fn open(root: &Root, path: &DevfreqPath) -> Result<Self, DevfreqError> {
        let device = path.device.clone();
        let dir = root.path(CLASS).join(&device);
        if !dir.exists() {
            let found = names(&root.path(CLASS));
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            return Err(DevfreqError::NoDevice { device, found });
        }
        let voter = Self { dir, device, freqs: path.freq_hz.clone(), written: None };
        let device = voter.device.clone();
        let offers = voter.read("available_governors")?;
        if !offers.split_whitespace().any(|name| name == OURS) {
            return Err(DevfreqError::NoGovernor { device, offers });
        }
        let listed = voter.read("available_frequencies")?;
        let known: Vec<u64> = listed.split_whitespace().flat_map(str::parse).collect();
        match voter.freqs.iter().find(|freq| !known.contains(&freq.0)) {
            Some(freq) => Err(DevfreqError::UnlistedFrequency { device, freq: *freq, listed }),
            None => Ok(voter),
        }
    }

    /// Notes what is there and takes the device over.
    ///
    /// # Errors
    /// When that could not be noted (nothing was changed), or the governor was not taken.
    fn take(&mut self, restore: &mut RestoreFile) -> Result<(), DevfreqError> {
        let governor = self.read("governor")?;
        let offers = self.read("available_governors")?;
        if !offers.split_whitespace().any(|name| name == governor) {
            return Err(DevfreqError::NoGovernorNow { device: self.device.clone(), governor });
        }
        let target_hz = self.read("target_freq").ok().and_then(|text| text.parse().ok());
        restore.note(Item::Devfreq {
            device: self.device.clone(),
            governor: governor.clone(),
            target_hz,
        })?;
        if governor != OURS {
            self.write("governor", OURS)?;
            let found = self.read("governor")?;
            if found != OURS {
                let device = self.device.clone();
                return Err(DevfreqError::NotTaken { device, found });
            }
        }
        Ok(())
    }

    /// Votes for `level` and reads back what came of it.
    fn place(&mut self, level: Level) -> Applied {
        let Some(freq) = self.freqs.get(level.0).or(self.freqs.last()).copied() else {
            return Applied::Refused { why: format!("devfreq {} has no levels", self.device) };
        };
        if let Err(error) = self.write("userspace/set_freq", &freq.to_string()) {
            return self.failed(&error);
        }
        self.written = Some(freq);
        self.came_to(freq).unwrap_or(Applied::Placed)
    }

    /// What the device makes of `freq`, if that is something else.
    fn came_to(&self, freq: Hz) -> Option<Applied> {
        match (self.number("target_freq"), self.number("cur_freq")) {
            (Some(target), _) if target != freq.0 => Some(Applied::Clamped { found: target }),
            (_, Some(current)) if current != freq.0 => {
                Some(Applied::NotHonoured { found: current })
            }
            _ => None,
        }
    }

    /// Whether what we wrote still stands.
    fn stands(&self) -> Applied {
        match self.read("governor") {
            Ok(governor) if governor != OURS => {
                return Applied::Foreign {
                    what: format!("devfreq {}: governor is now {governor}", self.device),
                };
            }
            Ok(_) => {}
            Err(error) => return self.failed(&error),
        }
        let Some(ours) = self.written else { return Applied::InForce };
        match self.read("userspace/set_freq") {
            Ok(found) if found != ours.to_string() => Applied::Foreign {
                what: format!("devfreq {}: set_freq is now {found}, we wrote {ours}", self.device),
            },
            _ => self.came_to(ours).unwrap_or(Applied::InForce),
        }
    }

    fn failed(&self, error: &DevfreqError) -> Applied {
        match error {
            DevfreqError::Io { path, error } => {
                let place = path.display().to_string();
                refusal::answer(error, &place, &self.object(), self.dir.exists())
            }
            other => Applied::Refused { why: other.to_string() },
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.read(name).ok()?.parse().ok()
    }

    fn read(&self, name: &str) -> Result<String, DevfreqError> {
        let path = self.dir.join(name);
        read_line(&path).map_err(|error| DevfreqError::Io { path, error })
    }

    fn write(&self, name: &str, value: &str) -> Result<(), DevfreqError> {
        let path = self.dir.join(name);
        write_value(&path, value).map_err(|error| DevfreqError::Io { path, error })
    }
}

impl Voter for DevfreqVoter {
    fn name(&self) -> String {
        format!("devfreq {} (userspace)", self.device)
    }

    fn object(&self) -> String {
        format!("devfreq {}", self.device)
    }

    /// The highest level whose frequency is not above the one in force; `None` if that cannot be
    /// read or lies below the lowest.
    fn level_in_force(&self) -> Option<Level> {
        let target: u64 = self.read("target_freq").ok()?.parse().ok()?;
        let below = self.freqs.iter().filter(|freq| freq.0 <= target).count();
        below.checked_sub(1).map(Level)
    }

    fn take_over(&mut self, restore: &mut RestoreFile) -> anyhow::Result<()> {
        Ok(self.take(restore)?)
    }

    fn vote(&mut self, level: Level) -> Applied {
        self.place(level)
    }

    fn look(&mut self) -> Applied {
        self.stands()
    }

    /// The governor is ours and was never told a frequency.
    fn is_lost(&self) -> bool {
        let undefined = self.read("userspace/set_freq").is_ok_and(|text| text == "undefined");
        undefined && self.read("governor").is_ok_and(|governor| governor == OURS)
    }
}

/// Puts a device back to `governor`, or, where that is the governor that we use too, to the
/// frequency before ours. Says what it did.
pub(super) fn put_back(
    root: &Root,
    device: &str,
    governor: &str,
    target_hz: Option<u64>,
) -> io::Result<String> {
    let dir = root.path(CLASS).join(device);
    if !dir.exists() {
        return Ok("it is gone: nothing to put back".into());
    }
    let now = read_line(&dir.join("governor"))?;
    // No governor at all: the kernel leaves a device so when a switch failed twice.
    if now != OURS && !now.is_empty() {
        return Ok(if now == governor {
            format!("governor is {governor} already")
        } else {
            format!("left at governor {now}, which somebody else chose")
        });
    }
    if governor == OURS && !now.is_empty() {
        let Some(target) = target_hz else {
            return Ok("its frequency before ours is not known: left as it is".into());
        };
        write_named(&dir.join("userspace/set_freq"), &target.to_string())?;
        return Ok(format!("frequency back to {target} Hz"));
    }
    write_named(&dir.join("governor"), governor)?;
    let found = read_line(&dir.join("governor"))?;
    if found == governor {
        Ok(format!("governor back to {governor}"))
    } else {
        Err(io::Error::other(format!("governor reads back {found} instead of {governor}")))
    }
}

#[cfg(test)]
#[path = "devfreq_tests.rs"]
mod tests;
