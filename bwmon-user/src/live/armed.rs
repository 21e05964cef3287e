//! A block that interrupts: read when it wakes the loop, and programmed anew after every decision.
//!
//! Our kernel module masks the block when it interrupts, `uio_pdrv_genirq` the line; both wait for the
//! owner to answer at the block. Programming it anew on every tick, those of the heartbeat included,
//! also re-arms a block that lost its state (suspend) or its interrupt.

use super::clock::MonotonicClock;
use super::registers::MappedRegisters;
use crate::bwmon::{Armed, Driver, Poll};
use crate::ports::Clock;
use crate::sample::{Missing, Reading};
use crate::units::Kbps;

/// A monitor whose interrupt wakes the loop.
#[derive(Debug)]
pub struct ArmedBlock {
    driver: Driver<MappedRegisters>,
    /// Whether the last reading ended what it had counted.
    read: bool,
}

impl ArmedBlock {
    /// The block behind `driver`; `lowest` is the lowest level of what it measures.
    pub(super) fn new(
        driver: Driver<MappedRegisters>,
        lowest: Kbps,
        clock: MonotonicClock,
    ) -> Self {
        let mut block = Self { driver, read: true };
        // As the kernel's driver begins: the first window above wakes, and so do sixteen below.
        let start = Armed { up_kbps: Some(lowest), down_kbps: Some(lowest) };
        block.arm(start, clock);
        block
    }

    /// Whether its registers can still be touched.
    pub(super) fn alive(&self) -> bool {
        self.driver.registers().alive()
    }

    /// What it says: of the zone that interrupted, or, at a heartbeat, of all windows since the last
    /// time.
    pub(super) fn read(&mut self, clock: MonotonicClock) -> Reading {
        let now = clock.now();
        let elapsed_ns = self.driver.since_clear(now);
        // No zone is done before a window has passed since the block was programmed; half of one
        // allows for the difference of two clocks. So this is the event of an interrupt that a
        // heartbeat has answered.
        let stale = elapsed_ns.0 < self.driver.scale().window().0 / 2;
        self.read = !stale;
        if stale {
            return Reading::Missing(Missing::NoWholeWindow);
        }
        if let Some((zone, max)) = self.driver.interrupted() {
            return Reading::Interrupt { zone: zone.index() as u8, max, elapsed_ns };
        }
        // A block that lost its programming counts nothing, and must not be taken for an idle path;
        // the tick that this reading belongs to programs it anew.
        if self.driver.has_lost_it() {
            return Reading::Missing(Missing::Reprogrammed);
        }
        match self.driver.poll(now) {
            Poll::Counts { maxima, elapsed } => {
                Reading::Polled { zone_max: maxima, elapsed_ns: elapsed }
            }
            Poll::NoWholeWindow { .. } => {
                self.read = false;
                Reading::Missing(Missing::NoWholeWindow)
            }
        }
    }

    /// Lets it interrupt again, at these thresholds. After no reading it goes on counting.
    pub(super) fn arm(&mut self, armed: Armed, clock: MonotonicClock) {
        if !self.read {
            return;
        }
        self.driver.arm(armed, clock.now());
        self.driver.cleared(clock.now());
        self.driver.registers().unmask();
    }

    /// Silences it.
    pub(super) fn stop(&mut self) {
        self.driver.stop();
    }
}
