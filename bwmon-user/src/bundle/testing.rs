//! Bundles for tests.

use super::{Bundle, FileEntry, Manifest, Role, SCHEMA, pack, sha256};
use std::collections::BTreeMap;

/// What the name of a file says about its role.
fn role(path: &str) -> Role {
    match path {
        path if path.ends_with(".spec.toml") => Role::Spec,
        path if path.ends_with(".board.toml") => Role::Board,
        path if path.ends_with(".toml") => Role::Product,
        path if path.ends_with(".rhai") => Role::Policy,
        path if path.ends_with(".jsonl") => Role::Trace,
        _ => Role::Extra,
    }
}

/// The manifest that fits `files`.
pub(crate) fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Manifest {
    let entry = |(path, bytes): (&String, &Vec<u8>)| FileEntry {
        path: path.clone(),
        role: role(path),
        size: bytes.len() as u64,
        sha256: sha256(bytes),
    };
    Manifest {
        schema: SCHEMA,
        name: "acme".into(),
        version: "1.0.0".into(),
        what: None,
        requires_bwmon: None,
        canary: None,
        files: files.iter().map(entry).collect(),
    }
}

/// `acme 1.0.0` with `files`.
pub(crate) fn bundle(files: &[(&str, &str)]) -> Bundle {
    versioned("1.0.0", files)
}

/// `acme` of `version` with `files`.
pub(crate) fn versioned(version: &str, files: &[(&str, &str)]) -> Bundle {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let manifest = Manifest { version: version.into(), ..manifest(&files) };
    let digest = sha256(&pack(&manifest, &files).unwrap());
    Bundle { manifest, files, digest }
}
