//! The model plugged into memory: what software writes goes in, what hardware shows comes out.

use crate::gic::Line;
use crate::physmem::Window;
use crate::registers::{BASE, BYTES};
use anyhow::{Context, Result};
use bwmon_user::bwmon::{Layout, Offset, Register, Registers, Zone};
use bwmon_user::sim::block::Block;
use std::time::Duration;

const LAYOUT: Layout = Layout::V4Unified;
/// The count unit of `qcom,sdm845-bwmon`.
const UNIT_KB: u32 = 64;

/// Registers that keep what was written, in the order in which the model hears of changes: the
/// one that runs the block comes last.
const HELD: [Register; 8] = [
    Register::GlobalIrqEnable,
    Register::SampleWindow,
    Register::ThresholdHigh,
    Register::ThresholdMed,
    Register::ThresholdLow,
    Register::ZoneActions,
    Register::ThresholdCount,
    Register::IrqEnable,
];
/// Registers that act when they are written. Counters before interrupts, as the driver does.
const ACTING: [Register; 3] = [Register::Clear, Register::IrqClear, Register::GlobalIrqClear];
/// Registers that the hardware fills.
const SHOWN: [Register; 5] = [
    Register::IrqStatus,
    Register::ZoneMax(Zone::Z0),
    Register::ZoneMax(Zone::Z1),
    Register::ZoneMax(Zone::Z2),
    Register::ZoneMax(Zone::Z3),
];

/// What the hardware did.
#[derive(Clone, Copy, Default)]
pub(crate) struct Figures {
    /// Edges on the interrupt line.
    pub(crate) raised: u64,
    /// Times that software cleared the counters.
    pub(crate) clears: u64,
}

/// The block in its place.
pub(crate) struct Plug {
    memory: Window,
    line: Option<Line>,
    block: Block,
    asserted: bool,
    /// Ticks of 19.2 MHz that have not made a whole one yet, in 1/12 of 625 ns.
    rest_ns: u64,
    figures: Figures,
}

impl Plug {
    /// Maps the registers; refused while the kernel's driver holds them, unless the machine was
    /// booted with `iomem=relaxed`.
    pub(crate) fn open(line: Option<Line>) -> Result<Self> {
        let memory = Window::map(BASE, BYTES).context("map the block's registers")?;
        let block = Block::new(LAYOUT, UNIT_KB, false);
        Ok(Self { memory, line, block, asserted: false, rest_ns: 0, figures: Figures::default() })
    }

    /// Lets `time` pass with this traffic.
    pub(crate) fn pass(&mut self, time: Duration, kbps: u64) -> Result<()> {
        self.take_writes()?;
        self.drive_line()?;
        // 12 ticks last 625 ns.
        let ns = u64::try_from(time.as_nanos()).context("time")? + self.rest_ns;
        let ticks = ns * 12 / 625;
        self.rest_ns = ns - ticks * 625 / 12;
        // kBps are 1000 bytes a second: bytes per ns are kBps / 1e6.
        let bytes = u128::from(kbps) * time.as_nanos() / 1_000_000;
        self.block.run(u32::try_from(ticks)?, u64::try_from(bytes)?);
        self.show()?;
        self.drive_line()
    }

    /// Whether an interrupt waits for software.
    pub(crate) fn asserted(&self) -> bool {
        self.asserted
    }

    pub(crate) fn figures(&self) -> Figures {
        self.figures
    }

    /// Hands over to the model what software wrote since the last time.
    fn take_writes(&mut self) -> Result<()> {
        for register in HELD {
            self.hand_over(register)?;
        }
        for register in ACTING {
            let at = offset(register)?;
            let value = self.memory.take32(at.bytes)?;
            if value != 0 {
                self.block.write32(at, value);
                self.figures.clears += u64::from(register == Register::Clear);
            }
        }
        self.hand_over(Register::Enable)
    }

    /// Writing a held register twice with the same value changes nothing, so no copy is kept.
    fn hand_over(&mut self, register: Register) -> Result<()> {
        let at = offset(register)?;
        self.block.write32(at, self.memory.read32(at.bytes)?);
        Ok(())
    }

    fn show(&mut self) -> Result<()> {
        for register in SHOWN {
            let at = offset(register)?;
            self.memory.write32(at.bytes, self.block.read32(at))?;
        }
        Ok(())
    }

    /// The bench's interrupt is an edge: raised when the block begins to drive its line.
    fn drive_line(&mut self) -> Result<()> {
        let asserted = self.block.line();
        if asserted && !self.asserted {
            self.figures.raised += 1;
            if let Some(line) = &self.line {
                line.raise()?;
            }
        }
        self.asserted = asserted;
        Ok(())
    }
}

fn offset(register: Register) -> Result<Offset> {
    LAYOUT.offset(register).with_context(|| format!("{register:?} is not in this layout"))
}
