//! Count mathematics: what a window's count means in kBps, and the other way round.
//!
//! The formulas are those of `icc-bwmon.c`, in `u64`. The driver calls its unit "kB" and treats it
//! as decimal kBps although the block counts units of KiB; bwmon does the same, so that its figures
//! equal the kernel's, and names the 2.4 % it hides in docs/model.md.

use crate::units::{Kbps, Nanos};
use serde::{Deserialize, Serialize};

/// Ticks of a window's timer per second.
pub const TIMER_HZ: u64 = 19_200_000;

/// A count register's largest value (12 bits); a window that reads it may have held more.
pub const COUNT_MAX: u16 = 0xfff;

/// How a monitor counts: the unit of one count and the length of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountScale {
    /// Traffic per count: `count_unit_kb` in the driver (64 or 1024).
    #[serde(rename = "count_unit_kB")]
    pub unit_kb: u32,
    /// Window length in ticks of 19.2 MHz.
    pub window_ticks: u32,
}

impl CountScale {
    /// The bandwidth that a window with `count` may have carried, at most: the driver's
    /// `(count + 1) * unit * 1000 / sample_ms`. A count says "at least n and less than n + 1 units".
    pub fn kbps(self, count: u16) -> Kbps {
        let ticks = u64::from(self.window_ticks.max(1));
        Kbps((u64::from(count) + 1) * u64::from(self.unit_kb) * TIMER_HZ / ticks)
    }

    /// The threshold for `kbps`: the driver's `kbps / unit * sample_ms / 1000`, each division
    /// rounded down. Saturates at the register's 12 bits.
    pub fn threshold(self, kbps: Kbps) -> u16 {
        let units_per_s = kbps.0 / u64::from(self.unit_kb.max(1));
        let count = units_per_s * u64::from(self.window_ticks) / TIMER_HZ;
        count.min(u64::from(COUNT_MAX)) as u16
    }

    /// Length of a window.
    pub fn window(self) -> Nanos {
        // 19.2 MHz: 625 ns are 12 ticks.
        Nanos(u64::from(self.window_ticks) * 625 / 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: CountScale = CountScale { unit_kb: 64, window_ticks: 76_800 };
    const LLCC: CountScale = CountScale { unit_kb: 1024, window_ticks: 76_800 };

    #[test]
    fn a_count_becomes_what_the_real_driver_reported() {
        // Seen in qcom_bwmon_update on a 6.12 kernel: max 200 -> meas 3216000, 511 -> 8192000,
        // 20 -> 336000, 0 -> 16000.
        let seen: Vec<u64> = [200, 511, 20, 0].iter().map(|c| CPU.kbps(*c).0).collect();
        assert_eq!(seen, [3_216_000, 8_192_000, 336_000, 16_000]);
    }

    #[test]
    fn sdm845_thresholds_are_the_ones_the_driver_programs() {
        // floor(kBps / 64) * 4 / 1000: 4800000 -> 300, 25497600 -> 1593.
        let cpu: Vec<u16> = [4_800_000, 9_216_000, 15_052_800, 20_889_600, 25_497_600]
            .iter()
            .map(|k| CPU.threshold(Kbps(*k)))
            .collect();
        assert_eq!(cpu, [300, 576, 940, 1305, 1593]);
        let llcc: Vec<u16> = [800_000, 1_804_000, 3_072_000, 5_412_000, 7_216_000]
            .iter()
            .map(|k| LLCC.threshold(Kbps(*k)))
            .collect();
        assert_eq!(llcc, [3, 7, 12, 21, 28]);
    }

    #[test]
    fn the_largest_count_does_not_wrap_even_with_a_4_mb_unit() {
        let scale = CountScale { unit_kb: 4096, window_ticks: 76_800 };
        // 4096 counts * 4096 kB * 250 windows/s, more than 32 bits hold.
        assert_eq!(scale.kbps(COUNT_MAX), Kbps(4_194_304_000));
    }

    #[test]
    fn a_window_of_76800_ticks_lasts_4_ms() {
        assert_eq!(CPU.window(), Nanos(4 * Nanos::PER_MS));
    }

    #[test]
    fn a_threshold_beyond_twelve_bits_saturates() {
        assert_eq!(CPU.threshold(Kbps(u64::from(u32::MAX))), COUNT_MAX);
    }
}
