//! Votes through devfreq: the `userspace` governor and its `set_freq`.
//!
//! The kernel accepts garbage silently and clamps what it likes (reference: drivers/devfreq/
//! governor_userspace.c), so only frequencies from `available_frequencies` are written and every
//! write is read back from `target_freq` and `cur_freq`.

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
    #[error("{}: {error}", path.display())]
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
            return self.failed(error);
        }
        self.written = Some(freq);
        let target = self.number("target_freq");
        let current = self.number("cur_freq");
        match (target, current) {
            (Some(target), _) if target != freq.0 => Applied::Clamped { found: target },
            (_, Some(current)) if current != freq.0 => Applied::NotHonoured { found: current },
            _ => Applied::Placed,
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
            Err(error) => return self.failed(error),
        }
        match (self.number("userspace/set_freq"), self.written) {
            (Some(found), Some(ours)) if found != ours.0 => Applied::Foreign {
                what: format!("devfreq {}: set_freq is now {found}, we wrote {ours}", self.device),
            },
            _ => Applied::InForce,
        }
    }

    fn failed(&self, error: DevfreqError) -> Applied {
        if !self.dir.exists() {
            return Applied::Gone { what: format!("devfreq {}", self.device) };
        }
        Applied::Refused { why: error.to_string() }
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

    fn look(&self) -> Applied {
        self.stands()
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
        write_value(&dir.join("userspace/set_freq"), &target.to_string())?;
        return Ok(format!("frequency back to {target} Hz"));
    }
    write_value(&dir.join("governor"), governor)?;
    let found = read_line(&dir.join("governor"))?;
    if found == governor {
        Ok(format!("governor back to {governor}"))
    } else {
        Err(io::Error::other(format!("governor reads back {found} instead of {governor}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::DevfreqKnob;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let dir = root.path("/sys/class/devfreq/noc");
        std::fs::create_dir_all(dir.join("userspace")).unwrap();
        let defaults = [
            ("available_governors", "userspace performance\n"),
            ("available_frequencies", "100 200 300\n"),
            ("governor", "performance\n"),
            ("target_freq", "300\n"),
            ("cur_freq", "300\n"),
            ("userspace/set_freq", "undefined\n"),
        ];
        for (name, text) in defaults.iter().chain(files) {
            std::fs::write(dir.join(name), text).unwrap();
        }
        let random = root.path("/proc/sys/kernel/random");
        std::fs::create_dir_all(&random).unwrap();
        std::fs::write(random.join("boot_id"), "one\n").unwrap();
        (folder, root)
    }

    fn path() -> DevfreqPath {
        DevfreqPath {
            device: "noc".into(),
            freq_hz: vec![Hz(100), Hz(200), Hz(300)],
            through: DevfreqKnob::Userspace,
        }
    }

    fn file(root: &Root, name: &str) -> String {
        std::fs::read_to_string(root.path("/sys/class/devfreq/noc").join(name)).unwrap()
    }

    #[test]
    fn what_was_there_is_noted_before_the_governor_changes() {
        let (_folder, root) = tree(&[]);
        let state = root.path("/run/bwmon");
        std::fs::create_dir_all(&state).unwrap();
        let mut restore = RestoreFile::new(&root, &state);
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        assert_eq!(voter.level_in_force(), Some(Level(2)));
        voter.take_over(&mut restore).unwrap();
        assert_eq!(file(&root, "governor"), "userspace");
        let governor = "performance".to_owned();
        let noted = Item::Devfreq { device: "noc".into(), governor, target_hz: Some(300) };
        assert_eq!(restore.items(), [noted]);
    }

    #[test]
    fn without_a_restore_file_nothing_is_touched() {
        let (_folder, root) = tree(&[]);
        let mut restore = RestoreFile::new(&root, &root.path("/run/not-there"));
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        assert!(matches!(voter.take(&mut restore), Err(DevfreqError::Restore(_))));
        assert_eq!(file(&root, "governor"), "performance\n");
        assert_eq!(restore.items(), []);
    }

    #[test]
    fn a_vote_that_reads_back_otherwise_is_clamped_or_not_honoured() {
        // A fake tree does not answer: target and current stay at 300.
        let (_folder, root) = tree(&[]);
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        assert_eq!(voter.vote(Level(2)), Applied::Placed);
        assert_eq!(voter.vote(Level(0)), Applied::Clamped { found: 300 });
        assert_eq!(file(&root, "userspace/set_freq"), "100");
        let (_folder, root) = tree(&[("target_freq", "100\n")]);
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        assert_eq!(voter.vote(Level(0)), Applied::NotHonoured { found: 300 });
    }

    #[test]
    fn foreign_writes_to_governor_and_set_freq_are_seen() {
        let (_folder, root) = tree(&[("governor", "userspace\n")]);
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        voter.vote(Level(2));
        assert_eq!(voter.look(), Applied::InForce);
        std::fs::write(root.path("/sys/class/devfreq/noc/userspace/set_freq"), "100\n").unwrap();
        assert!(matches!(voter.look(), Applied::Foreign { .. }));
        std::fs::write(root.path("/sys/class/devfreq/noc/governor"), "powersave\n").unwrap();
        let Applied::Foreign { what } = voter.look() else { panic!("foreign") };
        assert_eq!(what, "devfreq noc: governor is now powersave");
    }

    #[test]
    fn a_device_that_vanishes_is_gone_and_one_that_refuses_says_why() {
        let (_folder, root) = tree(&[]);
        let mut voter = DevfreqVoter::open(&root, &path()).unwrap();
        let set_freq = root.path("/sys/class/devfreq/noc/userspace");
        std::fs::remove_dir_all(&set_freq).unwrap();
        let Applied::Refused { why } = voter.vote(Level(0)) else { panic!("refused") };
        assert!(why.contains("userspace/set_freq"), "{why}");
        std::fs::remove_dir_all(root.path("/sys/class/devfreq/noc")).unwrap();
        assert_eq!(voter.vote(Level(0)), Applied::Gone { what: "devfreq noc".into() });
        assert_eq!(voter.look(), Applied::Gone { what: "devfreq noc".into() });
    }

    #[test]
    fn what_is_missing_is_named_together_with_what_is_there() {
        let (_folder, root) = tree(&[]);
        let other = DevfreqPath { device: "gpu".into(), ..path() };
        let error = DevfreqVoter::open(&root, &other).unwrap_err().to_string();
        assert_eq!(error, "there is no devfreq device gpu; this machine has noc");
        let (_folder, root) = tree(&[("available_governors", "performance\n")]);
        let error = DevfreqVoter::open(&root, &path()).unwrap_err().to_string();
        assert!(error.contains("offers: performance"), "{error}");
        let (_folder, root) = tree(&[("available_frequencies", "100 300\n")]);
        let error = DevfreqVoter::open(&root, &path()).unwrap_err().to_string();
        assert!(error.contains("no frequency 200 Hz"), "{error}");
    }
}
