//! Small files of a machine, many at once.

use crate::live::Root;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

/// Bytes of a file that are read.
pub(super) const MOST: u64 = 4096;

/// Small files with their texts, by the names that they have on the machine. What is not there or
/// cannot be read is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot(pub(super) BTreeMap<String, String>);

impl Snapshot {
    /// What the files that fit `patterns` under `root` hold; a `*` stands for anything within a
    /// name.
    pub(super) fn here(root: &Root, patterns: &[&str]) -> Self {
        let mut found = BTreeMap::new();
        for pattern in patterns {
            for path in expand(root, pattern) {
                let Ok(file) = fs::File::open(root.path(&path)) else { continue };
                let mut bytes = Vec::new();
                if file.take(MOST).read_to_end(&mut bytes).is_ok() {
                    found.insert(path, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
        }
        Self(found)
    }

    /// The text of `path`, without white space around it.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        Some(self.0.get(path)?.trim_matches(['\n', ' ', '\t', '\0']))
    }

    /// The number in `path`.
    pub(super) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The folders right in `folder`, by what is known of their files.
    pub(super) fn folders(&self, folder: &str) -> Vec<&str> {
        let names = self.0.keys().filter_map(|path| {
            let (name, _) = path.strip_prefix(folder)?.strip_prefix('/')?.split_once('/')?;
            Some(name)
        });
        let mut names: Vec<&str> = names.collect();
        names.dedup();
        names
    }

    /// Files and texts, by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.trim()))
    }
}

/// The files that fit `pattern`.
fn expand(root: &Root, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.trim_start_matches('/').split('/') {
        found = found.iter().flat_map(|folder| step(root, folder, part)).collect();
    }
    found.retain(|path| root.path(path).is_file());
    found
}

fn step(root: &Root, folder: &str, part: &str) -> Vec<String> {
    let Some((start, end)) = part.split_once('*') else { return vec![format!("{folder}/{part}")] };
    let Ok(entries) = fs::read_dir(root.path(folder)) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let fits = |name: &String| {
        let rest = name.strip_prefix(start);
        !name.starts_with('.') && rest.is_some_and(|rest| rest.ends_with(end))
    };
    let mut names: Vec<String> = names.filter(fits).collect();
    names.sort();
    names.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_names_and_what_is_not_there_is_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["class/a0/temp", "class/a1/temp", "class/b0/temp", "class/a1/type"] {
            let path = folder.path().join("sys").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, " 42\n").unwrap();
        }
        let root = Root::at(folder.path());
        let snapshot =
            Snapshot::here(&root, &["/sys/class/a*/temp", "/sys/class/*/nothing", "/no"]);
        assert_eq!(snapshot.0.len(), 2);
        assert_eq!(snapshot.number::<u64>("/sys/class/a1/temp"), Some(42));
        assert_eq!(snapshot.folders("/sys/class"), ["a0", "a1"]);
    }
}
