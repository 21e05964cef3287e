//! Bundles: the products of a machine, their policies, specs and traces in one signed file.
//!
//! A bundle is a gzipped tar archive whose bytes follow from its files. Its first member, the
//! manifest, names every other with size and digest; a minisign signature beside it covers the
//! whole. Reading one touches nothing: whether it is accepted is decided in memory. Format and rules:
//! docs/bundles.md.

mod canary;
pub mod check;
mod contents;
mod manifest;
mod pack;
pub mod path;
mod signature;
mod source;
#[cfg(test)]
pub(crate) mod testing;
mod unpack;
mod version;

pub use canary::BundleCanary;
pub use contents::{Bundle, product_name};
pub use manifest::{
    FileEntry, MANIFEST, MAX_FILE, MAX_FILES, MAX_TOTAL, Manifest, Role, SCHEMA, name,
};
pub use pack::{manifest, pack};
pub use signature::{KeyId, MAX_SIGNATURE, Signed, TrustedKey, Unsigned, comment, verify};
pub use source::{BundleSource, parse as parse_source};
pub use unpack::{MAX_PACKED, unpack};
pub use version::Version;

use sha2::{Digest, Sha256};

/// The file that a bundle is described in.
pub const SOURCE: &str = "bundle.toml";
/// How the names of bundles end.
pub const ENDING: &str = "bwmon";
/// How the names of their signatures end, behind the bundle's.
pub const SIGNATURE_ENDING: &str = "minisig";

/// The SHA-256 of `bytes`, 64 digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
