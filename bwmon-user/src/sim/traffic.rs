//! Traffic: what kind it is, where the caches catch it, and what a kilobyte of it costs in time.
//!
//! The time for a kilobyte has three parts: one that no level changes, one that stretches with the
//! L3 clock and one that stretches with the DDR clock. Two measurements (everything at the top,
//! everything at the bottom) fix two of them; which of the two clocks carries the stretching part
//! follows from where the working set lives. [`calibrate`] sees only those two measurements.

use serde::{Deserialize, Serialize};

/// Read or write, in order or at random, spelled as in the seed's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Sequential reads.
    #[serde(rename = "R/seq")]
    ReadSeq,
    /// Sequential writes.
    #[serde(rename = "W/seq")]
    WriteSeq,
    /// Reads at random, a machine word each.
    #[serde(rename = "R/rnd")]
    ReadRnd,
    /// Writes at random, a machine word each.
    #[serde(rename = "W/rnd")]
    WriteRnd,
}

impl Kind {
    /// As in the seed's table.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadSeq => "R/seq",
            Self::WriteSeq => "W/seq",
            Self::ReadRnd => "R/rnd",
            Self::WriteRnd => "W/rnd",
        }
    }

    /// Bytes that cross a path for each byte that the program asked for, where nothing is cached:
    /// random access moves a line of 64 bytes for a word of 8, and writes one back too. Sequential
    /// writes are streamed without being read first.
    pub fn amplification(self) -> f64 {
        match self {
            Self::ReadSeq | Self::WriteSeq => 1.0,
            Self::ReadRnd => 8.0,
            Self::WriteRnd => 16.0,
        }
    }

    fn sequential(self) -> bool {
        matches!(self, Self::ReadSeq | Self::WriteSeq)
    }
}

/// Sizes of the shared caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// The cluster's L3.
    #[serde(rename = "l3_kB")]
    pub l3_kb: u32,
    /// The system cache behind the CPUs' path.
    #[serde(rename = "llcc_kB")]
    pub llcc_kb: u32,
}

impl Caches {
    /// Shares of the accesses that miss the L3, and that miss the system cache too. A sweep in order
    /// over more than fits finds nothing of it again; random access finds its share.
    pub fn misses(self, kind: Kind, working_set_kb: u32) -> (f64, f64) {
        let share = |fits: u32| {
            let (set, fits) = (f64::from(working_set_kb.max(1)), f64::from(fits));
            if set <= fits {
                0.0
            } else if kind.sequential() {
                1.0
            } else {
                1.0 - fits / set
            }
        };
        (share(self.l3_kb), share(self.l3_kb.saturating_add(self.llcc_kb)))
    }
}

/// Seconds for a kilobyte of useful traffic at the top of everything, by what stretches them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Stretches with the CPU clock alone.
    pub core: f64,
    /// Stretches with the L3 clock.
    pub l3: f64,
    /// Stretches with the DDR clock.
    pub ddr: f64,
}

/// How much slower than at the top the clocks are, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The CPUs.
    pub cpu: f64,
    /// The L3.
    pub l3: f64,
    /// The DDR.
    pub ddr: f64,
}

impl Cost {
    /// Useful kilobytes per second.
    pub fn rate(self, stretch: Stretch) -> f64 {
        1.0 / (self.core * stretch.cpu + self.l3 * stretch.l3 + self.ddr * stretch.ddr).max(1e-12)
    }
}

/// Of the stretching part of traffic that goes to memory, the share that stretches with the L3
/// clock. Nothing published tells it from the DDR's, since the seed moved both together.
const L3_SHARE_BEYOND_CACHES: f64 = 0.5;

/// The cost of traffic that reached `top` kB/s with every clock at its highest and `bottom` kB/s
/// with every clock at its lowest, where they are slower by `lowest`.
pub fn calibrate(
    caches: Caches,
    kind: Kind,
    working_set_kb: u32,
    (top, bottom): (f64, f64),
    lowest: Stretch,
) -> Cost {
    if bottom >= top {
        // Levels do not matter; what is left of the difference is noise.
        return Cost { core: 1.0 / (top * bottom).sqrt(), l3: 0.0, ddr: 0.0 };
    }
    let beyond = caches.misses(kind, working_set_kb).1 > 0.0;
    let l3_share = if beyond { L3_SHARE_BEYOND_CACHES } else { 1.0 };
    let stretch = l3_share * lowest.l3 + (1.0 - l3_share) * lowest.ddr;
    // core + part = 1 / top; core + part * stretch = 1 / bottom.
    let part = ((1.0 / bottom - 1.0 / top) / (stretch - 1.0).max(1e-9)).min(1.0 / top);
    Cost { core: 1.0 / top - part, l3: part * l3_share, ddr: part * (1.0 - l3_share) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CACHES: Caches = Caches { l3_kb: 2_048, llcc_kb: 3_072 };
    const LOWEST: Stretch = Stretch { cpu: 1.0, l3: 5.312, ddr: 9.02 };
    const TOP: Stretch = Stretch { cpu: 1.0, l3: 1.0, ddr: 1.0 };

    #[test]
    fn a_sweep_misses_what_does_not_fit_and_random_access_its_share() {
        assert_eq!(CACHES.misses(Kind::ReadSeq, 64), (0.0, 0.0));
        assert_eq!(CACHES.misses(Kind::WriteSeq, 4_096), (1.0, 0.0));
        assert_eq!(CACHES.misses(Kind::ReadSeq, 65_536), (1.0, 1.0));
        // 1 - 2048 / 8192 and 1 - 5120 / 8192.
        assert_eq!(CACHES.misses(Kind::ReadRnd, 8_192), (0.75, 0.375));
    }

    #[test]
    fn work_in_the_caches_pays_the_l3_and_never_the_ddr() {
        let cost = calibrate(CACHES, Kind::WriteSeq, 64, (41_987.0, 10_334.0), LOWEST);
        assert_eq!(cost.ddr, 0.0);
        assert!(cost.l3 > 0.0);
    }

    #[test]
    fn a_row_that_levels_do_not_help_costs_the_same_at_every_level() {
        let cost = calibrate(CACHES, Kind::ReadSeq, 64, (61_202.0, 67_092.0), LOWEST);
        assert_eq!(cost.rate(TOP), cost.rate(LOWEST));
    }

    proptest! {
        #[test]
        fn both_measurements_come_out_again(
            top in 500.0f64..70_000.0, slower in 1.01f64..5.0,
            set in prop::sample::select(vec![1u32, 64, 4_096, 65_536]),
        ) {
            let bottom = top / slower;
            let cost = calibrate(CACHES, Kind::WriteSeq, set, (top, bottom), LOWEST);
            prop_assert!((cost.rate(TOP) / top - 1.0).abs() < 1e-9);
            prop_assert!((cost.rate(LOWEST) / bottom - 1.0).abs() < 1e-9);
            prop_assert!(cost.core >= 0.0 && cost.l3 >= 0.0 && cost.ddr >= 0.0);
        }
    }
}
