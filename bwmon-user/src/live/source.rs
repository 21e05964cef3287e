//! Samples of a live machine: polled blocks, the kernel's own updates, and the probes' facts.
//!
//! The ring buffer is the event queue: the loop drains it at each tick.

use super::armed::ArmedBlock;
use super::clock::MonotonicClock;
use super::feed::Feed;
use super::registers::MappedRegisters;
use super::root::Root;
use super::standing::Standing;
use crate::board::Board;
use crate::bwmon::{Driver, Poll};
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

/// How often it is looked whether a block still is as it was programmed: four register reads.
const CHECK_EVERY: Nanos = Nanos(Nanos::PER_S);

/// Samples of a live machine.
pub struct LiveSource {
    board: Arc<Board>,
    monitors: Vec<LiveMonitor>,
    feed: Feed,
    standing: Standing,
    clock: MonotonicClock,
    last: Nanos,
    /// When it was last looked whether the blocks are as they were programmed.
    checked: Nanos,
}

impl LiveSource {
    /// Samples of `monitors` (one per monitor of `board`) and of the probes behind `feed`; starts
    /// the polled blocks. `root` is where the machine's files are.
    pub(super) fn new(
        board: Arc<Board>,
        mut monitors: Vec<LiveMonitor>,
        feed: Feed,
        root: &Root,
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
            feed,
            standing: Standing::new(root),
            clock,
            last: clock.now(),
            checked: clock.now(),
        }
    }

    /// Events that the probes lost; `None` without probes, or if the kernel does not answer.
    pub fn lost_events(&self) -> Option<u64> {
        self.feed.lost()
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
}

impl CounterSource for LiveSource {
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
        let now = self.clock.now();
        // CLOCK_MONOTONIC does not go back; a window that ended before it began would be a huge one.
        sample.window = Window { start_ns: self.last.min(now), end_ns: now };
        self.feed.facts(now, &self.board, &mut sample.probes);
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
                LiveMonitor::Kernel(device) => self.feed.kernel_reading(device),
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
