//! A bundle in memory.

use super::manifest::{FileEntry, Manifest, Role};
use super::path;
use crate::journal::BundleRecord;
use crate::product::{Layer, LayerFile};
use std::collections::BTreeMap;

/// Digits of a digest that tell bundles apart in names and messages.
const SHORT: usize = 16;

/// A bundle whose files are those of its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// What it is.
    pub manifest: Manifest,
    /// Its files by name, without the manifest.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The SHA-256 of the packed bundle, 64 digits.
    pub digest: String,
}

impl Bundle {
    /// Files that are `role`, in order.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &FileEntry> {
        self.manifest.files.iter().filter(move |file| file.role == role)
    }

    /// The text of the file `path`.
    ///
    /// # Errors
    /// When it is not there or no UTF-8.
    pub fn text(&self, path: &str) -> Result<&str, String> {
        let bytes = self.files.get(path).ok_or_else(|| format!("{path} is not in the bundle"))?;
        std::str::from_utf8(bytes).map_err(|_| format!("{path} is no UTF-8 text"))
    }

    /// The text of `name` as the file `from` writes it: relative to that file, and in the bundle.
    /// The answer's first part is its name in the bundle.
    ///
    /// # Errors
    /// When it is not in the bundle, or no text.
    pub fn beside(&self, from: &str, name: &str) -> Result<(String, &str), String> {
        let path =
            path::beside(from, name).ok_or_else(|| format!("{name} leads out of the bundle"))?;
        let text = self.text(&path)?;
        Ok((path, text))
    }

    /// Its products as a layer of a catalog. `folder` stands before the names of their files; with
    /// an empty one they are called as in the bundle.
    ///
    /// # Errors
    /// When a product file is no text.
    pub fn layer(&self, folder: &str) -> Result<Layer, String> {
        let mut files = Vec::new();
        for FileEntry { path, .. } in self.of(Role::Product) {
            files.push(LayerFile {
                name: product_name(path).to_owned(),
                path: if folder.is_empty() { path.clone() } else { format!("{folder}/{path}") },
                text: Some(self.text(path)?.to_owned()),
            });
        }
        let record = self.record();
        let place = format!("bundle {}", record.title());
        Ok(Layer { place, bundle: Some(record), files })
    }

    /// What journals say of it.
    pub fn record(&self) -> BundleRecord {
        BundleRecord {
            name: self.manifest.name.clone(),
            version: self.manifest.version.clone(),
            digest: self.short_digest().to_owned(),
        }
    }

    /// The first digits of its digest.
    pub fn short_digest(&self) -> &str {
        self.digest.get(..SHORT).unwrap_or(&self.digest)
    }
}

/// The name of the product in the file `path`.
pub fn product_name(path: &str) -> &str {
    let file = path::file_name(path);
    file.strip_suffix(".toml").unwrap_or(file)
}
