//! The kernel's rule, in Rust: the fallback, and the reference for `policies/bwmon.rhai`.
//!
//! From `icc-bwmon.c`: one window above the level in force votes the level that carries it;
//! sixteen windows on end at or below the next lower level vote the level that carries the largest
//! of them. Where the hardware has done the counting (an interrupt, a kernel update) the reading is
//! taken as it is.

use super::{Ask, Policy, PolicyFault, Proposal};
use crate::board::{Board, Level, OppTable};
use crate::observe::{Measured, Observation};
use crate::units::Kbps;

/// Windows on end below before coming down (`zone1_thres_count`).
const DOWN_WINDOWS: u32 = 16;

/// The mainline rule for every domain of a board.
#[derive(Clone, Debug)]
pub struct Mainline {
    domains: Vec<(OppTable, Memory)>,
}

/// Windows in zone 1 since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    windows: u32,
    max: Kbps,
}

impl Mainline {
    /// The rule, with nothing remembered.
    pub fn new(board: &Board) -> Self {
        let domains = board.domains.iter().map(|d| (d.table.clone(), Memory::default())).collect();
        Self { domains }
    }

    /// The level that the driver votes for a window of `count`, in whichever zone it interrupts.
    pub fn level_for(table: &OppTable, peak: Kbps) -> Level {
        table.ceil(peak)
    }
}

impl Policy for Mainline {
    fn name(&self) -> &str {
        super::NATIVE
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let (Some(obs), Some((table, memory))) = (all.get(domain), self.domains.get_mut(domain))
        else {
            return Ok(Proposal::new(Ask::Hold, "no such domain"));
        };
        let Some(measured) = obs.measured else {
            return Ok(Proposal::new(Ask::Hold, "no reading"));
        };
        Ok(memory.rule(table, obs.level, measured))
    }

    fn reset(&mut self, domain: usize) {
        if let Some((_, memory)) = self.domains.get_mut(domain) {
            *memory = Memory::default();
        }
    }
}

impl Memory {
    fn rule(&mut self, table: &OppTable, level: Option<Level>, seen: Measured) -> Proposal {
        let peak = seen.peak_kbps;
        if seen.interrupt {
            *self = Self::default();
            return Proposal::new(Ask::Demand(peak), "interrupt");
        }
        // Without a vote the driver arms both thresholds at the lowest level.
        let current = table.kbps_of(level.unwrap_or(Level::LOWEST));
        if peak > current {
            *self = Self::default();
            return Proposal::new(Ask::Demand(peak), "above the level");
        }
        let lower = match level {
            // At the lowest level the driver masks zone 1.
            Some(Level::LOWEST) => {
                *self = Self::default();
                return Proposal::new(Ask::Hold, "lowest level");
            }
            Some(level) => table.kbps_of(Level(level.0 - 1)),
            None => current,
        };
        if peak > lower {
            // Zone 2 starts the count again; ZONE_MAX(1) stays until the next decision.
            self.windows = 0;
            return Proposal::new(Ask::Hold, "fits the level");
        }
        self.windows = self.windows.saturating_add(seen.windows);
        self.max = self.max.max(peak);
        if self.windows < DOWN_WINDOWS {
            return Proposal::new(Ask::Hold, "low, counting");
        }
        let demand = self.max;
        *self = Self::default();
        Proposal::new(Ask::Demand(demand), "16 low windows")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::policy::testing::observation;

    fn decide(rule: &mut Mainline, level: Option<usize>, peak: Option<u64>) -> Ask {
        let mut all = vec![observation(); 3];
        all[1].level = level.map(Level);
        all[1].measured = peak.map(|peak| Measured {
            peak_kbps: Kbps(peak),
            mean_kbps: None,
            windows: 1,
            saturated: false,
            interrupt: false,
            trend_kbps: None,
        });
        rule.decide(&all, 1).unwrap().ask
    }

    fn rule() -> Mainline {
        Mainline::new(&builtin("sdm845").unwrap().unwrap())
    }

    #[test]
    fn one_window_above_goes_straight_to_the_level_that_carries_it() {
        assert_eq!(decide(&mut rule(), Some(0), Some(3_072_001)), Ask::Demand(Kbps(3_072_001)));
    }

    #[test]
    fn sixteen_low_windows_come_down_to_the_largest_of_them() {
        let mut rule = rule();
        // ddr: level 3 is 5412000, the next lower 3072000.
        assert_eq!(decide(&mut rule, Some(3), Some(1_500_000)), Ask::Hold);
        for _ in 0..14 {
            assert_eq!(decide(&mut rule, Some(3), Some(256_000)), Ask::Hold);
        }
        assert_eq!(decide(&mut rule, Some(3), Some(256_000)), Ask::Demand(Kbps(1_500_000)));
    }

    #[test]
    fn a_window_that_needs_the_level_starts_the_count_again() {
        let mut rule = rule();
        for _ in 0..15 {
            assert_eq!(decide(&mut rule, Some(3), Some(256_000)), Ask::Hold);
        }
        assert_eq!(decide(&mut rule, Some(3), Some(4_000_000)), Ask::Hold);
        assert_eq!(decide(&mut rule, Some(3), Some(256_000)), Ask::Hold);
    }

    #[test]
    fn at_the_lowest_level_and_without_a_reading_it_holds() {
        assert_eq!(decide(&mut rule(), Some(0), Some(256_000)), Ask::Hold);
        assert_eq!(decide(&mut rule(), Some(4), None), Ask::Hold);
    }

    #[test]
    fn without_a_vote_sixteen_low_windows_place_the_first_one() {
        let mut rule = rule();
        for _ in 0..15 {
            assert_eq!(decide(&mut rule, None, Some(256_000)), Ask::Hold);
        }
        assert_eq!(decide(&mut rule, None, Some(256_000)), Ask::Demand(Kbps(256_000)));
    }
}
