//! What tests of several modules need.

use crate::board::Level;
use crate::observe::Observation;
use crate::units::Nanos;

/// An observation in which nothing is known.
pub(crate) fn observation() -> Observation {
    Observation {
        dt_us: 4_000,
        now: Nanos(4 * Nanos::PER_MS),
        measured: None,
        level: None,
        min_level: Level(0),
        max_level: Level(4),
        others_kbps: None,
        kernel_kbps: None,
        cpu_max_khz: None,
        since_change_us: None,
        lost_events: None,
    }
}
