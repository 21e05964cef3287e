//! Where the registers of a BWMON block are.
//!
//! Facts from `drivers/soc/qcom/icc-bwmon.c` (register fields of the v4 and v5 variants) and the
//! binding `qcom,msm8998-bwmon.yaml`.

use serde::{Deserialize, Serialize};

/// The register layouts that the mainline driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `qcom,sdm845-bwmon`: one region, the global registers at its start.
    V4Unified,
    /// `qcom,msm8998-bwmon`: two regions, monitor and global.
    V4Split,
    /// `qcom,sdm845-llcc-bwmon`, `qcom,sc7280-llcc-bwmon`: one region, no global registers.
    V5,
}

/// One of the four bandwidth zones that a finished window can fall into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Zone {
    /// Below LOW.
    #[serde(rename = "0")]
    Z0,
    /// From LOW, below MED: the driver's "come down" zone.
    #[serde(rename = "1")]
    Z1,
    /// From MED, below HIGH.
    #[serde(rename = "2")]
    Z2,
    /// HIGH and more: the driver's "go up" zone.
    #[serde(rename = "3")]
    Z3,
}

impl Zone {
    /// All zones, lowest first.
    pub const ALL: [Zone; 4] = [Zone::Z0, Zone::Z1, Zone::Z2, Zone::Z3];

    /// 0..=3.
    pub const fn index(self) -> usize {
        match self {
            Self::Z0 => 0,
            Self::Z1 => 1,
            Self::Z2 => 2,
            Self::Z3 => 3,
        }
    }
}

/// Which of the block's mapped regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// `reg` 0.
    Monitor,
    /// `reg` 1, in the split layout only.
    Global,
}

/// A register's place: region and byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Offset {
    /// The region.
    pub region: Region,
    /// Bytes from the region's start, a multiple of 4.
    pub bytes: u32,
}

/// The registers that the driver uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// Write 1 to clear the block's line at the global level.
    GlobalIrqClear,
    /// 1 lets the block's line through.
    GlobalIrqEnable,
    /// One bit per zone whose count was reached.
    IrqStatus,
    /// Write a zone's bit to clear it.
    IrqClear,
    /// One bit per zone that may interrupt.
    IrqEnable,
    /// 1 runs the block.
    Enable,
    /// Bit 0 clears the counters, bit 1 all.
    Clear,
    /// Length of a window in ticks of 19.2 MHz.
    SampleWindow,
    /// Start of zone 3, in count units per window.
    ThresholdHigh,
    /// Start of zone 2.
    ThresholdMed,
    /// Start of zone 1.
    ThresholdLow,
    /// A byte per zone: which zone counters a window in it increments and clears.
    ZoneActions,
    /// A byte per zone: windows until its status bit is set.
    ThresholdCount,
    /// The largest window count seen in the zone since the last clear.
    ZoneMax(Zone),
}

impl Layout {
    /// As in board files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4Unified => "v4-unified",
            Self::V4Split => "v4-split",
            Self::V5 => "v5",
        }
    }

    /// Whether the block has global interrupt registers.
    pub const fn has_global_irq(self) -> bool {
        matches!(self, Self::V4Unified | Self::V4Split)
    }

    /// Regions that have to be mapped.
    pub const fn regions(self) -> usize {
        match self {
            Self::V4Split => 2,
            Self::V4Unified | Self::V5 => 1,
        }
    }

    /// Bits of SAMPLE_WINDOW.
    pub const fn window_bits(self) -> u32 {
        match self {
            Self::V4Unified | Self::V4Split => 24,
            Self::V5 => 20,
        }
    }

    /// The bit of `zone` in the interrupt registers.
    pub const fn zone_bit(self, zone: Zone) -> u32 {
        let shift = match self {
            Self::V4Unified | Self::V4Split => 4,
            Self::V5 => 0,
        };
        1 << (shift + zone.index())
    }

    /// Where `register` is, or `None` where this layout has no such register.
    pub const fn offset(self, register: Register) -> Option<Offset> {
        use Register as R;
        let (region, bytes) = match (self, register) {
            // In the unified region everything global is shifted by -0x100.
            (Self::V4Unified, R::GlobalIrqClear) => (Region::Monitor, 0x008),
            (Self::V4Unified, R::GlobalIrqEnable) => (Region::Monitor, 0x00c),
            (Self::V4Split, R::GlobalIrqClear) => (Region::Global, 0x108),
            (Self::V4Split, R::GlobalIrqEnable) => (Region::Global, 0x10c),
            (Self::V5, R::GlobalIrqClear | R::GlobalIrqEnable) => return None,
            (Self::V5, register) => (Region::Monitor, v5(register)),
            (Self::V4Unified | Self::V4Split, register) => (Region::Monitor, v4(register)),
        };
        Some(Offset { region, bytes })
    }
}

const fn v4(register: Register) -> u32 {
    use Register as R;
    match register {
        // Handled by the caller: these depend on the region.
        R::GlobalIrqClear => 0x108,
        R::GlobalIrqEnable => 0x10c,
        R::IrqStatus => 0x100,
        R::IrqClear => 0x108,
        R::IrqEnable => 0x10c,
        R::Enable => 0x2a0,
        R::Clear => 0x2a4,
        R::SampleWindow => 0x2a8,
        R::ThresholdHigh => 0x2ac,
        R::ThresholdMed => 0x2b0,
        R::ThresholdLow => 0x2b4,
        R::ZoneActions => 0x2b8,
        R::ThresholdCount => 0x2bc,
        R::ZoneMax(zone) => 0x2e0 + 4 * zone.index() as u32,
    }
}

const fn v5(register: Register) -> u32 {
    use Register as R;
    match register {
        R::GlobalIrqClear | R::IrqClear => 0x008,
        R::GlobalIrqEnable | R::IrqEnable => 0x00c,
        R::IrqStatus => 0x000,
        R::Enable => 0x010,
        R::Clear => 0x014,
        R::SampleWindow => 0x020,
        R::ThresholdHigh => 0x024,
        R::ThresholdMed => 0x028,
        R::ThresholdLow => 0x02c,
        R::ZoneActions => 0x030,
        R::ThresholdCount => 0x034,
        R::ZoneMax(zone) => 0x044 + 4 * zone.index() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unified_block_fits_its_device_tree_region() {
        // reg = <... 0x600>; the last register is ZONE_MAX(3) at 0x2ec.
        let last = Layout::V4Unified.offset(Register::ZoneMax(Zone::Z3)).unwrap();
        assert_eq!(last, Offset { region: Region::Monitor, bytes: 0x2ec });
    }

    #[test]
    fn global_registers_are_in_their_own_region_when_split_and_absent_in_v5() {
        let split = Layout::V4Split.offset(Register::GlobalIrqEnable).unwrap();
        assert_eq!(split, Offset { region: Region::Global, bytes: 0x10c });
        let unified = Layout::V4Unified.offset(Register::GlobalIrqEnable).unwrap();
        assert_eq!(unified, Offset { region: Region::Monitor, bytes: 0x00c });
        assert_eq!(Layout::V5.offset(Register::GlobalIrqEnable), None);
    }

    #[test]
    fn zone_bits_are_7_to_4_in_v4_and_3_to_0_in_v5() {
        assert_eq!(Layout::V4Unified.zone_bit(Zone::Z3), 0x80);
        assert_eq!(Layout::V4Unified.zone_bit(Zone::Z1), 0x20);
        assert_eq!(Layout::V5.zone_bit(Zone::Z3), 0x8);
    }
}
