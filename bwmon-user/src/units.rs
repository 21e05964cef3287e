//! Quantities with their unit in the type. All arithmetic is `u64`; nothing wraps silently.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Kilobytes (1000 bytes) per second: the unit of `opp-peak-kBps` in device trees and of every
/// vote in the interconnect framework. Operators read and write it as `_kBps`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Kbps(pub u64);

impl fmt::Display for Kbps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Kilohertz, as in `scaling_cur_freq` and `power:cpu_frequency`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Khz(pub u64);

/// Hertz, as in devfreq's `available_frequencies`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Hz(pub u64);

impl fmt::Display for Hz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Nanoseconds of a monotonic clock (`CLOCK_MONOTONIC` live, virtual time in the simulator).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Nanoseconds in a microsecond.
    pub const PER_US: u64 = 1_000;
    /// Nanoseconds in a millisecond.
    pub const PER_MS: u64 = 1_000_000;
    /// Nanoseconds in a second.
    pub const PER_S: u64 = 1_000_000_000;

    /// The time since `earlier`; zero if `earlier` lies ahead (a clock that jumped back).
    pub fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// This moment and `span` more, saturating.
    pub fn plus(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }

    /// Whole microseconds, rounded down.
    pub fn as_us(self) -> u64 {
        self.0 / Self::PER_US
    }

    /// Whole milliseconds, rounded down.
    pub fn as_ms(self) -> u64 {
        self.0 / Self::PER_MS
    }
}
