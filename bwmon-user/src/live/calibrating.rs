//! Calibration on this machine: the monitors that can be read, and traffic of our own.

use super::clock::MonotonicClock;
use super::root::Root;
use super::source::LiveSource;
use super::traffic::Generator;
use crate::board::Board;
use crate::calibrate::{Moved, Rig, Seen, Traffic};
use crate::ports::{Clock, CounterSource};
use crate::sample::{Reading, Sample};
use crate::units::Nanos;
use std::sync::Arc;

/// Distance of the readings: five windows and a little, for a late wake-up.
const PERIOD: Nanos = Nanos(21 * Nanos::PER_MS);
/// Readings of a trial.
const READINGS: usize = 12;

/// A live machine whose monitors are being read.
pub struct LiveRig {
    root: Root,
    board: Arc<Board>,
    source: LiveSource,
    clock: MonotonicClock,
}

impl LiveRig {
    /// The monitors of `board` as `source` reads them.
    pub fn new(root: &Root, board: Arc<Board>, source: LiveSource) -> Self {
        Self { root: root.clone(), board, source, clock: MonotonicClock }
    }

    /// The readings, with the moments between which each was taken.
    fn readings(&mut self) -> Result<Vec<(Nanos, Sample)>, String> {
        let mut readings = Vec::new();
        let mut sample = Sample::default();
        // What was counted before the traffic is not the traffic's.
        self.source.read(&mut sample).map_err(|error| error.to_string())?;
        for _ in 0..READINGS {
            let next = self.clock.now().plus(PERIOD);
            self.clock.sleep_until(next);
            let at = self.clock.now();
            self.source.read(&mut sample).map_err(|error| error.to_string())?;
            readings.push((at, sample.clone()));
        }
        Ok(readings)
    }

    fn seen(&self, readings: &[(Nanos, Sample)], moved: Option<&Moved>) -> Vec<Vec<Seen>> {
        let of = |index: usize| {
            let readings = readings.iter();
            let own = readings.filter_map(|(at, sample)| Some((*at, sample.monitors.get(index)?)));
            let window = self.board.monitors.get(index).map_or(Nanos(0), |m| m.scale.window());
            let seen = own.filter_map(|(at, reading)| {
                let Reading::Polled { zone_max, elapsed_ns } = reading else { return None };
                let from = Nanos(at.0.saturating_sub(elapsed_ns.0));
                let bytes = match moved {
                    None => (0.0, 0.0),
                    Some(moved) => moved.busiest(from, at, window)?,
                };
                Some(Seen { count: zone_max.peak(), bytes })
            });
            seen.collect()
        };
        (0..self.board.monitors.len()).map(of).collect()
    }
}

/// However it ends, the blocks count no longer than they are read.
impl Drop for LiveRig {
    fn drop(&mut self) {
        self.source.stop();
    }
}

impl Rig for LiveRig {
    fn observe(&mut self, traffic: Option<Traffic>) -> Result<Vec<Vec<Seen>>, String> {
        let Some(traffic) = traffic else {
            let readings = self.readings()?;
            return Ok(self.seen(&readings, None));
        };
        let generator = Generator::start(&self.root, traffic).map_err(|error| error.to_string())?;
        let readings = self.readings();
        let moved = generator.finish().map_err(|error| error.to_string())?;
        Ok(self.seen(&readings?, Some(&moved)))
    }
}
