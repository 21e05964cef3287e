//! Physical memory through `/dev/mem`, one mapping of 32-bit registers at a time.

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapped range of physical addresses.
#[derive(Debug)]
pub(crate) struct Window {
    base: NonNull<std::ffi::c_void>,
    bytes: usize,
}

impl Window {
    /// Maps `bytes` at the page-aligned physical `address`; the kernel's own errno when it refuses.
    pub(crate) fn map(address: u64, bytes: usize) -> rustix::io::Result<Self> {
        Self::map_file(Path::new("/dev/mem"), address, bytes)
    }

    /// The same of any file that maps device memory, at a page-aligned offset in it.
    pub(crate) fn map_file(path: &Path, address: u64, bytes: usize) -> rustix::io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC;
        let memory = rustix::fs::open(path, flags, Mode::empty())?;
        #[expect(unsafe_code, reason = "mmap of physical memory has no safe form")]
        // SAFETY: a fresh shared mapping at an address of the kernel's choice; nothing in this
        // program lives in the physical ranges it asks for (reserved memory, device registers).
        let base = unsafe {
            let rights = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                rights,
                MapFlags::SHARED,
                &memory,
                address,
            )
        }?;
        let base = NonNull::new(base).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Self { base, bytes })
    }

    /// The 32 bits at `offset`.
    pub(crate) fn read32(&self, offset: u32) -> Result<u32> {
        Ok(self.cell(offset)?.load(Ordering::SeqCst))
    }

    /// Writes the 32 bits at `offset`.
    pub(crate) fn write32(&self, offset: u32, value: u32) -> Result<()> {
        self.cell(offset)?.store(value, Ordering::SeqCst);
        Ok(())
    }

    /// Reads and zeroes in one step, so that no write of the driver falls between the two.
    pub(crate) fn take32(&self, offset: u32) -> Result<u32> {
        Ok(self.cell(offset)?.swap(0, Ordering::SeqCst))
    }

    /// Atomics, not volatile accesses: the "device" is RAM that another processor writes.
    fn cell(&self, offset: u32) -> Result<&AtomicU32> {
        let offset = usize::try_from(offset).context("offset")?;
        if !offset.is_multiple_of(4) || offset + 4 > self.bytes {
            bail!("offset {offset:#x} is not a register of a {:#x} byte mapping", self.bytes);
        }
        #[expect(unsafe_code, reason = "a register behind a raw mapping")]
        // SAFETY: within the mapping and aligned (checked above); it lives as long as `self`, and
        // every access in this program is atomic.
        unsafe {
            Ok(AtomicU32::from_ptr(self.base.as_ptr().cast::<u8>().add(offset).cast::<u32>()))
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the counterpart of mmap")]
        // SAFETY: `map` made this mapping with these bounds, and no reference outlives `self`.
        let answer = unsafe { rustix::mm::munmap(self.base.as_ptr(), self.bytes) };
        if let Err(error) = answer {
            println!("bwmon-vm: munmap: {error}");
        }
    }
}
