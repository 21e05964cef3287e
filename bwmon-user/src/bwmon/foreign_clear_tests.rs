//! Somebody else clears the counters inside of our window (another agent through `/dev/mem`, a
//! firmware): the reading may be too low, and is nothing worse than that.

use super::*;
use crate::bwmon::{COUNT_MAX, TIMER_HZ};
use crate::sim::block::Block;
use proptest::prelude::*;

const MS4: u32 = (TIMER_HZ / 250) as u32;
const WINDOW: Nanos = Nanos(4 * Nanos::PER_MS);

fn variants() -> [(Layout, bool); 4] {
    [(Layout::V4Unified, false), (Layout::V4Split, false), (Layout::V5, false), (Layout::V5, true)]
}

fn driver(layout: Layout, force_clear: bool) -> Driver<Block> {
    let scale = CountScale { unit_kb: 64, window_ticks: MS4 };
    let block = Block::new(layout, scale.unit_kb, force_clear).reading_back();
    Driver::new(block, layout, scale, force_clear)
}

/// What somebody else does to the block.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    /// The bits that are written into CLEAR.
    bits: u32,
    /// Whether they are taken back, as blocks with force-clear need.
    released: bool,
}

fn clear(driver: &mut Driver<Block>, layout: Layout, foreign: Foreign) {
    let at = layout.offset(Register::Clear).unwrap();
    driver.registers_mut().write32(at, foreign.bits);
    if foreign.released {
        driver.registers_mut().write32(at, 0);
    }
}

/// Pieces of a run: ticks of 19.2 MHz, units per window while they last, and a foreign clear after.
fn pieces() -> impl Strategy<Value = Vec<(u32, u64, Option<Foreign>)>> {
    let foreign = prop::option::of(
        (1_u32..4, any::<bool>()).prop_map(|(bits, released)| Foreign { bits, released }),
    );
    prop::collection::vec((0..3 * MS4, 0_u64..6_000, foreign), 1..20)
}

/// The highest rate so far, as a count: windows that a foreign clear has shifted may lie across two
/// pieces and hold no more than the faster of them.
fn most(pieces: &[(u32, u64, Option<Foreign>)]) -> u16 {
    let most = pieces.iter().map(|(_, units, _)| *units).max().unwrap();
    most.min(u64::from(COUNT_MAX)) as u16
}

proptest! {
    #[test]
    fn a_foreign_clear_at_any_point_never_makes_a_polled_reading_higher_than_the_truth(
        variant in 0_usize..4, pieces in pieces(), every in 1_usize..5,
    ) {
        let (layout, force_clear) = variants()[variant];
        let mut driver = driver(layout, force_clear);
        driver.start_polled(Nanos(0));
        let (mut ticks, most) = (0_u64, most(&pieces));
        for (index, (length, units, foreign)) in pieces.iter().enumerate() {
            let bytes = units * 64 * 1024 * u64::from(*length) / u64::from(MS4);
            driver.registers_mut().run(*length, bytes);
            ticks += u64::from(*length);
            if let Some(foreign) = foreign {
                clear(&mut driver, layout, *foreign);
            }
            prop_assert!(!driver.has_lost_it(), "a clear is no lost programming");
            let now = Nanos(ticks * 625 / 12);
            if index % every == 0 && let Poll::Counts { maxima, elapsed } = driver.poll(now) {
                let scale = driver.scale();
                prop_assert!(maxima.peak() <= most, "{} of {most}", maxima.peak());
                prop_assert!(scale.kbps(maxima.peak()) <= scale.kbps(most));
                prop_assert!(elapsed >= WINDOW && elapsed <= now);
            }
        }
        // Whatever was left behind, a held clear bit too, is over after the next poll.
        let now = Nanos(ticks * 625 / 12).plus(WINDOW);
        driver.poll(now);
        driver.registers_mut().run(MS4, 9 * 64 * 1024);
        let Poll::Counts { maxima, .. } = driver.poll(now.plus(WINDOW)) else { panic!("one") };
        prop_assert_eq!(maxima.peak(), 9);
    }

    #[test]
    fn a_foreign_clear_at_any_point_never_makes_an_interrupt_higher_than_the_truth(
        variant in 0_usize..4, pieces in pieces(), up in 0_u64..8_000_000, down in 0_u64..8_000_000,
    ) {
        let (layout, force_clear) = variants()[variant];
        let mut driver = driver(layout, force_clear);
        let armed = Armed { up_kbps: Some(Kbps(up)), down_kbps: Some(Kbps(down)) };
        driver.arm(armed, Nanos(0));
        let (mut ticks, most) = (0_u64, most(&pieces));
        for (length, units, foreign) in &pieces {
            let bytes = units * 64 * 1024 * u64::from(*length) / u64::from(MS4);
            driver.registers_mut().run(*length, bytes);
            ticks += u64::from(*length);
            if let Some(foreign) = foreign {
                clear(&mut driver, layout, *foreign);
            }
            // The status bit may outlive the maximum that belongs to it.
            if let Some((zone, max)) = driver.interrupted() {
                prop_assert!(matches!(zone, Zone::Z1 | Zone::Z3) && max <= most);
                driver.arm(armed, Nanos(ticks * 625 / 12));
            }
        }
    }
}

#[test]
fn a_foreign_clear_just_before_the_poll_costs_the_reading_what_was_counted_before() {
    for (layout, force_clear) in variants() {
        let mut driver = driver(layout, force_clear);
        driver.start_polled(Nanos(0));
        driver.registers_mut().run(MS4, 200 * 64 * 1024);
        clear(&mut driver, layout, Foreign { bits: 1, released: true });
        driver.registers_mut().run(MS4, 3 * 64 * 1024);
        let Poll::Counts { maxima, .. } = driver.poll(Nanos(2 * WINDOW.0)) else { panic!("two") };
        assert_eq!(maxima.peak(), 3, "{layout:?}: too low by 197, and known to nobody");
    }
}

#[test]
fn counters_that_stop_are_an_idle_path_unless_the_block_reads_back_as_off() {
    for (layout, force_clear) in variants() {
        let mut driver = driver(layout, force_clear);
        driver.start_polled(Nanos(0));
        // It reads back as enabled and counts nothing: as a path without traffic.
        let Poll::Counts { maxima, .. } = driver.poll(WINDOW) else { panic!("one") };
        assert_eq!((maxima.peak(), driver.has_lost_it()), (0, false), "{layout:?}");
        let enable = layout.offset(Register::Enable).unwrap();
        driver.registers_mut().write32(enable, 0);
        assert!(driver.has_lost_it(), "{layout:?}");
    }
}
