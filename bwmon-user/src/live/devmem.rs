//! A block's registers through `/dev/mem`.
//!
//! `mmap` only: `read` and `write` never work for device memory. `O_SYNC` asks arm64 for a
//! non-cached Device mapping. A kernel with IO_STRICT_DEVMEM refuses a page that a driver has
//! claimed, which is why the kernel's driver is unbound first.

use super::root::{Root, read_line};
use crate::board::Monitor;
use crate::bwmon::{Offset, Region, Registers};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::path::PathBuf;
use std::ptr::NonNull;

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

/// One mapped region.
#[derive(Debug)]
struct Mapping {
    base: NonNull<c_void>,
    length: usize,
    /// Where the region starts in the mapping.
    offset: usize,
    /// Bytes of the region.
    size: usize,
}

// SAFETY: the mapping belongs to this value alone; it is used from one thread at a time.
#[expect(unsafe_code, reason = "a raw mapping is not Send by itself")]
unsafe impl Send for Mapping {}

impl Mapping {
    fn open(root: &Root, address: u64, size: u64) -> Result<Self, RegisterError> {
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
        // SAFETY: a new mapping at an address that the kernel picks; nothing else refers to it.
        #[expect(unsafe_code, reason = "device memory can only be mapped")]
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                start,
            )
        };
        let base = base.map_err(|error| match error {
            Errno::PERM | Errno::ACCESS => RegisterError::Claimed { address },
            error => RegisterError::Other { address, error },
        })?;
        let base =
            NonNull::new(base).ok_or(RegisterError::Other { address, error: Errno::FAULT })?;
        Ok(Self { base, length, offset, size: size as usize })
    }

    /// The address of the register `bytes` into the region, if that is inside and aligned.
    fn register(&self, bytes: u32) -> Option<*mut u32> {
        let bytes = bytes as usize;
        if !bytes.is_multiple_of(4) || bytes + 4 > self.size {
            return None;
        }
        // The region lies inside of the mapping, and its address is a multiple of 4 (checked when
        // the board was parsed).
        Some(self.base.as_ptr().wrapping_byte_add(self.offset + bytes).cast())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no pointer into it is kept.
        #[expect(unsafe_code, reason = "gives the mapping back")]
        let _ = unsafe { munmap(self.base.as_ptr(), self.length) };
    }
}

/// `none`, `integrity` or `confidentiality`, if the kernel says so and it is not `none`.
pub(super) fn lockdown(root: &Root) -> Option<String> {
    let text = read_line(&root.path("/sys/kernel/security/lockdown")).ok()?;
    let mode = text.split(['[', ']']).nth(1)?.to_owned();
    (mode != "none").then_some(mode)
}

/// The mapped registers of one monitor.
#[derive(Debug)]
pub struct MappedRegisters {
    monitor: Mapping,
    global: Option<Mapping>,
}

impl MappedRegisters {
    /// Maps all regions of `monitor`.
    ///
    /// # Errors
    /// Why a region cannot be mapped.
    pub fn open(root: &Root, monitor: &Monitor) -> Result<Self, RegisterError> {
        let mut regions = monitor.reg.iter().map(|(a, s)| Mapping::open(root, *a, *s));
        let none = RegisterError::Other { address: 0, error: Errno::INVAL };
        let first = regions.next().unwrap_or(Err(none))?;
        Ok(Self { monitor: first, global: regions.next().transpose()? })
    }

    fn register(&self, at: Offset) -> Option<*mut u32> {
        match at.region {
            Region::Monitor => self.monitor.register(at.bytes),
            Region::Global => self.global.as_ref()?.register(at.bytes),
        }
    }
}

impl Registers for MappedRegisters {
    fn read32(&mut self, at: Offset) -> u32 {
        match self.register(at) {
            // SAFETY: inside of the mapping and aligned; volatile, since it is a device.
            #[expect(unsafe_code, reason = "a device register")]
            Some(register) => unsafe { register.read_volatile() },
            None => 0,
        }
    }

    fn write32(&mut self, at: Offset, value: u32) {
        if let Some(register) = self.register(at) {
            // Everything before it is done first: counters are cleared before interrupts are.
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            // SAFETY: as for reading.
            #[expect(unsafe_code, reason = "a device register")]
            unsafe {
                register.write_volatile(value);
            }
        }
    }
}
