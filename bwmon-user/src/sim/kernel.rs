//! The kernel's driver on the model's registers: interrupts, thresholds, targets.
//!
//! The rule of `icc-bwmon.c`, run as the kernel runs it: the block counts the windows and
//! interrupts, the driver takes the zone's largest count, programs new thresholds and says what it
//! measured. The vote itself is placed by the road, from that measurement.

use super::block::Block;
use crate::board::{Level, OppTable};
use crate::bwmon::{Armed, Driver};
use crate::sample::{Missing, Reading};
use crate::units::{Kbps, Nanos};

/// One monitor under the kernel's driver.
#[derive(Debug)]
pub struct KernelDriver {
    driver: Driver<Block>,
    table: OppTable,
}

impl KernelDriver {
    /// Starts the block as `bwmon_start` does: both thresholds at the lowest level.
    pub fn new(mut driver: Driver<Block>, table: OppTable, now: Nanos) -> Self {
        let lowest = table.kbps_of(Level::LOWEST);
        driver.arm(Armed { up_kbps: Some(lowest), down_kbps: Some(lowest) }, now);
        Self { driver, table }
    }

    /// Lets traffic pass.
    pub fn run(&mut self, ticks: u32, bytes: u64) {
        self.driver.registers_mut().run(ticks, bytes);
    }

    /// Handles an interrupt, if there is one.
    pub fn handle(&mut self, now: Nanos) -> Reading {
        if !self.driver.registers_mut().line() {
            return Reading::Missing(Missing::NoUpdate);
        }
        let Some((_, count)) = self.driver.interrupted() else {
            return Reading::Missing(Missing::NoUpdate);
        };
        let meas_kbps = self.driver.scale().kbps(count);
        let target = self.table.ceil(meas_kbps);
        let up_kbps = Kbps(self.table.kbps_of(target).0 + 1);
        let down_kbps = self.table.kbps_of(Level(target.0.saturating_sub(1)));
        // At the top only zone 1 may interrupt, at the bottom only zone 3.
        let up = (target != self.table.top()).then_some(up_kbps);
        let down = (target != Level::LOWEST).then_some(down_kbps);
        self.driver.arm(Armed { up_kbps: up, down_kbps: down }, now);
        Reading::Kernel { meas_kbps, up_kbps, down_kbps, updates: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    fn driver() -> KernelDriver {
        let board = builtin("sdm845-seed").unwrap().unwrap();
        let monitor = &board.monitors[0];
        let block = Block::new(monitor.layout, monitor.scale.unit_kb, false);
        let driver = Driver::new(block, monitor.layout, monitor.scale, false);
        KernelDriver::new(driver, board.domains[0].table.clone(), Nanos(0))
    }

    /// One window of `count` units.
    fn window(driver: &mut KernelDriver, count: u64) -> Option<(u64, u64, u64)> {
        driver.run(76_800, count * 64 * 1024);
        match driver.handle(Nanos(0)) {
            Reading::Kernel { meas_kbps, up_kbps, down_kbps, .. } => {
                Some((meas_kbps.0, up_kbps.0, down_kbps.0))
            }
            _ => None,
        }
    }

    #[test]
    fn it_says_what_the_real_driver_said() {
        // Seen on a 6.12 kernel for maxima 200 and 511 in zone 3, then 20 in zone 1.
        let mut driver = driver();
        assert_eq!(window(&mut driver, 200), Some((3_216_000, 4_068_001, 3_072_000)));
        assert_eq!(window(&mut driver, 511), Some((8_192_000, 7_216_001, 6_220_000)));
        for _ in 0..15 {
            assert_eq!(window(&mut driver, 20), None);
        }
        assert_eq!(window(&mut driver, 20), Some((336_000, 800_001, 800_000)));
    }

    #[test]
    fn quiet_windows_before_the_first_vote_place_it() {
        let mut driver = driver();
        for _ in 0..15 {
            assert_eq!(window(&mut driver, 0), None);
        }
        assert_eq!(window(&mut driver, 0), Some((16_000, 800_001, 800_000)));
        // At the bottom zone 1 no longer interrupts.
        for _ in 0..40 {
            assert_eq!(window(&mut driver, 0), None);
        }
    }
}
