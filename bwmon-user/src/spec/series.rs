//! A series of steps as a source of samples: what monitors and probes say, whatever is voted.
//!
//! A reading is made as the block makes it: the busiest whole window since the last one, as a count
//! that is rounded up to the monitor's unit.

use crate::board::{Board, Level, OppTable};
use crate::bwmon::{COUNT_MAX, CountScale, TIMER_HZ, ZoneMaxima};
use crate::ports::{Actuator, Clock, CounterSource, Outcome, SourceError};
use crate::sample::{Missing, Reading, Sample, Window};
use crate::sim::{Shape, VirtualClock};
use crate::units::{Kbps, Khz, Nanos};
use crate::vote::{Applied, Vote};
use std::sync::Arc;

/// What the monitor of a domain is shown in a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Load {
    /// Bandwidth over the step.
    Shape(Shape),
    /// More than the counter holds.
    Saturated,
    /// No reading.
    Missing,
}

/// One domain's part of a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lane {
    pub(super) load: Load,
    /// The reading comes from the kernel's driver.
    pub(super) interrupt: bool,
    /// What that driver then chose; its own rule if it is not said.
    pub(super) kernel: Option<Kbps>,
    pub(super) others: Option<Kbps>,
}

/// A span of a series.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) name: Option<String>,
    pub(super) start: Nanos,
    pub(super) length: Nanos,
    /// One for each domain of the board.
    pub(super) lanes: Vec<Lane>,
    pub(super) cpu_max: Option<Khz>,
}

impl Step {
    fn end(&self) -> Nanos {
        self.start.plus(self.length)
    }
}

/// Steps, one after the other. Never empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) steps: Vec<Step>,
}

impl Series {
    /// The step at `now`; the last one after the end.
    fn at(&self, now: Nanos) -> Option<&Step> {
        self.steps.get(self.index_at(now)).or(self.steps.last())
    }

    fn index_at(&self, now: Nanos) -> usize {
        self.steps.partition_point(|step| step.end() <= now)
    }

    /// Whether a step begins at `now`.
    pub(super) fn begins_at(&self, now: Nanos) -> bool {
        self.steps.binary_search_by_key(&now, |step| step.start).is_ok()
    }

    /// Mean bandwidth in kBps shown to the monitor of `domain`; infinite where it is saturated,
    /// `None` where nothing is said.
    fn mean(&self, domain: usize, from: Nanos, to: Nanos) -> Option<f64> {
        let (mut sum, mut known) = (0.0, false);
        let first = self.index_at(from);
        for step in self.steps.iter().skip(first).take_while(|step| step.start < to) {
            let (start, end) = (step.start.0.max(from.0), step.end().0.min(to.0));
            let share = (end - start) as f64 / (to.0 - from.0).max(1) as f64;
            sum += match &step.lanes.get(domain)?.load {
                Load::Shape(shape) => {
                    let since = Nanos(start - step.start.0);
                    shape.mean(since, Nanos(end - start), step.length) * share
                }
                Load::Saturated => f64::INFINITY,
                Load::Missing => continue,
            };
            known = true;
        }
        known.then_some(sum)
    }

    /// The busiest whole window between `from` and `to`, or all of it where there is none.
    pub(super) fn peak(&self, domain: usize, from: Nanos, to: Nanos, window: Nanos) -> Option<f64> {
        let windows = to.since(from).0 / window.0.max(1);
        if windows == 0 {
            return self.mean(domain, from, to);
        }
        let start = |n: u64| from.plus(Nanos(n * window.0));
        let means = (0..windows).filter_map(|n| self.mean(domain, start(n), start(n + 1)));
        means.reduce(f64::max)
    }
}

/// The smallest count that `scale` reads as `kbps` or more; the largest count where none does.
fn count_of(scale: CountScale, kbps: f64) -> u16 {
    if !kbps.is_finite() {
        return COUNT_MAX;
    }
    let ticks = u64::from(scale.window_ticks);
    let unit = u64::from(scale.unit_kb.max(1)) * TIMER_HZ;
    let units = (kbps.ceil() as u64).saturating_mul(ticks).div_ceil(unit);
    units.saturating_sub(1).min(u64::from(COUNT_MAX)) as u16
}

/// Samples of a series.
pub(super) struct SeriesSource {
    board: Arc<Board>,
    series: Arc<Series>,
    clock: VirtualClock,
    last: Nanos,
    /// When each monitor was last read.
    cleared: Vec<Nanos>,
}

impl SeriesSource {
    pub(super) fn new(board: Arc<Board>, series: Arc<Series>, clock: VirtualClock) -> Self {
        let cleared = vec![Nanos(0); board.monitors.len()];
        Self { board, series, clock, last: Nanos(0), cleared }
    }
}

impl SeriesSource {
    /// What the monitor `index` says at `now`, in `step`.
    fn reading(&mut self, index: usize, step: &Step, now: Nanos) -> Option<Reading> {
        let domain = self.board.domains.iter().position(|d| d.monitor == Some(index))?;
        let table = &self.board.domains.get(domain)?.table;
        let scale = self.board.monitors.get(index)?.scale;
        let lane = step.lanes.get(domain)?;
        let cleared = self.cleared.get_mut(index)?;
        let elapsed = now.since(*cleared);
        if lane.load == Load::Missing {
            *cleared = now;
            return Some(Reading::Missing(Missing::NoUpdate));
        }
        if !lane.interrupt && elapsed < scale.window() {
            return Some(Reading::Missing(Missing::NoWholeWindow));
        }
        let peak = self.series.peak(domain, *cleared, now, scale.window())?;
        *cleared = now;
        if lane.interrupt {
            let full = scale.kbps(COUNT_MAX);
            let meas = if peak.is_finite() { Kbps(peak.ceil() as u64) } else { full };
            return Some(kernel_update(table, meas, lane.kernel));
        }
        // Every window that is not saturated falls into zone 1, as the agent programs it.
        let zone_max = ZoneMaxima([0, count_of(scale, peak), 0, 0]);
        Some(Reading::Polled { zone_max, elapsed_ns: elapsed })
    }
}

impl CounterSource for SeriesSource {
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
        let now = self.clock.now();
        let series = self.series.clone();
        let step = series.at(self.last).ok_or(SourceError::End)?;
        sample.window = Window { start_ns: self.last, end_ns: now };
        sample.monitors.clear();
        for index in 0..self.board.monitors.len() {
            let reading = self.reading(index, step, now);
            sample.monitors.push(reading.unwrap_or(Reading::Missing(Missing::Absent)));
        }
        sample.probes.others_kbps.clear();
        sample.probes.others_kbps.extend(step.lanes.iter().map(|lane| lane.others));
        sample.probes.cpu_max_khz = step.cpu_max;
        self.last = now;
        Ok(())
    }
}

/// The driver's update for a window of `meas`: thresholds around the level that it chose.
fn kernel_update(table: &OppTable, meas: Kbps, chosen: Option<Kbps>) -> Reading {
    let target = table.ceil(meas);
    let chosen = chosen.unwrap_or_else(|| table.kbps_of(target));
    Reading::Kernel {
        meas_kbps: meas,
        up_kbps: Kbps(chosen.0.saturating_add(1)),
        down_kbps: table.kbps_of(Level(table.ceil(chosen).0.saturating_sub(1))),
        updates: 1,
    }
}

/// Takes every vote.
pub(super) struct TakesAll;

impl Actuator for TakesAll {
    fn apply(&mut self, vote: &Vote) -> Applied {
        if vote.change { Applied::Placed } else { Applied::InForce }
    }

    fn release(&mut self) -> Vec<Outcome> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    fn step(start_ms: u64, ms: u64, load: Load) -> Step {
        let lane = Lane { load, interrupt: false, kernel: None, others: None };
        Step {
            name: None,
            start: Nanos(start_ms * Nanos::PER_MS),
            length: Nanos(ms * Nanos::PER_MS),
            lanes: vec![lane],
            cpu_max: None,
        }
    }

    fn constant(kbps: u64) -> Load {
        Load::Shape(Shape::Constant(Kbps(kbps)))
    }

    fn readings(steps: Vec<Step>, period_ms: u64, ticks: u64) -> Vec<Reading> {
        let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
        let mut clock = VirtualClock::default();
        let mut source = SeriesSource::new(board, Arc::new(Series { steps }), clock.clone());
        let mut sample = Sample::default();
        (1..=ticks)
            .map(|tick| {
                clock.sleep_until(Nanos(tick * period_ms * Nanos::PER_MS));
                source.read(&mut sample).unwrap();
                sample.monitors[0].clone()
            })
            .collect()
    }

    fn polled(count: u16, elapsed_ms: u64) -> Reading {
        Reading::Polled {
            zone_max: ZoneMaxima([0, count, 0, 0]),
            elapsed_ns: Nanos(elapsed_ms * Nanos::PER_MS),
        }
    }

    #[test]
    fn a_bandwidth_is_read_as_the_smallest_count_that_holds_it() {
        // One count is 64 kB in 4 ms: 16000 kBps; count n reads as n + 1 of them.
        let scale = CountScale { unit_kb: 64, window_ticks: 76_800 };
        let counts = [0.0, 1.0, 16_000.0, 16_001.0, 3_072_000.0, 3_072_001.0, 1e12]
            .map(|kbps| count_of(scale, kbps));
        assert_eq!(counts, [0, 0, 0, 1, 191, 192, COUNT_MAX]);
        assert_eq!(scale.kbps(191), Kbps(3_072_000));
    }

    #[test]
    fn a_step_is_read_from_its_first_window_on() {
        let steps = vec![step(0, 8, constant(16_000)), step(8, 8, constant(160_000))];
        assert_eq!(readings(steps, 4, 3), [polled(0, 4), polled(0, 4), polled(9, 4)]);
    }

    #[test]
    fn ticks_shorter_than_a_window_wait_for_it_and_long_ones_keep_the_busiest() {
        let steps = vec![step(0, 8, constant(160_000))];
        let early = Reading::Missing(Missing::NoWholeWindow);
        assert_eq!(readings(steps, 2, 4), [early.clone(), polled(9, 4), early, polled(9, 4)]);
        // A ramp from 0 to 1600000 in 8 ms: the windows hold 400000 and 1200000 on average.
        let ramp = Load::Shape(Shape::Ramp(Kbps(0), Kbps(1_600_000)));
        assert_eq!(readings(vec![step(0, 8, ramp)], 8, 1), [polled(74, 8)]);
    }

    #[test]
    fn missing_and_saturated_readings_are_what_they_say() {
        let steps = vec![step(0, 4, Load::Missing), step(4, 4, Load::Saturated)];
        let seen = readings(steps, 4, 2);
        assert_eq!(seen, [Reading::Missing(Missing::NoUpdate), polled(COUNT_MAX, 4)]);
    }

    #[test]
    fn an_interrupt_gives_the_exact_value_and_what_the_kernel_chose() {
        let mut exact = step(0, 4, constant(3_000_001));
        exact.lanes[0].interrupt = true;
        let Reading::Kernel { meas_kbps, up_kbps, .. } = readings(vec![exact], 4, 1).remove(0)
        else {
            panic!("an update")
        };
        // 3072000 carries it.
        assert_eq!((meas_kbps, up_kbps), (Kbps(3_000_001), Kbps(3_072_001)));
    }
}
