//! The driver: how the block is started, read, armed and stopped.
//!
//! Orderings and quirks are those of `icc-bwmon.c`: counters are cleared before the interrupt, the
//! local interrupt before the global one, the block is enabled last and disabled first.

use super::{CountScale, Layout, Register, Registers, Zone};
use crate::units::{Kbps, Nanos};
use serde::{Deserialize, Serialize};

/// ZONE_ACTIONS of both trees: a window increments its own zone and clears the lower ones, so that
/// a count of 16 means 16 windows on end without a higher one.
const ZONE_ACTIONS: u32 = 0x9525_0901;
/// Windows until a zone that must not interrupt sets its bit.
const NEVER: u32 = 0xff;
/// Windows in zone 1 before the block asks to come down.
pub const ZONE1_WINDOWS: u32 = 16;
/// Windows in zone 3 before the block asks to go up.
const ZONE3_WINDOWS: u32 = 1;

/// ZONE_MAX of the four zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ZoneMaxima(pub [u16; 4]);

impl ZoneMaxima {
    /// The largest count of all zones.
    pub fn peak(self) -> u16 {
        self.0.into_iter().max().unwrap_or(0)
    }

    /// Whether a window filled the count register, so that its true count is unknown.
    pub fn saturated(self) -> bool {
        self.peak() >= super::COUNT_MAX
    }
}

/// What a poll found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// At least one whole window has passed since the last clear.
    Counts {
        /// The largest count per zone.
        maxima: ZoneMaxima,
        /// Time since the last clear.
        elapsed: Nanos,
    },
    /// Less than one window has passed: the registers say nothing yet.
    NoWholeWindow {
        /// Time since the last clear.
        elapsed: Nanos,
    },
}

/// Thresholds for interrupt-driven measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    /// A window above this asks to go up; `None` at the highest level.
    pub up_kbps: Option<Kbps>,
    /// Sixteen windows on end below this ask to come down; `None` at the lowest level.
    pub down_kbps: Option<Kbps>,
}

/// A monitor's driver. `now` is the caller's: the driver reads no clock.
#[derive(Debug)]
pub struct Driver<R> {
    registers: R,
    layout: Layout,
    scale: CountScale,
    force_clear: bool,
    cleared_at: Nanos,
    /// The status bits of the zones that may interrupt.
    armed: u32,
    /// Thresholds (high, medium) as programmed, if they could be read back. The kernel never reads
    /// these registers, so it is not certain that every block answers.
    programmed: Option<(u32, u32)>,
}

impl<R: Registers> Driver<R> {
    /// A driver for the block behind `registers`; touches nothing yet. `force_clear` is the quirk
    /// of blocks whose clear bits do not clear themselves (NEEDS_FORCE_CLEAR).
    pub fn new(registers: R, layout: Layout, scale: CountScale, force_clear: bool) -> Self {
        let cleared_at = Nanos(0);
        Self { registers, layout, scale, force_clear, cleared_at, armed: 0, programmed: None }
    }

    /// How counts are to be read.
    pub fn scale(&self) -> CountScale {
        self.scale
    }

    /// The block behind the driver, to look at.
    pub fn registers(&self) -> &R {
        &self.registers
    }

    /// The block behind the driver.
    pub fn registers_mut(&mut self) -> &mut R {
        &mut self.registers
    }

    /// Programs the block so that it counts and never interrupts, and runs it.
    pub fn start_polled(&mut self, now: Nanos) {
        self.disable();
        self.write(Register::Clear, 0b11);
        self.release_clear();
        self.write(Register::SampleWindow, self.scale.window_ticks);
        // Every window that is not saturated falls into zone 1.
        self.write(Register::ThresholdHigh, u32::from(super::COUNT_MAX));
        self.write(Register::ThresholdMed, u32::from(super::COUNT_MAX));
        self.write(Register::ThresholdLow, 0);
        self.write(Register::ZoneActions, ZONE_ACTIONS);
        self.write(Register::ThresholdCount, u32::from_le_bytes([0xff; 4]));
        self.clear_interrupts();
        self.write(Register::Enable, 1);
        self.cleared_at = now;
        self.keep(super::COUNT_MAX, super::COUNT_MAX);
    }

    /// Whether the block is no longer as [`Driver::start_polled`] or [`Driver::arm`] left it. It has
    /// no clock or power domain in the device tree and the kernel saves none of it, so a suspend may
    /// have lost it, and somebody else may have programmed it. Never where it could not be read back
    /// at the start.
    pub fn has_lost_it(&mut self) -> bool {
        self.programmed.is_some_and(|(high, med)| !self.is_programmed(high, med))
    }

    fn keep(&mut self, high: u16, med: u16) {
        let (high, med) = (u32::from(high), u32::from(med));
        self.programmed = self.is_programmed(high, med).then_some((high, med));
    }

    fn is_programmed(&mut self, high: u32, med: u32) -> bool {
        let full = u32::from(super::COUNT_MAX);
        self.read(Register::Enable) & 1 == 1
            && self.read(Register::SampleWindow) == self.scale.window_ticks
            && self.read(Register::ThresholdHigh) & full == high
            && self.read(Register::ThresholdMed) & full == med
    }

    /// Reads the maxima since the last clear and clears the counters, which starts a new window.
    /// A reading shorter than a window is left to grow.
    pub fn poll(&mut self, now: Nanos) -> Poll {
        let elapsed = now.since(self.cleared_at);
        if elapsed < self.scale.window() {
            return Poll::NoWholeWindow { elapsed };
        }
        let maxima = self.maxima();
        self.clear_counters();
        self.cleared_at = now;
        Poll::Counts { maxima, elapsed }
    }

    /// Time since the counters were cleared.
    pub fn since_clear(&self, now: Nanos) -> Nanos {
        Nanos(now.since(self.cleared_at).0)
    }

    /// Corrects the time of the last clear: on a live machine it is done a little after the poll
    /// began, and a window must not be taken for whole when it is not.
    pub fn cleared(&mut self, at: Nanos) {
        self.cleared_at = self.cleared_at.max(at);
    }

    /// Programs the block as the kernel does and lets it interrupt: one window above `up_kbps`, or
    /// sixteen on end below `down_kbps`.
    pub fn arm(&mut self, armed: Armed, now: Nanos) {
        self.disable();
        let high = armed.up_kbps.map_or(super::COUNT_MAX, |k| self.scale.threshold(k));
        let med = armed.down_kbps.map_or(0, |k| self.scale.threshold(k)).min(high);
        self.write(Register::SampleWindow, self.scale.window_ticks);
        self.write(Register::ThresholdHigh, u32::from(high));
        self.write(Register::ThresholdMed, u32::from(med));
        self.write(Register::ThresholdLow, 0);
        self.write(Register::ZoneActions, ZONE_ACTIONS);
        let counts = ZONE3_WINDOWS << 24 | NEVER << 16 | ZONE1_WINDOWS << 8 | NEVER;
        self.write(Register::ThresholdCount, counts);
        self.clear_counters();
        self.clear_interrupts();
        let up = armed.up_kbps.map_or(0, |_| self.layout.zone_bit(Zone::Z3));
        let down = armed.down_kbps.map_or(0, |_| self.layout.zone_bit(Zone::Z1));
        if self.layout.has_global_irq() {
            self.write(Register::GlobalIrqEnable, 1);
        }
        self.armed = up | down;
        self.write(Register::IrqEnable, self.armed);
        self.write(Register::Enable, 1);
        self.cleared_at = now;
        self.keep(high, med);
    }

    /// The zone that interrupted and its largest count, or `None` if the interrupt is not this
    /// block's. As in the kernel, zone 3 is looked at before zone 1 and the others never; a zone that
    /// was not armed sets its bit too (a full count is in zone 3 whatever the threshold) and does
    /// not count.
    pub fn interrupted(&mut self) -> Option<(Zone, u16)> {
        let status = self.read(Register::IrqStatus) & self.armed;
        let zone = [Zone::Z3, Zone::Z1]
            .into_iter()
            .find(|zone| status & self.layout.zone_bit(*zone) != 0)?;
        Some((zone, self.zone_max(zone)))
    }

    /// Disables the block and its interrupts.
    pub fn stop(&mut self) {
        self.disable();
    }

    fn maxima(&mut self) -> ZoneMaxima {
        ZoneMaxima(Zone::ALL.map(|zone| self.zone_max(zone)))
    }

    fn zone_max(&mut self, zone: Zone) -> u16 {
        (self.read(Register::ZoneMax(zone)) & u32::from(super::COUNT_MAX)) as u16
    }

    fn disable(&mut self) {
        self.armed = 0;
        if self.layout.has_global_irq() {
            self.write(Register::GlobalIrqEnable, 0);
        }
        self.write(Register::IrqEnable, 0);
        self.write(Register::Enable, 0);
    }

    fn clear_counters(&mut self) {
        self.write(Register::Clear, 0b01);
        self.release_clear();
    }

    fn release_clear(&mut self) {
        if self.force_clear {
            self.write(Register::Clear, 0);
        }
    }

    fn clear_interrupts(&mut self) {
        let all = Zone::ALL.iter().fold(0, |bits, zone| bits | self.layout.zone_bit(*zone));
        self.write(Register::IrqClear, all);
        if self.force_clear {
            self.write(Register::IrqClear, 0);
        }
        if self.layout.has_global_irq() {
            self.write(Register::GlobalIrqClear, 1);
        }
    }

    fn read(&mut self, register: Register) -> u32 {
        match self.layout.offset(register) {
            Some(at) => self.registers.read32(at),
            // Only the global registers can be absent, and they are written only where they exist.
            None => 0,
        }
    }

    fn write(&mut self, register: Register, value: u32) {
        if let Some(at) = self.layout.offset(register) {
            self.registers.write32(at, value);
        }
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "foreign_clear_tests.rs"]
mod foreign_clear_tests;
