//! A sample: raw readings of all monitors and probes for one tick, each with its health.
//!
//! What is missing is a type, never a number.

use crate::bwmon::{CountScale, ZoneMaxima};
use crate::units::{Kbps, Khz, Nanos};
use serde::{Deserialize, Serialize};

/// Everything that was read for one tick. Together with the levels in force it is all that the
/// road sees, so a recorded sample is enough to walk it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of the tick, from 0; skipped grid points are counted here too.
    pub tick: u64,
    /// The span that the readings belong to.
    pub window: Window,
    /// One reading for each of the board's monitors, in its order.
    pub monitors: Vec<Reading>,
    /// What the probes know.
    pub probes: ProbeFacts,
}

/// A span of monotonic time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When the sample before this one was taken.
    pub start_ns: Nanos,
    /// When this sample was taken.
    pub end_ns: Nanos,
}

fn is_none(span: &Nanos) -> bool {
    span.0 == 0
}

/// What one monitor said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// The block was polled.
    Polled {
        /// The largest window count per zone since the last poll.
        zone_max: ZoneMaxima,
        /// Time since the last poll, at least one window.
        elapsed_ns: Nanos,
    },
    /// The block interrupted (it is read through UIO).
    Interrupt {
        /// The zone whose windows are counted: 3 after one window above the upper threshold, 1 after
        /// sixteen on end at or below the lower one.
        zone: u8,
        /// The largest window count of that zone, as the kernel's driver reads it.
        max: u16,
        /// Time since the counters were cleared.
        elapsed_ns: Nanos,
    },
    /// The kernel's driver reported what it measured (`qcom_bwmon_update`).
    Kernel {
        /// Its measurement, by the last update in this tick.
        #[serde(rename = "meas_kBps")]
        meas_kbps: Kbps,
        /// The threshold that it programmed for going up, by the last update.
        #[serde(rename = "up_kBps")]
        up_kbps: Kbps,
        /// The threshold that it programmed for coming down, by the last update.
        #[serde(rename = "down_kBps")]
        down_kbps: Kbps,
        /// Updates in this tick, at least 1.
        updates: u32,
    },
    /// There is no reading.
    Missing(Missing),
}

impl Reading {
    /// The busiest window as the kernel computes it; `None` without a reading.
    pub fn peak(&self, scale: CountScale) -> Option<Kbps> {
        match self {
            Self::Polled { zone_max, .. } => Some(scale.kbps(zone_max.peak())),
            Self::Interrupt { max, .. } => Some(scale.kbps(*max)),
            Self::Kernel { meas_kbps, .. } => Some(*meas_kbps),
            Self::Missing(_) => None,
        }
    }
}

/// Why there is no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Less than one window has passed since the last poll.
    NoWholeWindow,
    /// The kernel's driver had nothing to report in this tick.
    NoUpdate,
    /// The monitor can be read neither through registers nor through the kernel's driver.
    Absent,
    /// Nothing has been read yet.
    NotStarted,
    /// The block was found to be programmed otherwise (after a sleep, or by somebody else); it has
    /// been programmed anew.
    Reprogrammed,
}

/// What the probes, and the machine besides the monitors, say at the time of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeFacts {
    /// For each domain, the highest peak vote of the other consumers of its path's first node;
    /// `None` while none was seen.
    #[serde(rename = "others_kBps")]
    pub others_kbps: Vec<Option<Kbps>>,
    /// The highest CPU frequency that was reported; `None` while none was.
    #[serde(rename = "cpu_max_kHz")]
    pub cpu_max_khz: Option<Khz>,
    /// Probe events lost since the start; `None` without probes.
    pub lost_events: Option<u64>,
    /// CPUs on line; `None` where it was not looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_online: Option<u32>,
    /// Time that the machine slept since the sample before; the monotonic clock does not count it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub slept_ns: Nanos,
}
