//! Writing bundles: the same files give the same bytes, whenever and wherever they are packed.

use super::manifest::{FileEntry, MANIFEST, Manifest, Role, SCHEMA};
use super::sha256;
use super::source::BundleSource;
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The manifest of `source` with `files`, which has the bytes of every file that it lists.
///
/// # Errors
/// What does not fit into a bundle, in one line.
pub fn manifest(
    source: &BundleSource,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<Manifest, String> {
    let entry = |(path, bytes): (&String, &Vec<u8>)| FileEntry {
        path: path.clone(),
        role: source.files.get(path).map_or(Role::Extra, |(role, _)| *role),
        size: bytes.len() as u64,
        sha256: sha256(bytes),
    };
    let manifest = Manifest {
        schema: SCHEMA,
        name: source.name.clone(),
        version: source.version.to_string(),
        what: source.what.clone(),
        requires_bwmon: source.requires_bwmon.clone(),
        canary: source.canary.clone(),
        files: files.iter().map(entry).collect(),
    };
    manifest.check()?;
    Ok(manifest)
}

/// The archive of `manifest` and `files`.
///
/// # Errors
/// When a name does not fit; the manifest's check has seen to that.
pub fn pack(manifest: &Manifest, files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<u8>> {
    let tar = tar(&manifest.text()?, manifest, files)?;
    // No time and no name in the header, and no system: 255 stands for an unknown one.
    let gzip = GzBuilder::new().mtime(0).operating_system(255);
    let mut out = gzip.write(Vec::new(), Compression::best());
    out.write_all(&tar)?;
    out.finish()
}

/// The archive before it is compressed.
pub(super) fn tar(
    text: &str,
    manifest: &Manifest,
    files: &BTreeMap<String, Vec<u8>>,
) -> io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    tar.append(&header(MANIFEST, text.len() as u64)?, text.as_bytes())?;
    for FileEntry { path, .. } in &manifest.files {
        let bytes = files.get(path).map(Vec::as_slice).unwrap_or_default();
        tar.append(&header(path, bytes.len() as u64)?, bytes)?;
    }
    tar.into_inner()
}

fn header(path: &str, size: u64) -> io::Result<tar::Header> {
    let mut header = tar::Header::new_ustar();
    header.set_path(path)?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    Ok(header)
}
