//! The files of a package: what lies where, with which permissions. Sorted, so that archives are too.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A file; its owner is root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) mode: u32,
    pub(crate) content: Vec<u8>,
}

/// Files and empty folders by their path, which has no slash in front.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    files: BTreeMap<String, Item>,
    folders: BTreeSet<String>,
}

impl Payload {
    /// A file that everybody reads.
    pub(crate) fn file(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.add(path.into(), 0o644, content.into());
    }

    /// A file that everybody starts.
    pub(crate) fn program(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.add(path.into(), 0o755, content.into());
    }

    /// A folder, empty or not.
    pub(crate) fn folder(&mut self, path: &str) {
        let mut path = path;
        while !path.is_empty() && self.folders.insert(path.to_owned()) {
            path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }

    fn add(&mut self, path: String, mode: u32, content: Vec<u8>) {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
        self.files.insert(path, Item { mode, content });
    }

    /// The file `from` as `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn copy(&mut self, from: &Path, path: impl Into<String>) -> Result<()> {
        let content = fs::read(from).with_context(|| format!("read {}", from.display()))?;
        self.file(path, content);
        Ok(())
    }

    /// The files of the folder `from`, and those of its folders, under `path`.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn copy_folder(&mut self, from: &Path, path: &str) -> Result<()> {
        let entries = fs::read_dir(from).with_context(|| format!("read {}", from.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_str().with_context(|| format!("{:?} is no text", entry.path()))?;
            let to = format!("{path}/{name}");
            if entry.file_type()?.is_dir() {
                self.copy_folder(&entry.path(), &to)?;
            } else if !name.starts_with('.') {
                self.copy(&entry.path(), to)?;
            }
        }
        Ok(())
    }

    /// Files, by path.
    pub(crate) fn files(&self) -> &BTreeMap<String, Item> {
        &self.files
    }

    /// Folders, parents first.
    pub(crate) fn folders(&self) -> &BTreeSet<String> {
        &self.folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them_and_once() {
        let mut payload = Payload::default();
        payload.file("usr/share/a/b", "text");
        payload.program("usr/bin/c", "code");
        payload.folder("etc/keys");
        let folders: Vec<&str> = payload.folders().iter().map(String::as_str).collect();
        assert_eq!(folders, ["etc", "etc/keys", "usr", "usr/bin", "usr/share", "usr/share/a"]);
        assert_eq!(payload.files()["usr/bin/c"].mode, 0o755);
    }
}
