//! Reading bundles: whatever is in the file, the answer is a bundle or one error.

use super::manifest::{MANIFEST, MAX_FILE, MAX_FILES, MAX_TOTAL, Manifest};
use super::{Bundle, pack, path, sha256};
use crate::diag::Diagnostic;
use flate2::bufread::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use tar::EntryType;

/// Bytes of a bundle as it is on disk. What cannot be compressed grows a little.
pub const MAX_PACKED: u64 = MAX_TOTAL + MAX_TOTAL / 8;
/// Bytes of the archive in it: all files, the manifest, and for each a header and its padding.
const MAX_TAR: u64 = MAX_TOTAL + MAX_FILE + (MAX_FILES as u64 + 2) * 1024 + 1024;

/// Reads the bundle in `packed`, called `file` in errors. Nothing is written anywhere.
///
/// # Errors
/// The first thing that is not as `bwmon bundle build` writes it.
pub fn unpack(file: &str, packed: &[u8]) -> Result<Bundle, Diagnostic> {
    read(file, packed).map_err(|why| match why {
        Wrong::Bundle(why) => Diagnostic::new(file, why)
            .help("nothing of it was used; build or fetch it again, and do not trust its source"),
        Wrong::Manifest(fault) => fault,
    })
}

enum Wrong {
    Bundle(String),
    Manifest(Diagnostic),
}

impl From<String> for Wrong {
    fn from(why: String) -> Self {
        Self::Bundle(why)
    }
}

fn read(file: &str, packed: &[u8]) -> Result<Bundle, Wrong> {
    let tar = gunzip(packed)?;
    let mut archive = tar::Archive::new(tar.as_slice());
    let broken = |error: std::io::Error| Wrong::Bundle(format!("its archive is broken: {error}"));
    // Raw: long names and other extensions are entries of their own, and refused as such.
    let mut entries = archive.entries().map_err(broken)?.raw(true);
    let mut entry = |number: usize| -> Result<Option<(String, Vec<u8>)>, Wrong> {
        let Some(entry) = entries.next() else { return Ok(None) };
        if number > MAX_FILES {
            return Err(format!("it has more than {MAX_FILES} files").into());
        }
        member(entry.map_err(broken)?).map(Some)
    };
    let Some((first, text)) = entry(0)? else {
        return Err("it is empty".to_owned().into());
    };
    if first != MANIFEST {
        return Err(format!("its first file is {first}, not {MANIFEST}").into());
    }
    let text = String::from_utf8(text).map_err(|_| format!("its {MANIFEST} is no UTF-8 text"))?;
    let manifest = Manifest::parse(file, &text).map_err(Wrong::Manifest)?;
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    while let Some((path, bytes)) = entry(files.len() + 1)? {
        if path == MANIFEST || files.contains_key(&path) {
            return Err(format!("{path} is in it twice").into());
        }
        let Some(listed) = manifest.files.iter().find(|file| file.path == path) else {
            return Err(format!("{path} is in it, but not in its manifest").into());
        };
        if listed.size != bytes.len() as u64 {
            let (said, is) = (listed.size, bytes.len());
            return Err(format!("{path} has {is} bytes, its manifest says {said}").into());
        }
        if listed.sha256 != sha256(&bytes) {
            return Err(format!("{path} is not the file of the digest in its manifest").into());
        }
        files.insert(path, bytes);
    }
    if let Some(missing) = manifest.files.iter().find(|file| !files.contains_key(&file.path)) {
        return Err(format!("{} is in its manifest, but not in it", missing.path).into());
    }
    // Order, owners, times, padding and what stands behind the end: all of it is fixed, so what is
    // read and what another program would unpack cannot differ.
    let again = pack::tar(&text, &manifest, &files).map_err(broken)?;
    if again != tar {
        return Err(
            "its archive is not as bwmon writes it: other order, owners, modes or times, or \
                    data behind its end"
                .to_owned()
                .into(),
        );
    }
    Ok(Bundle { manifest, files, digest: sha256(packed) })
}

/// The archive, which is bounded however well it was compressed.
fn gunzip(packed: &[u8]) -> Result<Vec<u8>, String> {
    if packed.len() as u64 > MAX_PACKED {
        return Err(format!("it is larger than {MAX_PACKED} bytes"));
    }
    if !packed.starts_with(&[0x1f, 0x8b]) {
        return Err("it is no bundle: it does not begin as gzip does".into());
    }
    let mut decoder = GzDecoder::new(packed);
    let mut tar = Vec::new();
    (&mut decoder)
        .take(MAX_TAR + 1)
        .read_to_end(&mut tar)
        .map_err(|error| format!("it is damaged or cut off: {error}"))?;
    if tar.len() as u64 > MAX_TAR {
        return Err(format!("it unpacks to more than {MAX_TAR} bytes"));
    }
    match decoder.into_inner() {
        [] => Ok(tar),
        rest => Err(format!("{} bytes follow its end", rest.len())),
    }
}

/// Name and bytes of a member, if it is a plain file with a plain name.
fn member(mut entry: tar::Entry<'_, &[u8]>) -> Result<(String, Vec<u8>), Wrong> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let shown: String = name.chars().take(120).map(crate::diag::printable).collect();
    let kind = match entry.header().entry_type() {
        EntryType::Regular => None,
        EntryType::Link => Some("a hard link"),
        EntryType::Symlink => Some("a symbolic link"),
        EntryType::Char | EntryType::Block => Some("a device"),
        EntryType::Directory => Some("a folder"),
        EntryType::Fifo => Some("a pipe"),
        _ => Some("an extension of the format"),
    };
    if let Some(kind) = kind {
        return Err(format!("{shown} is {kind}; a bundle has plain files only").into());
    }
    path::check(&name)?;
    let size = entry.size();
    if size > MAX_FILE {
        return Err(format!("{name} is larger than {MAX_FILE} bytes").into());
    }
    let mut bytes = Vec::new();
    (&mut entry)
        .take(MAX_FILE)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{name} cannot be read from it: {error}"))?;
    Ok((name, bytes))
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
