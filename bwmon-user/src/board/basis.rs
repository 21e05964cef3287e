//! What a table's kBps are of: decimal kilobytes, or MiB/s that were written down as if they were
//! MB/s.
//!
//! `opp-peak-kBps` is a clock times the width of a bus. Some tables (SC7180, SC8280XP, SA8775P and
//! others) come from lists in MiB/s, times 1000: 200 MHz times 4 bytes is 800000 kBps and 762 MiB/s,
//! and they say 762000. Such a level is 4.9 % higher than it looks.

use super::OppTable;
use crate::units::Kbps;
use serde::Serialize;

/// How a table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// kHz times width: what the binding asks for.
    Decimal,
    /// MiB/s times 1000.
    Mib,
    /// The values are those of no known clock.
    Unknown,
}

/// Memory clocks in kHz that SMEM lists or that decimal tables imply. The last digits differ by
/// source (1017 and 1017.6 MHz), hence [`CLOSE_PER_MILLE`].
const DDR_KHZ: &[u64] = &[
    200_000, 300_000, 451_000, 547_000, 681_000, 768_000, 1_017_000, 1_353_000, 1_555_000,
    1_708_000, 1_804_000, 2_092_000, 2_133_000, 2_736_000, 3_196_000, 3_187_000, 3_686_000,
    4_224_000, 4_761_000, 4_780_000, 5_333_000,
];

/// Clocks of the system cache in kHz, likewise.
const LLCC_KHZ: &[u64] = &[
    150_000, 240_000, 300_000, 350_000, 466_000, 533_000, 600_000, 806_000, 933_000, 1_000_000,
    1_066_000,
];

/// Bytes that one channel moves in a cycle of the clock.
pub(super) const DDR_WIDTH: u64 = 4;
/// Bytes that the path to the system cache moves in a cycle.
const LLCC_WIDTH: u64 = 16;

/// L3 clocks, which SDM845's path to the system cache is voted by, are multiples of the 19.2 MHz
/// crystal; times 16 bytes.
const CRYSTAL_KBPS: u64 = 19_200 * LLCC_WIDTH;

/// Two values for the same clock differ by less than this.
const CLOSE_PER_MILLE: u64 = 2;

impl Basis {
    /// The basis of the first column of `table`: that of most of its values, if it is that of three
    /// in four.
    pub fn of(table: &OppTable) -> Self {
        let votes = table.kbps().iter().map(|kbps| Self::of_value(*kbps));
        let (mut decimal, mut mib, mut all) = (0, 0, 0);
        for (is_decimal, is_mib) in votes {
            decimal += usize::from(is_decimal);
            mib += usize::from(is_mib);
            all += 1;
        }
        match (decimal, mib) {
            (decimal, mib) if decimal > mib && decimal * 4 >= all * 3 => Self::Decimal,
            (decimal, mib) if mib > decimal && mib * 4 >= all * 3 => Self::Mib,
            _ => Self::Unknown,
        }
    }

    /// Whether the value is that of a known clock in kBps, and in MiB/s times 1000.
    fn of_value(kbps: Kbps) -> (bool, bool) {
        let ddr = DDR_KHZ.iter().map(|khz| khz * DDR_WIDTH);
        let llcc = LLCC_KHZ.iter().map(|khz| khz * LLCC_WIDTH);
        let clocks: Vec<u64> = ddr.chain(llcc).collect();
        let is_one = |value: u64| clocks.iter().any(|clock| close(*clock, value));
        let crystal = kbps.0.is_multiple_of(CRYSTAL_KBPS);
        (is_one(kbps.0) || crystal, is_one(Self::Mib.true_kbps(kbps).0))
    }

    /// The decimal kBps that `kbps` in such a table stands for.
    pub fn true_kbps(self, kbps: Kbps) -> Kbps {
        match self {
            Self::Mib => Kbps((u128::from(kbps.0) * 1_048_576).div_ceil(1_000_000) as u64),
            Self::Decimal | Self::Unknown => kbps,
        }
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Decimal => "decimal: clock times width in kBps",
            Self::Mib => "MiB/s times 1000: each level stands for 4.9 % more kBps than it says",
            Self::Unknown => "not told: the values are those of no known clock",
        }
    }
}

/// Whether both are the same clock's.
pub(super) fn close(a: u64, b: u64) -> bool {
    a.abs_diff(b).saturating_mul(1_000) <= a.max(b).saturating_mul(CLOSE_PER_MILLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{builtin, builtin_ids};

    fn basis(board: &str, domain: &str) -> Basis {
        let board = builtin(board).unwrap().unwrap();
        Basis::of(&board.domains[board.domain_index(domain).unwrap()].table)
    }

    #[test]
    fn the_boards_that_are_known_to_carry_mib_are_told_from_the_others() {
        // Reference kernel.md section 1.4: sc7180, sc8280xp, sa8775p, qcs8300, sm6350, sm8550, sm8650.
        let mib = ["sc7180", "sc8280xp", "sa8775p", "qcs8300", "sm6350", "sm8550", "sm8650"];
        for id in builtin_ids() {
            let board = builtin(id).unwrap().unwrap();
            for domain in board.domains {
                let expected = if mib.contains(&id) { Basis::Mib } else { Basis::Decimal };
                assert_eq!(Basis::of(&domain.table), expected, "{id} {}", domain.name);
            }
        }
    }

    #[test]
    fn values_of_no_known_clock_are_not_told() {
        let rows = [1_111_000, 2_222_000, 3_333_000].map(|kbps| vec![Kbps(kbps)]);
        let table = OppTable::new(vec!["ddr".into()], rows.into()).unwrap();
        assert_eq!(Basis::of(&table), Basis::Unknown);
    }

    #[test]
    fn a_mib_level_stands_for_the_clock_times_the_width() {
        assert_eq!(basis("sm8550", "ddr"), Basis::Mib);
        // 2086000 * 1.048576 = 2187329.5; the clock is 547 MHz * 4 bytes = 2188000.
        assert_eq!(Basis::Mib.true_kbps(Kbps(2_086_000)), Kbps(2_187_330));
        assert!(close(2_187_330, 2_188_000));
        assert_eq!(Basis::Decimal.true_kbps(Kbps(2_188_000)), Kbps(2_188_000));
    }
}
