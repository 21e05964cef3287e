//! A block's registers through `/dev/mem`.
//!
//! `mmap` only: `read` and `write` never work for device memory. `O_SYNC` asks arm64 for a
//! non-cached Device mapping. A kernel with IO_STRICT_DEVMEM refuses a page that a driver has
//! claimed, which is why the kernel's driver is unbound first.

use super::mapping::Mapping;
use super::root::{Root, read_line};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::PathBuf;

/// Why the registers cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is no `/dev/mem`.
    #[error("{}: not there; the kernel was built without CONFIG_DEVMEM", .0.display())]
    NoDevMem(PathBuf),
    /// No permission.
    #[error("{}: no permission; root with CAP_SYS_RAWIO is needed", .0.display())]
    Permission(PathBuf),
    /// Kernel lockdown.
    #[error(
        "/dev/mem is closed by kernel lockdown ({0}); use --shadow, or boot without lockdown \
         (secure boot turns it on)"
    )]
    Lockdown(String),
    /// The page is claimed.
    #[error(
        "the registers at {address:#x} are claimed: a driver holds them (the kernel's driver has \
         to be unbound first), or the kernel takes them for RAM"
    )]
    Claimed {
        /// Physical address.
        address: u64,
    },
    /// Anything else.
    #[error("the registers at {address:#x} cannot be mapped: {error}")]
    Other {
        /// Physical address.
        address: u64,
        /// What the system said.
        error: Errno,
    },
}

/// Maps `size` bytes of registers at the physical `address`.
///
/// # Errors
/// Why they cannot be mapped.
pub(super) fn map(root: &Root, address: u64, size: u64) -> Result<Mapping, RegisterError> {
    let path = root.path("/dev/mem");
    let flags = OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT => RegisterError::NoDevMem(path.clone()),
        Errno::ACCESS => RegisterError::Permission(path.clone()),
        Errno::PERM => lockdown(root)
            .map_or_else(|| RegisterError::Permission(path.clone()), RegisterError::Lockdown),
        error => RegisterError::Other { address, error },
    })?;
    let page = rustix::param::page_size() as u64;
    let start = address / page * page;
    let offset = (address - start) as usize;
    let length = ((address - start + size).div_ceil(page) * page) as usize;
    Mapping::new(&file, start, length, offset, size as usize).map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => RegisterError::Claimed { address },
        error => RegisterError::Other { address, error },
    })
}

/// `none`, `integrity` or `confidentiality`, if the kernel says so and it is not `none`.
pub(super) fn lockdown(root: &Root) -> Option<String> {
    let text = read_line(&root.path("/sys/kernel/security/lockdown")).ok()?;
    let mode = text.split(['[', ']']).nth(1)?.to_owned();
    (mode != "none").then_some(mode)
}
