//! What crosses from the kernel probes to the agent: records, counters, and the table of which
//! tracepoint fields the probes copy.
//!
//! Rules of this ABI: `repr(C)`, only `u32` and `u64` and byte arrays, padding written out, layout
//! asserted at compile time. Any change bumps [`ABI_VERSION`]; the loader refuses an object built
//! with another one.
#![no_std]

mod counters;
mod kind;
mod record;
#[cfg(feature = "user")]
mod user;

pub use counters::Counters;
pub use kind::{Field, FieldType, Kind, field};
pub use record::{
    BwmonUpdate, COMM_BYTES, CpuFrequency, DevfreqFrequency, DevfreqMonitor, Header, IccSetBw,
    IccSetBwEnd, Name,
};

/// The version of everything in this crate.
pub const ABI_VERSION: u32 = 2;

/// The global in the object that holds the [`ABI_VERSION`] it was built with.
pub const ABI_SYMBOL: &str = "BWMON_ABI_VERSION";

/// The read-only global that the loader fills with [`Offsets`].
pub const OFFSETS_SYMBOL: &str = "BWMON_OFFSETS";

/// The ring buffer through which records come.
pub const EVENTS_MAP: &str = "EVENTS";

/// The per-CPU array of one [`Counters`].
pub const COUNTERS_MAP: &str = "COUNTERS";

/// Size of the ring buffer in bytes: a power of two and a multiple of every page size (up to
/// 64 KiB on arm64). It holds some 2,500 of the largest records.
pub const EVENTS_BYTES: u32 = 512 * 1024;

/// How many bytes of a string are copied, the terminating NUL included. A longer one is cut and
/// marked ([`Name::TRUNCATED`]).
pub const NAME_BYTES: usize = 48;

/// The most fields that any [`Kind`] has.
pub const MAX_FIELDS: usize = 7;

/// Where each field of each tracepoint lies, in bytes from the start of the event's record.
/// Taken from tracefs when the probes are loaded: kernels may differ.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Indexed by [`Kind::index`], then by the constants in [`field`]. Unused cells are 0.
    pub at: [[u32; MAX_FIELDS]; Kind::COUNT],
}

impl Offsets {
    /// No event known: a program that ran with these would copy the common header.
    pub const NONE: Offsets = Offsets { at: [[0; MAX_FIELDS]; Kind::COUNT] };
}

const _: () = assert!(size_of::<Offsets>() == 4 * MAX_FIELDS * Kind::COUNT);
const _: () = assert!(EVENTS_BYTES.is_power_of_two() && EVENTS_BYTES.is_multiple_of(65_536));
