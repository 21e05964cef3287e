//! `manifest.json`: the first file of a bundle, which names all others with size and digest.

use super::canary::BundleCanary;
use super::path;
use super::version::Version;
use crate::diag::Diagnostic;
use crate::product::KernelRange;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Its name in the archive.
pub const MANIFEST: &str = "manifest.json";
/// The version of the format that is written and read.
pub const SCHEMA: u32 = 1;
/// Files of a bundle, without the manifest.
pub const MAX_FILES: usize = 256;
/// Bytes of one file.
pub const MAX_FILE: u64 = 1024 * 1024;
/// Bytes of all files together.
pub const MAX_TOTAL: u64 = 16 * 1024 * 1024;

/// What a file of a bundle is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A product file.
    Product,
    /// A script.
    Policy,
    /// What must hold for a script.
    Spec,
    /// A journal that the policies are tried on.
    Trace,
    /// A board file.
    Board,
    /// What specs name beside those: scenarios of the simulator, say.
    Extra,
}

impl Role {
    /// In messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Policy => "policy",
            Self::Spec => "spec",
            Self::Trace => "trace",
            Self::Board => "board",
            Self::Extra => "extra",
        }
    }
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name, relative to the bundle.
    pub path: String,
    /// What it is.
    pub role: Role,
    /// Its length in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, 64 digits.
    pub sha256: String,
}

/// What a bundle is and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The bundle's name.
    pub name: String,
    /// Its version, as [`Version`] reads it.
    pub version: String,
    /// What it is for, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The versions of bwmon that it is for, `>=0.1`; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_bwmon: Option<String>,
    /// How its policies are tried before they take over; at once if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<BundleCanary>,
    /// Its files, sorted by name.
    pub files: Vec<FileEntry>,
}

/// The key that every schema has.
#[derive(Deserialize)]
struct AnySchema {
    schema: u32,
}

impl Manifest {
    /// Reads the manifest `text` of the bundle that errors call `file`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let broken = |error: serde_json::Error| {
            Diagnostic::new(file, format!("its {MANIFEST} is broken: {error}"))
        };
        let AnySchema { schema } = serde_json::from_str(text).map_err(broken)?;
        if schema != SCHEMA {
            let fault = Diagnostic::new(
                file,
                format!("the bundle has schema {schema}; this bwmon reads schema {SCHEMA}"),
            );
            return Err(fault.help(if schema < SCHEMA {
                "build it again with this bwmon"
            } else {
                "it was built by a newer bwmon; install that first"
            }));
        }
        let manifest: Self = serde_json::from_str(text).map_err(broken)?;
        manifest.check().map_err(|why| Diagnostic::new(file, why))?;
        Ok(manifest)
    }

    /// As it stands in the archive.
    ///
    /// # Errors
    /// Never for values of this type.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Its version.
    ///
    /// # Errors
    /// When it is none; one that was read has been checked.
    pub fn version(&self) -> Result<Version, String> {
        self.version.parse()
    }

    /// Name and version.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// Whether it is what a bundle may hold.
    ///
    /// # Errors
    /// The first thing that is wrong, in one line.
    pub(super) fn check(&self) -> Result<(), String> {
        name(&self.name)?;
        self.version()?;
        if self.what.as_ref().is_some_and(|what| what.chars().any(char::is_control)) {
            return Err("what has control characters".into());
        }
        if let Some(range) = &self.requires_bwmon {
            KernelRange::parse(range)
                .map_err(|_| format!("requires bwmon \"{range}\": write it as \">=0.1, <1\""))?;
        }
        if let Some(canary) = &self.canary {
            canary.terms().map_err(|why| format!("its canary: {why}"))?;
        }
        if self.files.len() > MAX_FILES {
            return Err(format!("more than {MAX_FILES} files"));
        }
        let (mut seen, mut total) = (BTreeSet::new(), 0u64);
        for file in &self.files {
            path::check(&file.path)?;
            // Where file systems do not tell them apart, one would take the other's place.
            if !seen.insert(file.path.to_ascii_lowercase()) {
                return Err(format!("{} is there twice", file.path));
            }
            if file.path.eq_ignore_ascii_case(MANIFEST) {
                return Err(format!("{} is the manifest's own name", file.path));
            }
            if file.size > MAX_FILE {
                return Err(format!("{} is larger than {MAX_FILE} bytes", file.path));
            }
            let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if file.sha256.len() != 64 || !file.sha256.bytes().all(hex) {
                return Err(format!("the digest of {} is no SHA-256", file.path));
            }
            total = total.saturating_add(file.size);
        }
        for pair in self.files.windows(2) {
            let [one, two] = pair else { continue };
            if one.path >= two.path {
                return Err(format!("the files are not sorted: {} before {}", one.path, two.path));
            }
        }
        for file in &self.files {
            let slashes = file.path.match_indices('/').filter_map(|(at, _)| file.path.get(..at));
            for folder in slashes {
                if seen.contains(&folder.to_ascii_lowercase()) {
                    return Err(format!("{folder} is a file and a folder"));
                }
            }
        }
        if total > MAX_TOTAL {
            return Err(format!("its files are larger than {MAX_TOTAL} bytes together"));
        }
        Ok(())
    }
}

/// Checks the name of a bundle.
///
/// # Errors
/// What is wrong with it.
pub fn name(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 48 || name.starts_with('-') || !name.chars().all(good) {
        let shown: String = name.chars().take(60).map(crate::diag::printable).collect();
        return Err(format!(
            "\"{shown}\" is no name of a bundle: small letters, digits and -, at most 48"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, size: u64) -> FileEntry {
        FileEntry { path: path.into(), role: Role::Extra, size, sha256: "0".repeat(64) }
    }

    fn manifest(files: Vec<FileEntry>) -> Manifest {
        Manifest {
            schema: SCHEMA,
            name: "acme".into(),
            version: "1.0.0".into(),
            what: None,
            requires_bwmon: None,
            canary: None,
            files,
        }
    }

    fn fault(manifest: &Manifest) -> String {
        Manifest::parse("f.bwmon", &manifest.text().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let canary = BundleCanary { ms: 60_000, rule: Some("faults<=0".into()) };
        let files = vec![entry("a/x", 1), entry("b", MAX_FILE)];
        let written = Manifest { canary: Some(canary), ..manifest(files) };
        assert_eq!(Manifest::parse("f", &written.text().unwrap()).unwrap(), written);
    }

    #[test]
    fn other_schemas_say_which_bwmon_is_needed() {
        let said = fault(&Manifest { schema: 2, ..manifest(vec![]) });
        assert!(said.contains("schema 2") && said.contains("newer bwmon"), "{said}");
        // A schema of which the keys are not known either.
        let said = Manifest::parse("f", r#"{"schema": 0, "bundle": "x"}"#).unwrap_err().to_string();
        assert!(said.contains("schema 0") && said.contains("build it again"), "{said}");
    }

    #[test]
    fn lists_that_cannot_be_unpacked_are_refused() {
        let many = (0..=MAX_FILES).map(|n| entry(&format!("f{n:04}"), 0)).collect();
        let large = (0..17).map(|n| entry(&format!("f{n:04}"), MAX_FILE)).collect();
        let bad_digest = FileEntry { sha256: "xyz".into(), ..entry("a", 1) };
        for (files, word) in [
            (many, "more than 256 files"),
            (large, "16777216 bytes together"),
            (vec![entry("a", MAX_FILE + 1)], "larger than 1048576"),
            (vec![entry("a", 1), entry("a", 1)], "a is there twice"),
            (vec![entry("A", 1), entry("a", 1)], "a is there twice"),
            (vec![entry("b", 1), entry("a", 1)], "not sorted"),
            (vec![entry("a", 1), entry("a-b", 1), entry("a/b", 1)], "a is a file and a folder"),
            (vec![entry("../a", 1)], "leads out"),
            (vec![entry("manifest.json", 1)], "manifest's own name"),
            (vec![bad_digest], "no SHA-256"),
        ] {
            let said = fault(&manifest(files));
            assert!(said.contains(word), "{word}: {said}");
        }
        for name in ["", "Acme", "a/b", "-a", ".."] {
            let said = fault(&Manifest { name: name.into(), ..manifest(vec![]) });
            assert!(said.contains("no name of a bundle"), "{said}");
        }
        let said = fault(&Manifest { version: "one".into(), ..manifest(vec![]) });
        assert!(said.contains("no version"), "{said}");
        let day = BundleCanary { ms: 86_400_001, rule: None };
        let said = fault(&Manifest { canary: Some(day), ..manifest(vec![]) });
        assert!(said.contains("write 1 to 86400000"), "{said}");
        let said = fault(&Manifest { requires_bwmon: Some("new".into()), ..manifest(vec![]) });
        assert!(said.contains(">=0.1, <1"), "{said}");
    }
}
