//! Writing so that a crash leaves the old or the new, never a half.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What stands on the name of something that is being made.
const FRESH: &str = ".new-";

/// The name for the new `path` while it is being made.
pub(super) fn fresh(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{FRESH}{name}"))
}

/// Syncs the folder itself: the names in it.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes `bytes` into the new file `path`, to disk.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Puts `bytes` in the place of the file `path`.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = fresh(path);
    forget(&new)?;
    write_new(&new, bytes)?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Lets the link `path` lead to `target`, whether or not it is there.
pub(super) fn relink(path: &Path, target: &Path) -> io::Result<()> {
    let new = fresh(path);
    forget(&new)?;
    symlink(target, &new)?;
    fs::rename(&new, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Removes the file, link or folder `path` if it is there.
pub(super) fn forget(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(kind) if kind.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
