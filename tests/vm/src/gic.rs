//! The interrupt controller, from the device's side of the wire.

use crate::physmem::Window;
use anyhow::{Context, Result};

/// The GICv2 distributor of QEMU's `virt` machine.
const DISTRIBUTOR: u64 = 0x0800_0000;
/// `GICD_ISPENDRn`: one bit per interrupt, writing 1 makes it pending.
const SET_PENDING: u32 = 0x200;
/// Shared peripheral interrupts start here in the distributor's numbering.
const FIRST_SPI: u32 = 32;

/// One shared peripheral interrupt that can be raised from here.
pub(crate) struct Line {
    distributor: Window,
    offset: u32,
    bit: u32,
}

impl Line {
    /// The line of a device tree's `interrupts = <0 spi 1>`.
    pub(crate) fn open(spi: u32) -> Result<Self> {
        let distributor = Window::map(DISTRIBUTOR, 0x1000).context("map the GIC distributor")?;
        let number = FIRST_SPI + spi;
        Ok(Self { distributor, offset: SET_PENDING + 4 * (number / 32), bit: 1 << (number % 32) })
    }

    /// One edge.
    pub(crate) fn raise(&self) -> Result<()> {
        self.distributor.write32(self.offset, self.bit)
    }
}
