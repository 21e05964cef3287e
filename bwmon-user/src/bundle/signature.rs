//! Who signed a bundle: detached minisign signatures and the keys that are trusted.

use super::Bundle;
use crate::diag::Diagnostic;
use minisign_verify::{PublicKey, Signature};
use std::fmt;

/// Bytes of a signature or of a public key.
pub const MAX_SIGNATURE: u64 = 4096;

/// How the trusted comment of a bundle's signature begins.
const MARK: &str = "bwmon-bundle";

/// The number of a key, as minisign writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(u64);

impl KeyId {
    /// The id in the second line of a public key or a signature.
    fn of(text: &str) -> Option<Self> {
        let encoded = text.lines().nth(1)?.trim_end();
        // Two bytes of algorithm, eight of the id: of 16 characters the first ten bytes.
        let bytes = base64(encoded.get(..16)?)?;
        Some(Self(u64::from_le_bytes(bytes.get(2..10)?.try_into().ok()?)))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

/// The bytes of `text`, whose length is a multiple of four without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let value = four.iter().try_fold(0, |sum, byte| Some(sum << 6 | digit(*byte)?))?;
        bytes.extend(value.to_be_bytes().into_iter().skip(1));
    }
    Some(bytes)
}

/// A key whose signatures count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedKey {
    /// Its file, for messages.
    pub file: String,
    /// Its number.
    pub id: KeyId,
    key: PublicKey,
}

impl TrustedKey {
    /// The public key in `text`, the file `file`.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |why: &str| {
            Diagnostic::new(file, format!("it is no minisign public key: {why}"))
                .help("it has two lines: a comment, and what begins with RW")
        };
        let key = PublicKey::decode(text).map_err(|error| wrong(&error.to_string()))?;
        let id = KeyId::of(text).ok_or_else(|| wrong("it has no number"))?;
        Ok(Self { file: file.to_owned(), id, key })
    }
}

/// A signature that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The file of the key.
    pub key_file: String,
    /// The key.
    pub key: KeyId,
    /// The trusted comment.
    pub comment: String,
}

/// Why a bundle is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsigned {
    /// The signature is none that can be read.
    Unreadable(String),
    /// None of the trusted keys made it.
    UnknownKey {
        /// The key that made it.
        id: KeyId,
        /// The keys that are trusted.
        trusted: Vec<KeyId>,
    },
    /// It belongs to other bytes.
    Wrong(KeyId),
    /// It was made for another bundle.
    OtherBundle(String),
}

impl fmt::Display for Unsigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "its signature cannot be read: {why}"),
            Self::UnknownKey { id, trusted } if trusted.is_empty() => {
                write!(
                    f,
                    "it is signed by the key {id}, and no key is trusted here: \
                            its .pub file belongs into /etc/bwmon/keys, or --keys names a folder"
                )
            }
            Self::UnknownKey { id, trusted } => {
                let trusted: Vec<String> = trusted.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "it is signed by the key {id}, which is not trusted here; trusted are {}",
                    trusted.join(", ")
                )
            }
            Self::Wrong(id) => write!(
                f,
                "its signature by the key {id} does not hold: the bundle or the signature was \
                 changed after it was signed"
            ),
            Self::OtherBundle(comment) => {
                let shown: String = comment.chars().map(crate::diag::printable).collect();
                write!(f, "its signature was made for another bundle: {shown}")
            }
        }
    }
}

impl std::error::Error for Unsigned {}

/// The trusted comment for `bundle`.
pub fn comment(bundle: &Bundle) -> String {
    let manifest = &bundle.manifest;
    format!("{MARK} {} {} sha256:{}", manifest.name, manifest.version, bundle.digest)
}

/// Checks that one of `keys` made the signature in `text` of `packed`, before anything of it is read.
///
/// # Errors
/// Why it is not trusted.
pub fn verify(packed: &[u8], text: &str, keys: &[TrustedKey]) -> Result<Signed, Unsigned> {
    let signature =
        Signature::decode(text).map_err(|error| Unsigned::Unreadable(error.to_string()))?;
    let id = KeyId::of(text).ok_or_else(|| Unsigned::Unreadable("it names no key".into()))?;
    let mut known = false;
    for key in keys.iter().filter(|key| key.id == id) {
        known = true;
        if key.key.verify(packed, &signature, false).is_ok() {
            let comment = signature.trusted_comment().to_owned();
            return Ok(Signed { key_file: key.file.clone(), key: id, comment });
        }
    }
    Err(match known {
        true => Unsigned::Wrong(id),
        false => Unsigned::UnknownKey { id, trusted: keys.iter().map(|key| key.id).collect() },
    })
}

impl Signed {
    /// Checks that it was made for `bundle`. A comment of another tool (`minisign -S`) is accepted:
    /// the signature covers every byte. One that names a bundle has to name this one.
    ///
    /// # Errors
    /// When it names another.
    pub fn is_for(&self, bundle: &Bundle) -> Result<(), Unsigned> {
        let ours = self.comment.split(' ').next() == Some(MARK);
        if ours && self.comment != comment(bundle) {
            return Err(Unsigned::OtherBundle(self.comment.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
