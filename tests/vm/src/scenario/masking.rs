//! Masking: what our module does with an interrupt, register by register. The line is an edge here, so
//! what a level line would make of a wrong answer can only be seen in the registers.

use crate::machine::{self, Snapshot};
use crate::physmem::Window;
use crate::registers::{BASE, BYTES, GLOBAL_IRQ_ENABLE, IRQ_ENABLE, IRQ_STATUS, SPI, status_bit};
use crate::verdict::Figures;
use crate::vote::{self, Lent};
use crate::{gic, wait};
use anyhow::{Context, Result, ensure};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde_json::json;
use std::os::fd::OwnedFd;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// The block, its line, and its owner's file.
struct Bench {
    registers: Window,
    line: gic::Line,
    owner: OwnedFd,
}

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = Snapshot::without_votes()?;
    let lent = Lent::take()?;
    let registers = Window::map(BASE, BYTES).context("map the registers")?;
    let bench = Bench { registers, line: gic::Line::open(SPI)?, owner: open()? };
    bench.not_ours()?;
    let count = bench.ours(3)?;
    let next = bench.ours(1)?;
    ensure!(next == count + 1, "the event count went from {count} to {next}");
    bench.closed()?;
    lent.give_back()?;
    Snapshot::without_votes()?.must_equal(&before)?;
    let mut figures = Figures::new();
    figures.insert("events".into(), json!(2));
    Ok(figures)
}

fn open() -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(vote::uio_node()?, flags, Mode::empty()).context("open the block")
}

impl Bench {
    /// Lets both of its zones interrupt.
    fn arm(&self) -> Result<()> {
        self.registers.write32(IRQ_ENABLE, status_bit(1) | status_bit(3))?;
        self.registers.write32(GLOBAL_IRQ_ENABLE, 1)
    }

    fn armed(&self) -> Result<(u32, u32)> {
        Ok((self.registers.read32(GLOBAL_IRQ_ENABLE)?, self.registers.read32(IRQ_ENABLE)?))
    }

    /// One edge, and the handler has been there.
    fn raise(&self) -> Result<()> {
        let before = machine::interrupts()?;
        self.line.raise()?;
        wait::until("the interrupt to be taken", PATIENCE, || {
            Ok((machine::interrupts()? > before).then_some(()))
        })
    }

    fn event(&self) -> std::result::Result<u32, Errno> {
        let mut count = [0; 4];
        rustix::io::read(&self.owner, &mut count)?;
        Ok(u32::from_ne_bytes(count))
    }

    /// An interrupt of a neighbour on the line: nothing is touched, nobody is told.
    fn not_ours(&self) -> Result<()> {
        self.registers.write32(IRQ_STATUS, 0)?;
        self.arm()?;
        let armed = self.armed()?;
        self.raise()?;
        ensure!(self.armed()? == armed, "a neighbour's interrupt masked our block");
        let event = self.event();
        ensure!(event == Err(Errno::AGAIN), "a neighbour's interrupt is an event: {event:?}");
        Ok(())
    }

    /// Our own: the block is masked, what it says stays, its owner is told. Answers the event count.
    fn ours(&self, zone: u32) -> Result<u32> {
        self.registers.write32(IRQ_STATUS, status_bit(zone))?;
        self.arm()?;
        self.raise()?;
        let count = wait::until("the event", PATIENCE, || match self.event() {
            Ok(count) => Ok(Some(count)),
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        })?;
        ensure!(self.armed()? == (0, 0), "the block is not masked: {:?}", self.armed()?);
        let status = self.registers.read32(IRQ_STATUS)?;
        ensure!(status == status_bit(zone), "the status is for the owner to read: {status:#x}");
        // What programs for uio_pdrv_genirq write next unmasks nothing: the owner does that itself.
        rustix::io::write(&self.owner, &1_i32.to_ne_bytes()).context("write 1")?;
        ensure!(self.armed()? == (0, 0), "a write unmasked the block");
        Ok(count)
    }

    /// The owner's end masks the block, and a `write` of 0 does.
    fn closed(self) -> Result<()> {
        self.arm()?;
        rustix::io::write(&self.owner, &0_i32.to_ne_bytes()).context("write 0")?;
        ensure!(self.armed()? == (0, 0), "a write of 0 left the block armed");
        self.arm()?;
        let Self { registers, line, owner } = self;
        drop(owner);
        let left = (registers.read32(GLOBAL_IRQ_ENABLE)?, registers.read32(IRQ_ENABLE)?);
        ensure!(left == (0, 0), "the block was left armed: {left:?}");
        registers.write32(IRQ_STATUS, 0)?;
        drop(line);
        Ok(())
    }
}
