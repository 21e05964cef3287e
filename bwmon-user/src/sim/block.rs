//! A register-level model of the BWMON block.
//!
//! Windows, zones, counts, clear semantics, force-clear, saturation at 12 bits and interrupt
//! status behave as reference `icc-bwmon.c` relies on. What the public sources leave open is
//! decided here, once: a zone starts at its threshold (`count >= HIGH` is zone 3); clearing the
//! counters (CLEAR bit 0) also starts a new window and forgets ZONE_MAX; a window that ends drops
//! the bytes that do not fill a unit.

use crate::bwmon::{COUNT_MAX, Layout, Offset, Region, Register, Registers, Zone};

/// The registers that only hold what was written.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    global_irq_enable: u32,
    irq_enable: u32,
    enable: u32,
    clear: u32,
    window_ticks: u32,
    high: u32,
    med: u32,
    low: u32,
    actions: u32,
    threshold_count: u32,
}

/// One block. Traffic is played with [`Block::run`]; everything else goes through the registers.
#[derive(Clone, Debug)]
pub struct Block {
    layout: Layout,
    registers: Vec<Option<Register>>,
    unit_bytes: u64,
    force_clear: bool,
    written: Written,
    window_bytes: u64,
    window_ticks: u32,
    zone_count: [u8; 4],
    zone_max: [u16; 4],
    status: u32,
    reads_back: bool,
}

impl Block {
    /// A block after reset: disabled, all zero. `unit_kb` is the driver's count unit (KiB in fact).
    pub fn new(layout: Layout, unit_kb: u32, force_clear: bool) -> Self {
        Self {
            layout,
            registers: register_map(layout),
            unit_bytes: u64::from(unit_kb.max(1)) * 1024,
            force_clear,
            written: Written::default(),
            window_bytes: 0,
            window_ticks: 0,
            zone_count: [0; 4],
            zone_max: [0; 4],
            status: 0,
            reads_back: false,
        }
    }

    /// The same, and what was programmed can be read back. The driver never does, so whether a block
    /// answers is not known; both kinds have to work.
    #[must_use]
    pub fn reading_back(self) -> Self {
        Self { reads_back: true, ..self }
    }

    fn programmed(&self, register: Register) -> u32 {
        match register {
            Register::Enable => self.written.enable,
            Register::SampleWindow => self.written.window_ticks,
            Register::ThresholdHigh => self.written.high,
            Register::ThresholdMed => self.written.med,
            Register::ThresholdLow => self.written.low,
            _ => 0,
        }
    }

    /// Lets `ticks` of 19.2 MHz pass in which `bytes` cross the path, evenly.
    pub fn run(&mut self, mut ticks: u32, mut bytes: u64) {
        if self.written.enable & 1 == 0 || self.held_clear() || self.written.window_ticks == 0 {
            return;
        }
        while ticks > 0 {
            let left = self.written.window_ticks.saturating_sub(self.window_ticks).max(1);
            if ticks < left {
                self.window_ticks += ticks;
                self.window_bytes += bytes;
                return;
            }
            let share = if ticks == left {
                bytes
            } else {
                (u128::from(bytes) * u128::from(left) / u128::from(ticks)) as u64
            };
            self.window_bytes += share;
            bytes -= share;
            ticks -= left;
            self.end_window();
        }
    }

    /// Whether the block drives its interrupt line.
    pub fn line(&self) -> bool {
        let global = !self.layout.has_global_irq() || self.written.global_irq_enable & 1 != 0;
        global && self.status & self.written.irq_enable != 0
    }

    /// Whether the block is running.
    pub fn enabled(&self) -> bool {
        self.written.enable & 1 != 0
    }

    /// Force-clear blocks hold their counters at zero until the bit is taken back.
    fn held_clear(&self) -> bool {
        self.force_clear && self.written.clear != 0
    }

    fn end_window(&mut self) {
        let count = (self.window_bytes / self.unit_bytes).min(u64::from(COUNT_MAX)) as u16;
        self.window_bytes = 0;
        self.window_ticks = 0;
        let zone = self.zone_of(count);
        if let Some(max) = self.zone_max.get_mut(zone.index()) {
            *max = (*max).max(count);
        }
        self.act(zone);
        for zone in Zone::ALL {
            let limit = (self.written.threshold_count >> (8 * zone.index())) as u8;
            let reached = self.zone_count.get(zone.index()).is_some_and(|n| *n >= limit);
            if limit != 0 && reached {
                self.status |= self.layout.zone_bit(zone);
            }
        }
    }

    fn zone_of(&self, count: u16) -> Zone {
        let count = u32::from(count);
        if count >= self.written.high {
            Zone::Z3
        } else if count >= self.written.med {
            Zone::Z2
        } else if count >= self.written.low {
            Zone::Z1
        } else {
            Zone::Z0
        }
    }

    /// ZONE_ACTIONS: for a window in a zone, two bits per target zone: clear, increment.
    fn act(&mut self, zone: Zone) {
        let actions = self.written.actions >> (8 * zone.index());
        for (target, count) in self.zone_count.iter_mut().enumerate() {
            if actions & (1 << (2 * target)) != 0 {
                *count = 0;
            }
            if actions & (2 << (2 * target)) != 0 {
                *count = count.saturating_add(1);
            }
        }
    }

    fn clear(&mut self, bits: u32) {
        if bits & 0b11 != 0 {
            self.window_bytes = 0;
            self.window_ticks = 0;
            self.zone_count = [0; 4];
            self.zone_max = [0; 4];
        }
        if bits & 0b10 != 0 {
            self.status = 0;
        }
    }

    fn register_at(&self, at: Offset) -> Option<Register> {
        match at.region {
            Region::Monitor => self.registers.get(at.bytes as usize / 4).copied().flatten(),
            Region::Global => GLOBAL.into_iter().find(|r| self.layout.offset(*r) == Some(at)),
        }
    }
}

const GLOBAL: [Register; 2] = [Register::GlobalIrqClear, Register::GlobalIrqEnable];

/// The register at every fourth byte of the monitor's region.
fn register_map(layout: Layout) -> Vec<Option<Register>> {
    use Register as R;
    let zones = Zone::ALL.map(R::ZoneMax);
    let others = [
        R::IrqStatus,
        R::IrqClear,
        R::IrqEnable,
        R::Enable,
        R::Clear,
        R::SampleWindow,
        R::ThresholdHigh,
        R::ThresholdMed,
        R::ThresholdLow,
        R::ZoneActions,
        R::ThresholdCount,
    ];
    let mut map = vec![None; 0x300 / 4];
    for register in GLOBAL.into_iter().chain(others).chain(zones) {
        if let Some(Offset { region: Region::Monitor, bytes }) = layout.offset(register)
            && let Some(place) = map.get_mut(bytes as usize / 4)
        {
            *place = Some(register);
        }
    }
    map
}

impl Registers for Block {
    fn read32(&mut self, at: Offset) -> u32 {
        match self.register_at(at) {
            Some(Register::IrqStatus) => self.status,
            Some(Register::ZoneMax(zone)) => {
                self.zone_max.get(zone.index()).copied().map_or(0, u32::from)
            }
            Some(register) if self.reads_back => self.programmed(register),
            // The driver's register map caches the rest and never reads it from the hardware.
            _ => 0,
        }
    }

    fn write32(&mut self, at: Offset, value: u32) {
        let window_mask = (1 << self.layout.window_bits()) - 1;
        let count_mask = u32::from(COUNT_MAX);
        match self.register_at(at) {
            Some(Register::GlobalIrqEnable) => self.written.global_irq_enable = value,
            Some(Register::IrqClear) => self.status &= !value,
            Some(Register::IrqEnable) => self.written.irq_enable = value,
            Some(Register::Enable) => self.written.enable = value,
            Some(Register::Clear) => {
                self.written.clear = value;
                self.clear(value);
            }
            Some(Register::SampleWindow) => self.written.window_ticks = value & window_mask,
            Some(Register::ThresholdHigh) => self.written.high = value & count_mask,
            Some(Register::ThresholdMed) => self.written.med = value & count_mask,
            Some(Register::ThresholdLow) => self.written.low = value & count_mask,
            Some(Register::ZoneActions) => self.written.actions = value,
            Some(Register::ThresholdCount) => self.written.threshold_count = value,
            Some(Register::GlobalIrqClear | Register::IrqStatus | Register::ZoneMax(_)) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(layout: Layout, register: Register) -> Offset {
        layout.offset(register).unwrap()
    }

    #[test]
    fn a_force_clear_block_counts_nothing_until_the_bit_is_taken_back() {
        let layout = Layout::V5;
        let mut block = Block::new(layout, 64, true);
        block.write32(offset(layout, Register::SampleWindow), 76_800);
        block.write32(offset(layout, Register::ThresholdHigh), 0xfff);
        block.write32(offset(layout, Register::Enable), 1);
        block.write32(offset(layout, Register::Clear), 1);
        block.run(76_800, 64 * 1024 * 5);
        assert_eq!(block.read32(offset(layout, Register::ZoneMax(Zone::Z2))), 0);
        block.write32(offset(layout, Register::Clear), 0);
        block.run(76_800, 64 * 1024 * 5);
        // LOW and MED are 0, HIGH is 4095: five units fall into zone 2.
        assert_eq!(block.read32(offset(layout, Register::ZoneMax(Zone::Z2))), 5);
    }

    #[test]
    fn traffic_is_split_evenly_over_the_windows_that_it_spans() {
        let layout = Layout::V4Unified;
        let mut block = Block::new(layout, 64, false);
        block.write32(offset(layout, Register::SampleWindow), 100);
        block.write32(offset(layout, Register::ThresholdHigh), 0xfff);
        block.write32(offset(layout, Register::Enable), 1);
        // 250 ticks at 1 unit per 10 ticks: two whole windows of 10 units, half of a third.
        block.run(250, 25 * 64 * 1024);
        assert_eq!(block.read32(offset(layout, Register::ZoneMax(Zone::Z2))), 10);
        assert_eq!((block.window_ticks, block.window_bytes), (50, 5 * 64 * 1024));
    }
}
