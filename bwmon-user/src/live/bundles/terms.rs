//! What may be installed over what, and what goes wrong in a store.

use super::state::{Id, Standing};
use crate::bundle::Version;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// What an operator takes upon himself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Install an older version over a newer one, or another bundle of the same version.
    pub allow_downgrade: bool,
    /// Install one that has failed here.
    pub retry: bool,
}

/// What is known about an installed bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// How it stands.
    #[serde(flatten)]
    pub(super) standing: Standing,
    /// The key that signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl Default for Standing {
    fn default() -> Self {
        Self::Trial { boots: Vec::new() }
    }
}

/// Why a store does not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// `read`, `write`, `create`, `remove`, `sync` or `open`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file of the store is not what it should be.
    #[error(
        "the store's {} is broken ({why}); nothing was changed. Remove it and install the bundle \
         again",
        path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The files of a bundle are not those of its manifest.
    #[error(
        "the installed bundle {title} is damaged: {why}; install it again, or go back with \
         `bwmon bundle rollback`"
    )]
    Damaged {
        /// The bundle.
        title: String,
        /// What is wrong.
        why: String,
    },
    /// Somebody else changes it.
    #[error("another bwmon has been changing the store for seconds (it holds {})", path.display())]
    Held {
        /// The lock.
        path: PathBuf,
    },
    /// A newer one is installed.
    #[error("{new} is older than the installed {old}; --allow-downgrade installs it nevertheless")]
    Older {
        /// The one that is to be installed.
        new: String,
        /// The installed one.
        old: String,
    },
    /// Another one of that version is installed.
    #[error(
        "another {title} is installed ({old}, this one is {new}): a version stands for one content; \
         give it a new version, or install it with --allow-downgrade"
    )]
    SameVersion {
        /// Both.
        title: String,
        /// The digest of the installed one.
        old: String,
        /// The digest of the other one.
        new: String,
    },
    /// It failed here.
    #[error("{title} has failed on this machine ({why}) and is not tried again; --retry does")]
    Failed {
        /// The bundle.
        title: String,
        /// Why.
        why: String,
    },
}

/// Whether `new`, of which `known` is known, may be installed over `old`.
pub(super) fn allow(
    new: &Id,
    old: Option<&Id>,
    known: Option<&Record>,
    terms: &Terms,
) -> Result<(), StoreError> {
    if let Some(Record { standing: Standing::Failed { why }, .. }) = known
        && !terms.retry
    {
        return Err(StoreError::Failed { title: new.title(), why: why.clone() });
    }
    let Some(old) = old.filter(|old| old.name == new.name && !terms.allow_downgrade) else {
        return Ok(());
    };
    let version = |id: &Id| id.version.parse::<Version>().ok();
    if version(new) < version(old) {
        return Err(StoreError::Older { new: new.title(), old: old.title() });
    }
    if new.version == old.version && new.digest != old.digest {
        let (old, digest) = (old.digest.clone(), new.digest.clone());
        return Err(StoreError::SameVersion { title: new.title(), old, new: digest });
    }
    Ok(())
}

/// What to say when `what` fails on `path`.
pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |error| StoreError::Io { what, path, error }
}
