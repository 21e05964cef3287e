//! Where the machine's files are: `/`, or a folder with a fake tree in tests.

use std::io;
use std::path::{Path, PathBuf};

/// The folder under which `/sys`, `/proc`, `/dev` and `/run` are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl Root {
    /// A tree under `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The file that is called `absolute` on the machine.
    pub fn path(&self, absolute: &str) -> PathBuf {
        self.0.join(absolute.trim_start_matches('/'))
    }

    /// Whether this is the machine itself.
    pub fn is_machine(&self) -> bool {
        self.0 == Path::new("/")
    }
}

/// Bytes of a file under /sys or /proc that are read; a page is what the kernel gives.
const MOST: u64 = 64 * 1024;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A one-line file's text, without white space around it.
///
/// # Errors
/// As the system says.
pub(super) fn read_line(path: &Path) -> io::Result<String> {
    let bytes = read(path)?;
    Ok(String::from_utf8_lossy(&bytes).trim_matches(['\n', ' ', '\t', '\0']).to_owned())
}

/// The text of a file of many lines in debugfs: up to a megabyte of it.
///
/// # Errors
/// As the system says.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(16 * MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes `text` into an existing file in one `write`, as sysfs wants it.
///
/// # Errors
/// As the system says.
pub(super) fn write_value(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    #[cfg(test)]
    if let Some(outcome) = super::write_faults::outcome(path, text) {
        return outcome;
    }
    let mut file = std::fs::OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// The names in a folder, sorted; none if it is not there.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A device-tree string list: each ends with a NUL.
pub(super) fn strings(path: &Path) -> Vec<String> {
    let Ok(bytes) = read(path) else { return Vec::new() };
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}
