//! The drivers: kernel modules in the order that the host wrote down.

use anyhow::{Context, Result};
use rustix::io::Errno;
use std::{fs::File, path::Path};

/// One file name per line, dependencies first (`xtask/src/vm/modules.rs` writes it).
const ORDER: &str = "/modules/order";

/// `MODULE_INIT_COMPRESSED_FILE`: the kernel unpacks the file itself.
const COMPRESSED: i32 = 4;

/// Inserts every module of the list.
pub(crate) fn insert_all() -> Result<()> {
    let order = std::fs::read_to_string(ORDER).with_context(|| format!("read {ORDER}"))?;
    order.lines().filter(|line| !line.is_empty()).try_for_each(insert)
}

/// Inserts one module of the folder.
pub(crate) fn insert(name: &str) -> Result<()> {
    insert_file(&Path::new("/modules").join(name)).with_context(|| format!("insert {name}"))
}

/// Removes a module; the kernel's own errno when it refuses.
pub(crate) fn remove(name: &std::ffi::CStr) -> rustix::io::Result<()> {
    // O_NONBLOCK: refused at once while it is in use.
    rustix::system::delete_module(name, rustix::fs::OFlags::NONBLOCK.bits() as i32)
}

fn insert_file(path: &Path) -> Result<()> {
    let plain = path.extension().is_some_and(|extension| extension == "ko");
    let flags = if plain { 0 } else { COMPRESSED };
    match rustix::system::finit_module(File::open(path)?, c"", flags) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
