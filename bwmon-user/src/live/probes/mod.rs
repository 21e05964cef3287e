//! The kernel probes as the agent sees them.
//!
//! ```no_run
//! # fn main() -> Result<(), bwmon_user::live::probes::ProbeError> {
//! use bwmon_user::live::probes::Loader;
//!
//! let mut probes = Loader::embedded()?.load()?;
//! for gone in &probes.absent {
//!     eprintln!("{}: {}; without it: {}", gone.event, gone.why, gone.lost);
//! }
//! let mut records = Vec::new();
//! probes.reader.drain(&mut records);
//! # Ok(()) }
//! ```
//!
//! Dropping the [`ProbeSet`] detaches everything; nothing is pinned.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is a door to the machine: it reads tracefs and procfs"
)]

// One tracepoint hit is bytes here, a record there.
mod decode;
// What can go wrong, with the next step.
mod error;
// The text in which the kernel describes an event.
mod format;
// tracefs, objects and programs become an attached set.
mod load;
// The compiled probes inside this program.
mod object;
// Taking records out, and accounting for those that are not.
mod reader;
// Where the kernel's events are described.
mod tracefs;

#[cfg(test)]
mod kernel_tests;

pub use decode::{CUT_MARK, DecodeError, UNREADABLE, decode};
pub use error::ProbeError;
pub use format::{Format, FormatError, FormatField, LayoutError, Location, parse};
pub use load::{Absent, Attached, Guard, Loader, ProbeSet, StandIn};
pub use object::Object;
pub use reader::{AsyncProbeReader, Counts, ProbeReader};
