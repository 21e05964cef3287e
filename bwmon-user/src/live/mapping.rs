//! A piece of a file mapped as device registers.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::os::fd::AsFd;
use std::ptr::NonNull;

/// One mapped region.
#[derive(Debug)]
pub(super) struct Mapping {
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
    /// Maps `length` bytes (whole pages) of `file` from `start`; the region of `size` bytes begins
    /// at `offset` in them.
    ///
    /// # Errors
    /// As the system says; EINVAL if the region does not lie in the pages.
    pub(super) fn new(
        file: impl AsFd,
        start: u64,
        length: usize,
        offset: usize,
        size: usize,
    ) -> Result<Self, Errno> {
        if offset.checked_add(size).is_none_or(|end| end > length) || !offset.is_multiple_of(4) {
            return Err(Errno::INVAL);
        }
        // SAFETY: a new mapping at an address that the kernel picks; nothing else refers to it.
        #[expect(unsafe_code, reason = "device memory can only be mapped")]
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                start,
            )
        }?;
        let base = NonNull::new(base).ok_or(Errno::FAULT)?;
        Ok(Self { base, length, offset, size })
    }

    /// The address of the register `bytes` into the region, if that is inside and aligned.
    fn register(&self, bytes: u32) -> Option<*mut u32> {
        let bytes = bytes as usize;
        if !bytes.is_multiple_of(4) || bytes + 4 > self.size {
            return None;
        }
        // The region lies inside of the mapping and starts at a multiple of 4.
        Some(self.base.as_ptr().wrapping_byte_add(self.offset + bytes).cast())
    }

    /// The register `bytes` into the region; 0 where there is none.
    pub(super) fn read32(&self, bytes: u32) -> u32 {
        match self.register(bytes) {
            // SAFETY: inside of the mapping and aligned; volatile, since it is a device.
            #[expect(unsafe_code, reason = "a device register")]
            Some(register) => unsafe { register.read_volatile() },
            None => 0,
        }
    }

    /// Writes the register `bytes` into the region; nothing where there is none.
    pub(super) fn write32(&self, bytes: u32, value: u32) {
        if let Some(register) = self.register(bytes) {
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

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no pointer into it is kept.
        #[expect(unsafe_code, reason = "gives the mapping back")]
        let _ = unsafe { munmap(self.base.as_ptr(), self.length) };
    }
}
