//! Reads a device tree: the kernel's folder, a copy of it, or a compiled file.

use super::root::Root;
use crate::board::devicetree::Node;
use crate::board::devicetree::blob::{self, BlobError, MAX_DEPTH, MAX_NODES};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The kernel's folder.
const BASE: &str = "/sys/firmware/devicetree/base";

/// Bytes of one property that are read.
const MAX_PROPERTY: u64 = 64 * 1024;
/// Bytes of all properties together, and of a compiled tree.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Why a tree cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It holds no tree.
    #[error(
        "{} holds no device tree: no compatible at its top (copy /sys/firmware/devicetree/base with \
         `cp -r`, or give a .dtb file)",
        .0.display()
    )]
    NoTree(PathBuf),
    /// It has no end.
    #[error(
        "{} is more than a device tree: over {MAX_NODES} nodes, {MAX_DEPTH} levels or {MAX_BYTES} \
         bytes",
        .0.display()
    )]
    TooLarge(PathBuf),
    /// A compiled tree is broken.
    #[error("{}: {error}", path.display())]
    Blob {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: BlobError,
    },
}

/// The tree of the machine under `root`; `None` if it has none.
///
/// # Errors
/// Why it cannot be read.
pub fn machine_tree(root: &Root) -> Result<Option<Node>, TreeError> {
    let path = root.path(BASE);
    if path.is_dir() { read(&path).map(Some) } else { Ok(None) }
}

/// The tree at `path`: a folder, or a compiled file.
///
/// # Errors
/// Why it cannot be read.
pub fn read(path: &Path) -> Result<Node, TreeError> {
    let fail = |error| TreeError::Io { path: path.to_owned(), error };
    if fs::metadata(path).map_err(fail)?.is_dir() {
        let mut limits = Limits { top: path, nodes: 0, bytes: 0 };
        let root = folder(path, String::new(), 0, &mut limits)?;
        return match root.properties.contains_key("compatible") {
            true => Ok(root),
            false => Err(TreeError::NoTree(path.to_owned())),
        };
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(fail)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(TreeError::TooLarge(path.to_owned()));
    }
    blob::parse(&bytes).map_err(|error| TreeError::Blob { path: path.to_owned(), error })
}

struct Limits<'a> {
    top: &'a Path,
    nodes: usize,
    bytes: u64,
}

/// The node in the folder `path`. Links are not followed, and only regular files are read: a copy may
/// hold anything.
fn folder(
    path: &Path,
    name: String,
    depth: usize,
    limits: &mut Limits<'_>,
) -> Result<Node, TreeError> {
    let fail = |error| TreeError::Io { path: path.to_owned(), error };
    limits.nodes += 1;
    if limits.nodes > MAX_NODES || depth > MAX_DEPTH {
        return Err(TreeError::TooLarge(limits.top.to_owned()));
    }
    let mut node = Node { name, ..Node::default() };
    let mut entries: Vec<fs::DirEntry> =
        fs::read_dir(path).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() {
            node.children.push(folder(&entry.path(), name, depth + 1, limits)?);
        } else if kind.is_file() {
            let value = property(&entry.path())?;
            limits.bytes += value.len() as u64;
            if limits.bytes > MAX_BYTES {
                return Err(TreeError::TooLarge(limits.top.to_owned()));
            }
            node.properties.insert(name, value);
        }
    }
    Ok(node)
}

fn property(path: &Path) -> Result<Vec<u8>, TreeError> {
    let fail = |error| TreeError::Io { path: path.to_owned(), error };
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(fail)?;
    file.take(MAX_PROPERTY).read_to_end(&mut bytes).map_err(fail)?;
    Ok(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::board::devicetree::discover;
    use crate::board::devicetree::testing::tree_of;
    use crate::board::{Board, builtin};

    /// Writes `node` as the kernel shows it.
    pub(crate) fn write(path: &Path, node: &Node) {
        fs::create_dir_all(path).unwrap();
        for (name, value) in &node.properties {
            fs::write(path.join(name), value).unwrap();
        }
        for child in &node.children {
            write(&path.join(&child.name), child);
        }
    }

    fn sdm845() -> Board {
        builtin("sdm845").unwrap().unwrap()
    }

    #[test]
    fn a_folder_is_read_as_the_tree_that_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        assert!(machine_tree(&root).unwrap().is_none());
        write(&root.path(BASE), &tree_of(&sdm845()));
        let read = machine_tree(&root).unwrap().unwrap();
        assert_eq!(discover(&read), discover(&tree_of(&sdm845())));
    }

    #[test]
    fn links_are_not_followed_and_a_folder_without_a_tree_is_said() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &tree_of(&sdm845()));
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        assert_eq!(discover(&read(folder.path()).unwrap()).blocks.len(), 2);
        let empty = tempfile::tempdir().unwrap();
        let error = read(empty.path()).unwrap_err().to_string();
        assert!(error.contains("holds no device tree"), "{error}");
    }

    #[test]
    fn a_folder_without_an_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("n", 60).collect();
        fs::create_dir_all(folder.path().join(deep)).unwrap();
        fs::write(folder.path().join("compatible"), "x\0").unwrap();
        assert!(matches!(read(folder.path()), Err(TreeError::TooLarge(_))));
    }

    #[test]
    fn a_huge_property_is_cut_and_a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("compatible"), vec![b'x'; 100_000]).unwrap();
        let root = read(folder.path()).unwrap();
        assert_eq!(root.properties["compatible"].len(), 65_536);
        let file = folder.path().join("x.dtb");
        fs::write(&file, "no tree").unwrap();
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("x.dtb: this is no compiled device tree"), "{error}");
    }
}
