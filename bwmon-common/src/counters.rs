//! What the probes count, per CPU.

use crate::Kind;

/// Since the probes were loaded, on one CPU. Only that CPU writes: the kernel does not nest BPF
/// tracepoint programs, so plain additions lose nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Records put into the ring buffer, by [`Kind::index`].
    pub emitted: [u64; Kind::COUNT],
    /// Records lost because the ring buffer was full, by [`Kind::index`].
    pub lost: [u64; Kind::COUNT],
    /// Records dropped because a field could not be read, by [`Kind::index`]. Not expected: the
    /// offsets come from the kernel itself.
    pub unreadable: [u64; Kind::COUNT],
}

const _: () = assert!(size_of::<Counters>() == 3 * 8 * Kind::COUNT);
const _: () = assert!(core::mem::offset_of!(Counters, lost) == 8 * Kind::COUNT);
