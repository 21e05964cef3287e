//! The traffic that is played.

use std::time::Duration;

/// A stretch of traffic whose bandwidth runs evenly from one value to another, or, when it has a
/// `burst`, jumps between the two.
pub(crate) struct Segment {
    pub(crate) name: &'static str,
    ms: u64,
    from_kbps: u64,
    to_kbps: u64,
    /// Milliseconds at each value in turn.
    burst: Option<u64>,
}

/// Idle, up, bursts on every scale that matters to a 4 ms window, a full register, and down again.
pub(crate) const TRACE: [Segment; 7] = [
    steady("idle", 200, 20_000),
    ramp("ramp up", 600, 20_000, 8_000_000),
    bursts("long bursts", 600, 100_000, 5_000_000, 100),
    bursts("short bursts", 300, 700_000, 3_000_000, 6),
    // Beyond the twelve bits of a count: 65.5 GB/s.
    steady("saturation", 120, 90_000_000),
    ramp("ramp down", 600, 8_000_000, 20_000),
    steady("idle again", 200, 0),
];

const fn steady(name: &'static str, ms: u64, kbps: u64) -> Segment {
    ramp(name, ms, kbps, kbps)
}

const fn ramp(name: &'static str, ms: u64, from_kbps: u64, to_kbps: u64) -> Segment {
    Segment { name, ms, from_kbps, to_kbps, burst: None }
}

const fn bursts(name: &'static str, ms: u64, low: u64, high: u64, each_ms: u64) -> Segment {
    Segment { name, ms, from_kbps: low, to_kbps: high, burst: Some(each_ms) }
}

impl Segment {
    pub(crate) fn length(&self) -> Duration {
        Duration::from_millis(self.ms)
    }

    /// The bandwidth at this time since the segment's start.
    pub(crate) fn kbps_at(&self, time: Duration) -> u64 {
        let us = time.as_micros() as u64;
        if let Some(each_ms) = self.burst {
            let high = (us / (each_ms * 1000)) % 2 == 1;
            return if high { self.to_kbps } else { self.from_kbps };
        }
        let length_us = self.ms * 1000;
        let done = us.min(length_us);
        (self.from_kbps * (length_us - done) + self.to_kbps * done) / length_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_passes_through_its_middle_and_ends_where_it_should() {
        let up = ramp("up", 100, 0, 1_000);
        let at = |ms| up.kbps_at(Duration::from_millis(ms));
        assert_eq!((at(0), at(50), at(100), at(500)), (0, 500, 1_000, 1_000));
    }

    #[test]
    fn bursts_alternate_and_start_low() {
        let burst = bursts("b", 100, 1, 9, 10);
        let at = |ms| burst.kbps_at(Duration::from_millis(ms));
        assert_eq!((at(0), at(9), at(10), at(20)), (1, 1, 9, 1));
    }
}
