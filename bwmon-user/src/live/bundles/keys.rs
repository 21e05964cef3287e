//! The keys whose signatures count on this machine.

use crate::bundle::{MAX_SIGNATURE, TrustedKey};
use crate::live::root::{Root, names};
use crate::live::text_of;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where public keys are looked for; what comes first hides same-named files of the later.
pub const KEY_FOLDERS: [&str; 3] = ["/etc/bwmon/keys", "/run/bwmon/keys", "/usr/lib/bwmon/keys"];

/// A file in a folder of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The file.
    pub path: PathBuf,
    /// The key; `None` for a file that masks its name.
    pub key: Option<TrustedKey>,
}

/// The keys in `folders`, of which the first counts most, or without any in the machine's. A file
/// hides those of the same name in later folders; an empty one, or a link to /dev/null, does
/// nothing else.
///
/// # Errors
/// A folder that was asked for and is not there, or a file that is no public key.
pub fn trusted_keys(root: &Root, folders: &[PathBuf]) -> anyhow::Result<Vec<Key>> {
    if let Some(missing) = folders.iter().find(|folder| !folder.is_dir()) {
        bail!("cannot look for keys in {}: it is no folder", missing.display());
    }
    let standard = || KEY_FOLDERS.iter().map(|folder| root.path(folder)).collect::<Vec<_>>();
    let folders = if folders.is_empty() { standard() } else { folders.to_vec() };
    let mut found: BTreeMap<String, Key> = BTreeMap::new();
    for folder in folders {
        for name in names(&folder).into_iter().filter(|name| name.ends_with(".pub")) {
            if name.starts_with('.') || found.contains_key(&name) {
                continue;
            }
            let path = folder.join(&name);
            let key = key(&path)?;
            found.insert(name, Key { path, key });
        }
    }
    Ok(found.into_values().collect())
}

fn key(path: &Path) -> anyhow::Result<Option<TrustedKey>> {
    let shown = path.display().to_string();
    if fs::canonicalize(path).is_ok_and(|target| target == Path::new("/dev/null")) {
        return Ok(None);
    }
    let length = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?.len();
    if length == 0 {
        return Ok(None);
    }
    if length > MAX_SIGNATURE {
        bail!("{shown} is larger than {MAX_SIGNATURE} bytes: it is no public key");
    }
    Ok(Some(TrustedKey::parse(&shown, &text_of(&shown)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    // The key of minisign's own documentation.
    const ONE: &str =
        "untrusted comment: one\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n";

    fn keys(root: &Root) -> Vec<(String, bool)> {
        let found = trusted_keys(root, &[]).unwrap();
        let shown = |key: Key| (key.path.to_string_lossy().into_owned(), key.key.is_some());
        found.into_iter().map(shown).collect()
    }

    #[test]
    fn the_first_folder_hides_and_masks_same_named_keys_of_the_later_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        assert_eq!(keys(&root), []);
        for place in KEY_FOLDERS {
            fs::create_dir_all(root.path(place)).unwrap();
        }
        for name in ["a.pub", "b.pub", "c.pub", "notes.txt"] {
            fs::write(root.path("/usr/lib/bwmon/keys").join(name), ONE).unwrap();
        }
        fs::write(root.path("/run/bwmon/keys/b.pub"), "").unwrap();
        symlink("/dev/null", root.path("/etc/bwmon/keys/c.pub")).unwrap();
        let at = |name: &str| root.path(name).to_string_lossy().into_owned();
        assert_eq!(
            keys(&root),
            [
                (at("/usr/lib/bwmon/keys/a.pub"), true),
                (at("/run/bwmon/keys/b.pub"), false),
                (at("/etc/bwmon/keys/c.pub"), false),
            ]
        );
        fs::write(root.path("/etc/bwmon/keys/d.pub"), "what\nis this").unwrap();
        let said = trusted_keys(&root, &[]).unwrap_err().to_string();
        assert!(said.contains("no minisign public key") && said.contains("d.pub"), "{said}");
    }
}
