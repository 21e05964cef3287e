//! The store of installed bundles: one folder each, a link to the one that counts, and what is known
//! about all of them.
//!
//! ```text
//! lock                        held while something changes
//! state.json                  which have proven themselves, which are on trial, which have failed
//! current -> NAME/VERSION-DIGEST
//! NAME/VERSION-DIGEST/        manifest.json and the files, as in the bundle
//! ```
//!
//! The link is the truth about what counts, and is swapped by a rename. A standing is written before
//! the link that follows from it: a crash between the two leaves a link to a bundle that may not run,
//! which everybody reads as the last good one.

use super::state::{Id, SCHEMA, Standing, State};
use super::terms::{self, Record, io};
use super::{durable, folder};
use crate::bundle::Bundle;
use crate::live::text_of;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use super::rolled::{Rolled, Started};
pub use super::terms::{StoreError, Terms};

/// Where bundles are installed.
pub const DEFAULT_STORE_DIR: &str = "/var/lib/bwmon/bundles";
/// Reboots that a bundle which has not proven itself may see.
pub const MAX_BOOTS: usize = 2;
/// Good bundles that are kept, the current one among them.
const KEPT: usize = 3;
/// How often the lock is tried, and how long between.
const TRIES: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(50);

/// A folder with installed bundles.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) dir: PathBuf,
}

/// A bundle in the store whose files are those of its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Which.
    pub id: Id,
    /// Its folder.
    pub folder: PathBuf,
    /// What is in it; the digest is the short one.
    pub bundle: Bundle,
    /// How it stands.
    pub standing: Standing,
    /// The key that signed it; `None` if nobody did, or it is not known.
    pub key: Option<String>,
}

/// A bundle that is unpacked in the store.
#[derive(Debug)]
pub struct Row {
    /// Which.
    pub id: Id,
    /// What is in it, or what is wrong with its files.
    pub installed: Result<Installed, StoreError>,
    /// It is the one that counts.
    pub is_current: bool,
}

impl Store {
    /// The store in `dir`, which need not be there. Nothing is read yet.
    pub fn open(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The bundle that counts: the current one, or the last good one where the current one may not
    /// run. Reads only.
    ///
    /// # Errors
    /// When the store is broken, or the bundle's files are not those of its manifest.
    pub fn current(&self) -> Result<Option<Installed>, StoreError> {
        let state = self.state()?;
        match self.counts(&state)? {
            Some(id) => self.read(&state, &id).map(Some),
            None => Ok(None),
        }
    }

    /// All bundles that are unpacked here, in order.
    ///
    /// # Errors
    /// When the store is broken. One that is damaged is an error in its row.
    pub fn list(&self) -> Result<Vec<Row>, StoreError> {
        let state = self.state()?;
        let counts = self.counts(&state)?;
        let mut ids: Vec<Id> = state.bundles.keys().cloned().collect();
        // One that the state forgot.
        ids.extend(counts.clone().filter(|id| !state.bundles.contains_key(id)));
        let unpacked = ids.into_iter().filter(|id| self.dir.join(id.folder()).is_dir());
        let row = |id: Id| {
            let is_current = counts.as_ref() == Some(&id);
            let installed = self.read(&state, &id);
            Row { id, installed, is_current }
        };
        Ok(unpacked.map(row).collect())
    }

    /// To be called when an agent begins to govern with the current bundle, before it reads it. A
    /// bundle that has not proven itself is noted with the boot; one during which the machine
    /// rebooted [`MAX_BOOTS`] times is given up, as [`Store::failed`] does.
    ///
    /// # Errors
    /// When the store cannot be read or written; nothing is changed then.
    pub fn started(&self, boot_id: &str) -> Result<Started, StoreError> {
        if self.link()?.is_none() {
            return Ok(Started::None);
        }
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let Some(id) = self.link()? else { return Ok(Started::None) };
        let record = state.bundles.entry(id.clone()).or_default();
        match &mut record.standing {
            Standing::Trial { boots } => {
                if !boots.iter().any(|boot| boot == boot_id) {
                    if boots.len() >= MAX_BOOTS {
                        let why = format!(
                            "the machine rebooted {} times before it had proven itself",
                            boots.len()
                        );
                        return self.give_up(&mut state, &id, &why).map(Started::RolledBack);
                    }
                    boots.push(boot_id.to_owned());
                    self.save(&state)?;
                }
            }
            Standing::Proven => {}
            Standing::Failed { why } => {
                let why = why.clone();
                return self.leave(&mut state, &id, why).map(Started::RolledBack);
            }
            Standing::RolledBack => {
                let why = "it was rolled back".to_owned();
                return self.leave(&mut state, &id, why).map(Started::RolledBack);
            }
        }
        let standing = state.bundles.get(&id).cloned().unwrap_or_default().standing;
        Ok(Started::With(id, standing))
    }

    /// Notes that the bundle `id` works: it becomes the last good one, and its reboots are no longer
    /// counted. To be called when its policies were promoted, or after some minutes without trouble.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn proven(&self, id: &Id) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let record = state.bundles.entry(id.clone()).or_default();
        // What was given up meanwhile is not brought back by a late word.
        if !record.standing.may_run() {
            return Ok(());
        }
        if record.standing == Standing::Proven && state.good.last() == Some(id) {
            return Ok(());
        }
        record.standing = Standing::Proven;
        state.good.retain(|good| good != id);
        state.good.push(id.clone());
        self.save(&state)?;
        self.prune(&mut state)
    }

    /// How the bundle `id` stands; `None` if it is not known here.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn standing(&self, id: &Id) -> Result<Option<Standing>, StoreError> {
        Ok(self.state()?.bundles.get(id).map(|record| record.standing.clone()))
    }

    /// Installs `bundle`, which has been checked, and lets it count. `key` signed it. Answers what
    /// counted before; `Err` leaves the store as it was.
    ///
    /// # Errors
    /// When `terms` do not allow it, or the store cannot be written.
    pub fn install(
        &self,
        bundle: &Bundle,
        key: Option<String>,
        terms: &Terms,
    ) -> Result<Option<Id>, StoreError> {
        fs::create_dir_all(&self.dir).map_err(io("create", &self.dir))?;
        let _lock = self.lock()?;
        let mut state = self.state()?;
        let before = self.counts(&state)?;
        let id = Id::from(bundle.record());
        terms::allow(&id, before.as_ref(), state.bundles.get(&id), terms)?;
        folder::write(&self.dir, &self.dir.join(id.folder()), bundle)?;
        let record = state.bundles.entry(id.clone()).or_default();
        if record.standing != Standing::Proven {
            record.standing = Standing::default();
        }
        record.key = key;
        if before.as_ref() != Some(&id) {
            state.previous.clone_from(&before);
        }
        self.save(&state)?;
        self.relink(&id)?;
        self.prune(&mut state)?;
        Ok(before)
    }

    /// Which bundle counts.
    pub(super) fn counts(&self, state: &State) -> Result<Option<Id>, StoreError> {
        let Some(id) = self.link()? else { return Ok(None) };
        match state.bundles.get(&id) {
            Some(record) if !record.standing.may_run() => Ok(state.last_good(Some(&id)).cloned()),
            _ => Ok(Some(id)),
        }
    }

    /// The link to the current bundle; it need not be there.
    pub fn link_path(&self) -> PathBuf {
        self.dir.join("current")
    }

    /// Where the link leads.
    pub(super) fn link(&self) -> Result<Option<Id>, StoreError> {
        let path = self.link_path();
        let target = match fs::read_link(&path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io("read", &path)(error)),
        };
        let id = Id::try_from(target.to_string_lossy().into_owned());
        id.map(Some).map_err(|why| StoreError::Broken { path, why })
    }

    pub(super) fn relink(&self, id: &Id) -> Result<(), StoreError> {
        let path = self.link_path();
        durable::relink(&path, &id.folder()).map_err(io("write", &path))
    }

    pub(super) fn state(&self) -> Result<State, StoreError> {
        let path = self.dir.join("state.json");
        if !path.exists() {
            return Ok(State::empty());
        }
        let broken = |why: String| StoreError::Broken { path: path.clone(), why };
        let text =
            text_of(&path.to_string_lossy()).map_err(|error| broken(format!("{error:#}")))?;
        let state: State = serde_json::from_str(&text).map_err(|e| broken(e.to_string()))?;
        match state.schema {
            SCHEMA => Ok(state),
            other => Err(broken(format!("it has schema {other}, this bwmon reads {SCHEMA}"))),
        }
    }

    pub(super) fn save(&self, state: &State) -> Result<(), StoreError> {
        let path = self.dir.join("state.json");
        let text = serde_json::to_string_pretty(state).map_err(|e| io("write", &path)(e.into()))?;
        durable::replace(&path, (text + "\n").as_bytes()).map_err(io("write", &path))
    }

    /// The lock on changes; others keep it for moments.
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let path = self.dir.join("lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(io("open", &path))?;
        for _ in 0..TRIES {
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(file);
            }
            std::thread::sleep(BETWEEN);
        }
        Err(StoreError::Held { path })
    }

    /// The bundle `id`, checked against its manifest.
    pub(super) fn read(&self, state: &State, id: &Id) -> Result<Installed, StoreError> {
        let Record { standing, key } = state.bundles.get(id).cloned().unwrap_or_default();
        let folder = self.dir.join(id.folder());
        let bundle = folder::read(&folder, id)?;
        Ok(Installed { id: id.clone(), folder, bundle, standing, key })
    }

    /// Removes what nobody goes back to: all but what counts, the one before it, and the last good
    /// ones. What failed stays known.
    fn prune(&self, state: &mut State) -> Result<(), StoreError> {
        let surplus = state.good.len().saturating_sub(KEPT);
        state.good.drain(..surplus);
        let counts = self.counts(state)?;
        let mut back = state.good.clone();
        back.extend(counts.into_iter().chain(state.previous.clone()));
        let kept = |id: &Id| back.contains(id);
        // What a crash left is there without being known.
        for id in folder::all(&self.dir).into_iter().filter(|id| !kept(id)) {
            let folder = self.dir.join(id.folder());
            durable::forget(&folder).map_err(io("remove", &folder))?;
            if let Some(parent) = folder.parent() {
                // Fails while others of the name are there.
                let _ = fs::remove_dir(parent);
            }
        }
        let known = |id: &Id, record: &mut Record| {
            kept(id) || matches!(record.standing, Standing::Failed { .. })
        };
        state.bundles.retain(known);
        self.save(state)
    }
}
