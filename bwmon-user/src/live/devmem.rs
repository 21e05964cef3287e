//! A block's registers through `/dev/mem`.
//!
//! `mmap` only: `read` and `write` never work for device memory. `O_SYNC` asks arm64 for a
//! non-cached Device mapping. A kernel with IO_STRICT_DEVMEM refuses a page that a driver has
//! claimed, which is why the kernel's driver is unbound first.

pub use super::devmem_error::RegisterError;
use super::devmem_error::{not_mapped, not_opened};
use super::machine::effective_capabilities;
use super::mapping::Mapping;
use super::root::{Root, read_line};
use rustix::fs::{Mode, OFlags};

/// Maps `size` bytes of registers at the physical `address`.
///
/// # Errors
/// Why they cannot be mapped.
pub(super) fn map(root: &Root, address: u64, size: u64) -> Result<Mapping, RegisterError> {
    let path = root.path("/dev/mem");
    let flags = OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| {
        not_opened(&path, error, address, effective_capabilities(root), lockdown(root))
    })?;
    let page = rustix::param::page_size() as u64;
    let start = address / page * page;
    let offset = (address - start) as usize;
    let length = ((address - start + size).div_ceil(page) * page) as usize;
    Mapping::new(&file, start, length, offset, size as usize).map_err(|error| {
        let iomem = std::fs::read_to_string(root.path("/proc/iomem")).unwrap_or_default();
        not_mapped(error, address, size, &iomem)
    })
}

/// `none`, `integrity` or `confidentiality`, if the kernel says so and it is not `none`.
pub(super) fn lockdown(root: &Root) -> Option<String> {
    let text = read_line(&root.path("/sys/kernel/security/lockdown")).ok()?;
    let mode = text.split(['[', ']']).nth(1)?.to_owned();
    (mode != "none").then_some(mode)
}
