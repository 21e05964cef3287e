//! The hardware block: layouts, count mathematics, and the driver over [`Registers`].
//!
//! Live, [`Registers`] is a mapping of `/dev/mem`; in the simulator and in the virtual machine's
//! hardware player it is the register-level model [`crate::sim::block::Block`]. So the code that
//! touches silicon is the code that every simulation runs.

mod count;
mod driver;
mod layout;

pub use count::{COUNT_MAX, CountScale, TIMER_HZ};
pub use driver::{Armed, Driver, Poll, ZONE1_WINDOWS, ZoneMaxima};
pub use layout::{Layout, Offset, Region, Register, Zone};

/// 32-bit access to a block's registers. Neither call can fail: what could (permission, a vanished
/// region) fails when the mapping is made.
pub trait Registers {
    /// Reads the register at `at`.
    fn read32(&mut self, at: Offset) -> u32;
    /// Writes the register at `at`, ordered after every earlier access.
    fn write32(&mut self, at: Offset, value: u32);
}
