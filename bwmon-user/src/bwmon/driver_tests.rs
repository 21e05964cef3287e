use super::*;
use crate::bwmon::{Offset, TIMER_HZ};
use crate::sim::block::Block;
use proptest::prelude::*;

const MS4: u32 = (TIMER_HZ / 250) as u32;
const WINDOW: Nanos = Nanos(4 * Nanos::PER_MS);

fn variants() -> [(Layout, bool); 4] {
    [(Layout::V4Unified, false), (Layout::V4Split, false), (Layout::V5, false), (Layout::V5, true)]
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
    assert_eq!(driver.poll(Nanos(2_000_000)), Poll::NoWholeWindow { elapsed: Nanos(2_000_000) });
    driver.registers_mut().run(MS4 / 2, units(50));
    let Poll::Counts { maxima, .. } = driver.poll(WINDOW) else { panic!("one whole window") };
    // Both halves belong to the same window: the early poll cleared nothing.
    assert_eq!(maxima.peak(), 100);
}

#[test]
fn a_block_that_lost_its_programming_is_noticed_and_counts_again() {
    for (layout, force_clear) in variants() {
        let mut driver = driver(layout, force_clear);
        let fresh = || Block::new(layout, 64, force_clear).reading_back();
        *driver.registers_mut() = fresh();
        driver.start_polled(Nanos(0));
        driver.registers_mut().run(MS4, units(5));
        driver.poll(WINDOW);
        assert!(!driver.has_lost_it(), "{layout:?}: a poll changes nothing of it");
        // A suspend without power: the block as it was before it was programmed.
        *driver.registers_mut() = fresh();
        assert!(driver.has_lost_it(), "{layout:?}");
        driver.start_polled(WINDOW);
        driver.registers_mut().run(MS4, units(9));
        let Poll::Counts { maxima, .. } = driver.poll(Nanos(2 * WINDOW.0)) else { panic!("one") };
        assert_eq!((driver.has_lost_it(), maxima.peak()), (false, 9), "{layout:?}");
        // Armed by us it is ours still; with a threshold of somebody else's it is not.
        driver.arm(Armed { up_kbps: Some(Kbps(3_072_001)), down_kbps: None }, WINDOW);
        assert!(!driver.has_lost_it(), "{layout:?}");
        let high = layout.offset(Register::ThresholdHigh).unwrap();
        driver.registers_mut().write32(high, 17);
        assert!(driver.has_lost_it(), "{layout:?}");
    }
}

#[test]
fn a_block_that_does_not_read_back_is_never_taken_for_lost() {
    for (layout, force_clear) in variants() {
        let mut driver = driver(layout, force_clear);
        driver.start_polled(Nanos(0));
        assert!(!driver.has_lost_it(), "{layout:?}");
        *driver.registers_mut() = Block::new(layout, 64, force_clear);
        assert!(!driver.has_lost_it(), "{layout:?}");
    }
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
fn a_zone_that_was_not_armed_does_not_interrupt_although_its_bit_is_set() {
    for (layout, force_clear) in variants() {
        let mut driver = driver(layout, force_clear);
        // The highest level: nothing to wake for above it, and a full count is in zone 3 all the same.
        driver.arm(Armed { up_kbps: None, down_kbps: Some(Kbps(2_188_000)) }, Nanos(0));
        driver.registers_mut().run(MS4, units(9_999));
        assert!(!driver.registers_mut().line(), "{layout:?}");
        assert_eq!(driver.interrupted(), None, "{layout:?}");
        for _ in 0..16 {
            driver.registers_mut().run(MS4, units(20));
        }
        assert_eq!(driver.interrupted(), Some((Zone::Z1, 20)), "{layout:?}");
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
