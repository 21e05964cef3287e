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
const ZONE1_WINDOWS: u32 = 16;
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
}

impl<R: Registers> Driver<R> {
    /// A driver for the block behind `registers`; touches nothing yet. `force_clear` is the quirk
    /// of blocks whose clear bits do not clear themselves (NEEDS_FORCE_CLEAR).
    pub fn new(registers: R, layout: Layout, scale: CountScale, force_clear: bool) -> Self {
        Self { registers, layout, scale, force_clear, cleared_at: Nanos(0) }
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
        self.write(Register::IrqEnable, up | down);
        self.write(Register::Enable, 1);
        self.cleared_at = now;
    }

    /// The zone that interrupted and its largest count, or `None` if the interrupt is not this
    /// block's. As in the kernel, zone 3 is looked at before zone 1 and the others never.
    pub fn interrupted(&mut self) -> Option<(Zone, u16)> {
        let status = self.read(Register::IrqStatus);
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
mod tests {
    use super::*;
    use crate::bwmon::{Offset, TIMER_HZ};
    use crate::sim::block::Block;
    use proptest::prelude::*;

    const MS4: u32 = (TIMER_HZ / 250) as u32;
    const WINDOW: Nanos = Nanos(4 * Nanos::PER_MS);

    fn variants() -> [(Layout, bool); 4] {
        [
            (Layout::V4Unified, false),
            (Layout::V4Split, false),
            (Layout::V5, false),
            (Layout::V5, true),
        ]
    }

    fn driver(layout: Layout, force_clear: bool) -> Driver<Block> {
        let scale = CountScale { unit_kb: 64, window_ticks: MS4 };
        Driver::new(Block::new(layout, scale.unit_kb, force_clear), layout, scale, force_clear)
    }

    fn units(n: u64) -> u64 {
        n * 64 * 1024
    }

    #[test]
    fn a_polled_block_reports_the_largest_window_since_the_last_poll() {
        for (layout, force_clear) in variants() {
            let mut driver = driver(layout, force_clear);
            driver.start_polled(Nanos(0));
            for count in [10, 200, 30] {
                driver.registers_mut().run(MS4, units(count));
            }
            let Poll::Counts { maxima, elapsed } = driver.poll(Nanos(3 * WINDOW.0)) else {
                panic!("{layout:?}: three windows have passed");
            };
            assert_eq!((maxima.peak(), elapsed), (200, Nanos(3 * WINDOW.0)), "{layout:?}");
            driver.registers_mut().run(MS4, units(7));
            let Poll::Counts { maxima, .. } = driver.poll(Nanos(4 * WINDOW.0)) else {
                panic!("{layout:?}: a fourth window has passed");
            };
            assert_eq!(maxima.peak(), 7, "{layout:?}: the first poll cleared the maxima");
        }
    }

    #[test]
    fn less_than_a_window_is_no_reading_rather_than_zero() {
        let mut driver = driver(Layout::V4Unified, false);
        driver.start_polled(Nanos(0));
        driver.registers_mut().run(MS4 / 2, units(50));
        assert_eq!(
            driver.poll(Nanos(2_000_000)),
            Poll::NoWholeWindow { elapsed: Nanos(2_000_000) }
        );
        driver.registers_mut().run(MS4 / 2, units(50));
        let Poll::Counts { maxima, .. } = driver.poll(WINDOW) else { panic!("one whole window") };
        // Both halves belong to the same window: the early poll cleared nothing.
        assert_eq!(maxima.peak(), 100);
    }

    #[test]
    fn polling_never_interrupts() {
        for (layout, force_clear) in variants() {
            let mut driver = driver(layout, force_clear);
            driver.start_polled(Nanos(0));
            for _ in 0..300 {
                driver.registers_mut().run(MS4, units(9_999));
                assert!(!driver.registers_mut().line(), "{layout:?}");
            }
        }
    }

    #[test]
    fn a_full_count_is_reported_as_saturated() {
        let mut driver = driver(Layout::V5, true);
        driver.start_polled(Nanos(0));
        driver.registers_mut().run(MS4, units(5_000));
        let Poll::Counts { maxima, .. } = driver.poll(WINDOW) else { panic!("one window") };
        assert!(maxima.saturated());
    }

    #[test]
    fn one_window_above_and_sixteen_below_interrupt_as_in_the_kernel() {
        for (layout, force_clear) in variants() {
            let mut driver = driver(layout, force_clear);
            let armed = Armed { up_kbps: Some(Kbps(3_072_001)), down_kbps: Some(Kbps(2_188_000)) };
            driver.arm(armed, Nanos(0));
            // 3072001 / 64 * 4 / 1000 = 192: a window of 192 units is in zone 3.
            driver.registers_mut().run(MS4, units(191));
            assert!(!driver.registers_mut().line(), "{layout:?}: 191 is below HIGH");
            driver.registers_mut().run(MS4, units(192));
            assert!(driver.registers_mut().line(), "{layout:?}");
            assert_eq!(driver.interrupted(), Some((Zone::Z3, 192)), "{layout:?}");

            driver.arm(armed, Nanos(0));
            assert!(!driver.registers_mut().line(), "{layout:?}: arming cleared the interrupt");
            for _ in 0..15 {
                driver.registers_mut().run(MS4, units(20));
            }
            // A window in zone 2 starts the count again: 136 = 2188000 / 64 * 4 / 1000.
            driver.registers_mut().run(MS4, units(136));
            for _ in 0..15 {
                driver.registers_mut().run(MS4, units(20));
                assert!(!driver.registers_mut().line(), "{layout:?}");
            }
            driver.registers_mut().run(MS4, units(21));
            assert!(driver.registers_mut().line(), "{layout:?}");
            assert_eq!(driver.interrupted(), Some((Zone::Z1, 21)), "{layout:?}");
        }
    }

    #[test]
    fn an_interrupt_of_somebody_else_is_not_ours() {
        let mut driver = driver(Layout::V4Unified, false);
        driver.arm(Armed { up_kbps: Some(Kbps(800_001)), down_kbps: None }, Nanos(0));
        assert_eq!(driver.interrupted(), None);
    }

    #[test]
    fn a_stopped_block_neither_counts_nor_interrupts() {
        let mut driver = driver(Layout::V4Split, false);
        driver.arm(Armed { up_kbps: Some(Kbps(800_001)), down_kbps: None }, Nanos(0));
        driver.stop();
        driver.registers_mut().run(MS4, units(4_000));
        assert!(!driver.registers_mut().line());
        assert_eq!(driver.interrupted(), None);
    }

    /// Records the order of writes.
    #[derive(Default)]
    struct Log(Vec<(u32, u32)>);

    impl Registers for Log {
        fn read32(&mut self, _: Offset) -> u32 {
            0
        }
        fn write32(&mut self, at: Offset, value: u32) {
            self.0.push((at.bytes, value));
        }
    }

    #[test]
    fn the_global_line_is_cut_first_and_the_block_enabled_last() {
        let scale = CountScale { unit_kb: 64, window_ticks: MS4 };
        let mut driver = Driver::new(Log::default(), Layout::V4Unified, scale, false);
        driver.start_polled(Nanos(0));
        let writes = &driver.registers.0;
        // GLOBAL_IRQ_ENABLE 0, IRQ_ENABLE 0, ENABLE 0 … IRQ_CLEAR before GLOBAL_IRQ_CLEAR, ENABLE 1.
        assert_eq!(writes[..3], [(0x00c, 0), (0x10c, 0), (0x2a0, 0)]);
        assert_eq!(writes[writes.len() - 3..], [(0x108, 0xf0), (0x008, 1), (0x2a0, 1)]);
    }

    proptest! {
        #[test]
        fn the_peak_of_a_poll_is_the_peak_of_its_windows(
            counts in prop::collection::vec(0u64..5_000, 1..40),
        ) {
            let mut driver = driver(Layout::V4Unified, false);
            driver.start_polled(Nanos(0));
            for count in &counts {
                driver.registers_mut().run(MS4, units(*count));
            }
            let Poll::Counts { maxima, .. } = driver.poll(Nanos(WINDOW.0 * counts.len() as u64))
            else { return Err(TestCaseError::fail("windows have passed")) };
            let largest = counts.iter().copied().max().unwrap().min(4095);
            prop_assert_eq!(u64::from(maxima.peak()), largest);
        }
    }
}
