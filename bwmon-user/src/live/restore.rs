//! The write-ahead restore file: what was there before the first write, and putting it back.
//!
//! An item is on disk before the write that it undoes. It leaves the file when it has been put
//! back, or when somebody else has taken the object over. Items are put back in reverse order.

use super::binding::Binding;
use super::root::{Root, read_line};
use super::{bus_dcvs, devfreq, devfreq_limits, icc_client, vote_device};
use crate::ports::Outcome;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where agents keep their state.
pub const DEFAULT_STATE_DIR: &str = "/run/bwmon";

const SCHEMA: u32 = 1;

/// One thing that was, and how to put it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item {
    /// A devfreq device under another governor.
    Devfreq {
        /// Its name under `/sys/class/devfreq`.
        device: String,
        /// The governor before ours.
        governor: String,
        /// The frequency before ours, if it could be read.
        target_hz: Option<u64>,
    },
    /// A devfreq device whose limits are ours.
    DevfreqLimits {
        /// Its name under `/sys/class/devfreq`.
        device: String,
        /// The aggregated minimum before ours.
        min_hz: u64,
        /// The aggregated maximum before ours.
        max_hz: u64,
    },
    /// A vote through the interconnect test client.
    Icc {
        /// The path's first node.
        src: String,
        /// Its last node.
        dst: String,
        /// The vote's tag.
        tag: u32,
    },
    /// A floor of a vendor kernel's aggregator.
    BusDcvs {
        /// The block.
        hw: String,
        /// The floor before ours.
        boost_khz: u64,
    },
    /// A platform device that our kernel module was given.
    VoteDevice {
        /// The device.
        device: String,
        /// The driver that had it before, if one had.
        driver: Option<String>,
    },
    /// A platform device that a kernel driver had.
    Driver {
        /// The device.
        device: String,
        /// The driver.
        driver: String,
    },
}

impl Item {
    /// The object, for messages.
    pub fn object(&self) -> String {
        match self {
            Self::Devfreq { device, .. } | Self::DevfreqLimits { device, .. } => {
                format!("devfreq {device}")
            }
            Self::Icc { src, dst, .. } => format!("interconnect {src}-{dst}"),
            Self::BusDcvs { hw, .. } => format!("bus_dcvs {hw}"),
            Self::VoteDevice { device, .. } | Self::Driver { device, .. } => {
                format!("device {device}")
            }
        }
    }
}

/// Why a restore file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// It cannot be read or written.
    #[error("cannot {what} the restore file {}: {error}", path.display())]
    Io {
        /// `read`, `write` or `remove`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// `/proc/sys/kernel/random/boot_id` cannot be read.
    #[error(
        "it cannot be told which boot this is (is /proc mounted?), so the restore file {} is of no \
         use; nothing was changed",
        path.display()
    )]
    UnknownBoot {
        /// The file.
        path: PathBuf,
    },
    /// It holds something else.
    #[error(
        "the restore file {} is broken ({error}); nothing was changed. Look at it, put back what \
         it says by hand, and remove it",
        path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    schema: u32,
    program: String,
    pid: u32,
    boot_id: String,
    /// The agent ended well and left its votes on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    kept: bool,
    items: Vec<Item>,
}

/// The restore file of one state folder.
#[derive(Debug)]
pub struct RestoreFile {
    root: Root,
    path: PathBuf,
    record: Record,
    /// What was given up while the agent ran.
    left: Vec<Outcome>,
}

impl RestoreFile {
    /// An empty one in `state_dir`; nothing is on disk until the first [`RestoreFile::note`].
    pub fn new(root: &Root, state_dir: &Path) -> Self {
        Self {
            root: root.clone(),
            path: state_dir.join("restore.json"),
            record: Record {
                schema: SCHEMA,
                program: format!("bwmon {}", env!("CARGO_PKG_VERSION")),
                pid: std::process::id(),
                boot_id: boot_id(root),
                kept: false,
                items: Vec::new(),
            },
            left: Vec::new(),
        }
    }

    /// The one that an earlier agent left, or `None`. One from before the last boot is set aside
    /// (as `restore.json.old`): the machine has forgotten what it undoes. `say` is told so.
    ///
    /// # Errors
    /// When it is there and cannot be read, or it cannot be told which boot this is.
    pub fn load(
        root: &Root,
        state_dir: &Path,
        say: &mut dyn FnMut(&str),
    ) -> Result<Option<Self>, RestoreError> {
        // Left by an agent that was killed while it wrote.
        let _ = std::fs::remove_file(state_dir.join("restore.json.new"));
        let path = state_dir.join("restore.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RestoreError::Io { what: "read", path, error }),
        };
        let broken = |error: String| RestoreError::Broken { path: path.clone(), error };
        let record: Record = serde_json::from_str(&text).map_err(|e| broken(e.to_string()))?;
        if record.schema != SCHEMA {
            return Err(broken(format!("schema {} is not known", record.schema)));
        }
        let boot = boot_id(root);
        if boot.is_empty() {
            return Err(RestoreError::UnknownBoot { path });
        }
        if record.boot_id.is_empty() {
            return Err(broken("it names no boot".into()));
        }
        if record.boot_id != boot {
            let aside = path.with_extension("json.old");
            say(&format!(
                "the restore file is from an earlier boot, so nothing of it is left to put back; \
                 kept as {}",
                aside.display()
            ));
            std::fs::rename(&path, aside).map_err(|error| RestoreError::Io {
                what: "set aside",
                path,
                error,
            })?;
            return Ok(None);
        }
        Ok(Some(Self { root: root.clone(), path, record, left: Vec::new() }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is to be put back.
    pub fn items(&self) -> &[Item] {
        &self.record.items
    }

    /// Writes `item` to disk; the caller changes the object only after this.
    ///
    /// # Errors
    /// When it cannot be written: then the object must not be touched.
    pub fn note(&mut self, item: Item) -> Result<(), RestoreError> {
        if self.record.boot_id.is_empty() {
            // A file that names no boot could not be trusted later.
            return Err(RestoreError::UnknownBoot { path: self.path.clone() });
        }
        self.record.items.push(item);
        self.save().inspect_err(|_| {
            self.record.items.pop();
        })
    }

    /// Somebody else has taken `objects` over: their items are dropped, and `why` is said at the end.
    pub fn forget(&mut self, objects: &[String], why: &str) {
        let theirs = |item: &Item| objects.contains(&item.object());
        let dropped: Vec<Item> = self.record.items.extract_if(.., |item| theirs(item)).collect();
        if dropped.is_empty() {
            return;
        }
        self.left.extend(dropped.iter().map(|item| Outcome {
            object: item.object(),
            done: true,
            what: format!("left as it is: {why}"),
        }));
        // If this cannot be written the item stays on disk, and `restore` looks again.
        let _ = self.save();
    }

    /// Whether the agent that wrote it left its votes on purpose.
    pub fn is_kept(&self) -> bool {
        self.record.kept
    }

    /// Whether what is changed can stay without us. Votes through the vote device end with the
    /// process (vote_device.rs), and a path must not be left without a voter.
    pub fn can_keep(&self) -> bool {
        !self.record.items.iter().any(|item| matches!(item, Item::VoteDevice { .. }))
    }

    /// Notes that what is changed stays so on purpose, until somebody asks for the restore; says for
    /// each object that it stays, and what was given up before.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn keep(&mut self) -> Result<Vec<Outcome>, RestoreError> {
        if !self.record.items.is_empty() {
            self.record.kept = true;
            self.save().inspect_err(|_| self.record.kept = false)?;
        }
        let stays = |item: &Item| Outcome {
            object: item.object(),
            done: true,
            what: "kept as it is; `bwmon restore` puts back what was before".to_owned(),
        };
        let kept: Vec<Outcome> = self.record.items.iter().map(stays).collect();
        Ok(std::mem::take(&mut self.left).into_iter().chain(kept).collect())
    }

    /// Puts everything back, last first. Each item is tried, whatever happened to the others; what
    /// could not be done stays in the file.
    ///
    /// # Errors
    /// When the file itself cannot be brought up to date.
    pub fn put_back(&mut self) -> Result<Vec<Outcome>, RestoreError> {
        let mut outcomes = std::mem::take(&mut self.left);
        let mut left = Vec::new();
        for item in std::mem::take(&mut self.record.items).into_iter().rev() {
            let outcome = match put_back(&self.root, &item) {
                Ok(what) => Outcome { object: item.object(), done: true, what },
                Err(error) => {
                    Outcome { object: item.object(), done: false, what: error.to_string() }
                }
            };
            if !outcome.done {
                left.insert(0, item);
            }
            outcomes.push(outcome);
        }
        self.record.items = left;
        if self.record.items.is_empty() {
            match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let path = self.path.clone();
                    return Err(RestoreError::Io { what: "remove", path, error });
                }
                _ => {}
            }
        } else {
            self.save()?;
        }
        Ok(outcomes)
    }

    /// To a new file, to disk, and over the old one: a crash leaves the old or the new.
    fn save(&self) -> Result<(), RestoreError> {
        let fail = |error| RestoreError::Io { what: "write", path: self.path.clone(), error };
        let mut text = serde_json::to_vec_pretty(&self.record).map_err(|e| fail(e.into()))?;
        text.push(b'\n');
        let fresh = self.path.with_extension("json.new");
        let mut file = File::create(&fresh).map_err(fail)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(fail)?;
        std::fs::rename(&fresh, &self.path).map_err(fail)?;
        match self.path.parent() {
            Some(folder) => File::open(folder).and_then(|f| f.sync_all()).map_err(fail),
            None => Ok(()),
        }
    }
}

fn put_back(root: &Root, item: &Item) -> io::Result<String> {
    match item {
        Item::Devfreq { device, governor, target_hz } => {
            devfreq::put_back(root, device, governor, *target_hz)
        }
        Item::DevfreqLimits { device, min_hz, max_hz } => {
            devfreq_limits::put_back(root, device, *min_hz, *max_hz)
        }
        Item::Icc { src, dst, tag } => icc_client::put_back(root, src, dst, *tag),
        Item::BusDcvs { hw, boost_khz } => bus_dcvs::put_back(root, hw, *boost_khz),
        Item::VoteDevice { device, driver } => {
            vote_device::put_back(root, device, driver.as_deref())
        }
        Item::Driver { device, driver } => {
            let binding = Binding::new(root, device);
            if !binding.present() {
                return Ok("it is gone: nothing to put back".into());
            }
            match binding.driver() {
                Some(bound) if bound == *driver => Ok(format!("{driver} has it already")),
                Some(other) => Ok(format!("left to {other}, which has it now")),
                None => {
                    binding.bind(driver)?;
                    Ok(format!("given back to {driver}"))
                }
            }
        }
    }
}

/// Which boot this is; empty where /proc does not say.
pub fn boot_id(root: &Root) -> String {
    read_line(&root.path("/proc/sys/kernel/random/boot_id")).unwrap_or_default()
}

#[cfg(test)]
#[path = "restore_tests.rs"]
mod tests;
