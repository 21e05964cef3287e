//! Samples of a live machine: polled blocks, the kernel's own updates, and the probes' facts.
//!
//! The ring buffer is the event queue: the loop drains it at each tick.

use super::armed::ArmedBlock;
use super::clock::MonotonicClock;
use super::probes::{ProbeReader, ProbeSet};
use super::registers::MappedRegisters;
use super::root::Root;
use super::standing::Standing;
use super::writers::Writers;
use crate::board::Board;
use crate::bwmon::{Driver, Poll};
use crate::event::ProbeRecord;
use crate::facts::FactBook;
use crate::governor::Governor;
use crate::ports::{Clock, CounterSource, SourceError};
use crate::sample::{Missing, Reading, Sample, Window};
use crate::thresholds;
use crate::units::Nanos;
use std::sync::Arc;

/// How one monitor is read.
#[derive(Debug)]
pub enum LiveMonitor {
    /// Its registers are ours.
    Polled(Box<Driver<MappedRegisters>>),
    /// Its registers are ours, and its interrupt wakes the loop.
    Armed(Box<ArmedBlock>),
    /// The kernel's driver has it; its updates come from the probes, by device name.
    Kernel(String),
    /// Neither.
    Absent,
}

/// Reading the counters of lost events takes a few system calls.
const LOST_EVERY: Nanos = Nanos(Nanos::PER_S);

/// How often it is looked whether a block still is as it was programmed: four register reads.
const CHECK_EVERY: Nanos = Nanos(Nanos::PER_S);

/// Samples of a live machine.
pub struct LiveSource {
    board: Arc<Board>,
    monitors: Vec<LiveMonitor>,
    probes: Option<ProbeSet>,
    standing: Standing,
    writers: Writers,
    clock: MonotonicClock,
    facts: FactBook,
    events: Vec<ProbeRecord>,
    last: Nanos,
    lost_read: Option<Nanos>,
    /// When it was last looked whether the blocks are as they were programmed.
    checked: Nanos,
}

impl LiveSource {
    /// Samples of `monitors` (one per monitor of `board`) and `probes`; starts the
    /// polled blocks. `root` is where the machine's files are; `writers` hears who changed what.
    pub(super) fn new(
        board: Arc<Board>,
        mut monitors: Vec<LiveMonitor>,
        probes: Option<ProbeSet>,
        root: &Root,
        writers: Writers,
    ) -> Self {
        let clock = MonotonicClock;
        for monitor in &mut monitors {
            if let LiveMonitor::Polled(driver) = monitor {
                driver.start_polled(clock.now());
                driver.cleared(clock.now());
            }
        }
        Self {
            board,
            monitors,
            probes,
            standing: Standing::new(root),
            writers,
            clock,
            facts: FactBook::default(),
            events: Vec::new(),
            last: clock.now(),
            lost_read: None,
            checked: clock.now(),
        }
    }

    /// The probes' reader, for its counters.
    pub fn probe_reader(&self) -> Option<&ProbeReader> {
        self.probes.as_ref().map(|probes| &probes.reader)
    }

    /// Stops the polled blocks and lets go of their registers.
    pub fn stop(&mut self) {
        for monitor in &mut self.monitors {
            match monitor {
                LiveMonitor::Polled(driver) if driver.registers().alive() => driver.stop(),
                LiveMonitor::Armed(block) if block.alive() => block.stop(),
                _ => {}
            }
            *monitor = LiveMonitor::Absent;
        }
    }

    fn take_events(&mut self, now: Nanos) {
        let Some(probes) = &mut self.probes else { return };
        probes.reader.drain(&mut self.events);
        for event in self.events.drain(..) {
            self.writers.note(&event);
            self.facts.take(event);
        }
        if self.lost_read.is_none_or(|at| now.since(at) >= LOST_EVERY) {
            // A kernel that does not answer leaves the number unknown.
            if let Ok(lost) = probes.reader.lost() {
                self.facts.lost(lost);
            }
            self.lost_read = Some(now);
        }
    }
}

impl CounterSource for LiveSource {
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
        let now = self.clock.now();
        self.take_events(now);
        // CLOCK_MONOTONIC does not go back; a window that ended before it began would be a huge one.
        sample.window = Window { start_ns: self.last.min(now), end_ns: now };
        self.facts.facts(&self.board, &mut sample.probes);
        self.standing.facts(now, &mut sample.probes);
        let check = sample.probes.slept_ns.0 > 0 || now.since(self.checked) >= CHECK_EVERY;
        if check {
            self.checked = now;
        }
        sample.monitors.clear();
        for monitor in &mut self.monitors {
            if !monitor.alive() {
                *monitor = LiveMonitor::Absent;
            }
            sample.monitors.push(match monitor {
                LiveMonitor::Polled(driver) => polled(driver, self.clock, check),
                LiveMonitor::Armed(block) => block.read(self.clock),
                LiveMonitor::Kernel(device) => self.facts.kernel_reading(device),
                LiveMonitor::Absent => Reading::Missing(Missing::Absent),
            });
        }
        self.last = now;
        Ok(())
    }

    fn decided(&mut self, governor: &Governor) {
        for (index, monitor) in self.monitors.iter_mut().enumerate() {
            if let LiveMonitor::Armed(block) = monitor {
                block.arm(thresholds::armed(governor, index), self.clock);
            }
        }
    }
}

impl LiveMonitor {
    /// Whether its registers, if they are ours, can still be touched.
    fn alive(&self) -> bool {
        match self {
            Self::Polled(driver) => driver.registers().alive(),
            Self::Armed(block) => block.alive(),
            Self::Kernel(_) | Self::Absent => true,
        }
    }
}

fn polled(driver: &mut Driver<MappedRegisters>, clock: MonotonicClock, check: bool) -> Reading {
    if check && driver.has_lost_it() {
        driver.start_polled(clock.now());
        driver.cleared(clock.now());
        return Reading::Missing(Missing::Reprogrammed);
    }
    match driver.poll(clock.now()) {
        Poll::Counts { maxima, elapsed } => {
            // The next window began when the clear was done, not when the poll began.
            driver.cleared(clock.now());
            Reading::Polled { zone_max: maxima, elapsed_ns: elapsed }
        }
        Poll::NoWholeWindow { .. } => Reading::Missing(Missing::NoWholeWindow),
    }
}
