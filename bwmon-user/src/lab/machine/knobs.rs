//! Files of the machine that a subject asks for, and the note of what was in them: on disk before
//! the first write, so that a killed experiment can be undone.

use super::host::Host;
use super::note::{self, Item, Note};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Why the knobs are not as they were asked for.
#[derive(Debug, thiserror::Error)]
pub(super) enum KnobError {
    /// It reads back otherwise.
    #[error("{path} reads {found} after {wrote} was written")]
    NotReadBack {
        /// The file.
        path: String,
        /// What it reads.
        found: String,
        /// What was written.
        wrote: String,
    },
    /// What is there now could not be put back later.
    #[error("{path} cannot be read, or is empty: what is there now could not be put back")]
    Unknown {
        /// The file.
        path: String,
    },
    /// It could not be read, noted or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

/// The knobs that were written, with what was in them before.
#[derive(Debug)]
pub(super) struct Knobs {
    file: PathBuf,
    note: Note,
}

impl Knobs {
    /// None yet, to be noted in `folder`.
    pub(super) fn new(folder: &Path, host: &Host) -> Self {
        Self { file: note::file(folder), note: Note::new(host) }
    }

    /// Notes an agent about to be started, so that it can be found and ended when we no longer can.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn agent(&mut self, journal: Option<&str>) -> io::Result<()> {
        self.note.agent = journal.map(str::to_owned);
        self.note.save(&self.file)
    }

    /// Brings the machine to `wanted`, path and value, and everything else that we changed back.
    ///
    /// # Errors
    /// What is not as it was asked for.
    pub(super) fn apply(
        &mut self,
        host: &Host,
        wanted: &BTreeMap<String, String>,
    ) -> Result<(), KnobError> {
        let unwanted = |item: &Item| !wanted.contains_key(&item.path);
        let said = self.note.put_back(host, &self.file, unwanted);
        if let Some(trouble) = said.left.into_iter().next() {
            let error = io::Error::other(trouble);
            return Err(KnobError::Io { path: "putting back".to_owned(), error });
        }
        wanted.iter().try_for_each(|(path, value)| self.set(host, path, value))
    }

    fn set(&mut self, host: &Host, path: &str, value: &str) -> Result<(), KnobError> {
        let io = |error| KnobError::Io { path: path.to_owned(), error };
        let now = host.line(path).map_err(io)?.filter(|now| !now.is_empty());
        let now = now.ok_or_else(|| KnobError::Unknown { path: path.to_owned() })?;
        if now == value {
            return Ok(());
        }
        self.note.before_write(host, &self.file, path, &now, value).map_err(io)?;
        host.write(path, value).map_err(io)?;
        let found = host.line(path).map_err(io)?.unwrap_or_default();
        if found == value {
            return Ok(());
        }
        let (path, wrote) = (path.to_owned(), value.to_owned());
        Err(KnobError::NotReadBack { path, found, wrote })
    }

    /// Puts everything back, last first; says what could not be.
    pub(super) fn end(&mut self, host: &Host) -> Vec<String> {
        self.note.put_back(host, &self.file, |_| true).left
    }
}

#[cfg(test)]
#[path = "knobs_tests.rs"]
mod tests;
