//! Agreeing: for hundreds of counter values the real driver measures, sets thresholds and votes
//! as our rules do.
//!
//! Each value is put into the registers by hand and the interrupt raised; the driver's answer is
//! read from the kernel's own trace.

use crate::registers::{BASE, BYTES, IRQ_STATUS, MONITOR, SPI, status_bit, zone_max};
use crate::tracefs::{Line, Pipe, Truth};
use crate::verdict::Figures;
use crate::{gic, machine, physmem, wait};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// The zones whose interrupts the driver takes; it drops a status that has none of them.
const HEARD: [u32; 2] = [1, 3];
const UNHEARD: [u32; 2] = [0, 2];

/// What the driver made of one interrupt.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    meas_kbps: i64,
    up_kbps: i64,
    down_kbps: i64,
    /// The peak vote in force afterwards.
    voted_kbps: i64,
}

/// The bench: registers, interrupt line, the kernel's words.
struct Bench {
    registers: physmem::Window,
    line: gic::Line,
    trace: Pipe,
    voted_kbps: i64,
}

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let truth = Truth::start("agreeing")?;
    let registers = physmem::Window::map(BASE, BYTES).context("map the registers")?;
    let line = gic::Line::open(SPI)?;
    let mut bench = Bench { registers, line, trace: truth.pipe()?, voted_kbps: 0 };
    let mut cases = 0;
    let mut levels = BTreeSet::new();
    for zone in HEARD {
        for count in counts() {
            let answer = bench.measure(status_bit(zone), zone, count)?;
            println!("case zone {zone} count {count}: {answer:?}");
            levels.insert(answer.voted_kbps);
            cases += 1;
        }
    }
    for zone in UNHEARD {
        bench.must_be_dropped(zone)?;
    }
    let mut figures = Figures::new();
    figures.insert("cases".into(), json!(cases));
    figures.insert("levels_voted".into(), json!(levels.len()));
    figures.insert("statuses_dropped".into(), json!(UNHEARD.len()));
    Ok(figures)
}

/// Every count up to the highest threshold, and a few beyond, in an order that jumps.
fn counts() -> Vec<u32> {
    vec![200, 511, 20, 0, 4095, 100]
}

impl Bench {
    /// One interrupt with this status, and `count` as the maximum of `zone`.
    fn measure(&mut self, status: u32, zone: u32, count: u32) -> Result<Answer> {
        self.registers.write32(zone_max(zone), count)?;
        self.registers.write32(IRQ_STATUS, status)?;
        self.line.raise()?;
        let what = format!("the driver's answer to zone {zone}, count {count}");
        let update = self.next("qcom_bwmon_update", &what)?;
        let up_kbps = update.number("up_kbps")?;
        // The driver votes only when the level changes, which its upper threshold tells.
        if up_kbps - 1 != self.voted_kbps {
            self.voted_kbps = self.vote(&what)?;
        }
        Ok(Answer {
            meas_kbps: update.number("meas_kbps")?,
            up_kbps,
            down_kbps: update.number("down_kbps")?,
            voted_kbps: self.voted_kbps,
        })
    }

    /// One whole vote: a peak per node of the path, then the end.
    fn vote(&mut self, what: &str) -> Result<i64> {
        let peak = self.next("icc_set_bw", what)?.number("peak_bw")?;
        let again = self.next("icc_set_bw", what)?.number("peak_bw")?;
        ensure!(peak == again, "{what}: {peak} at one end of the path, {again} at the other");
        let answer = self.next("icc_set_bw_end", what)?.number("ret")?;
        ensure!(answer == 0, "{what}: the vote failed: {answer}");
        Ok(peak)
    }

    /// The next event, which must be this one: nothing else has a reason to vote here.
    fn next(&mut self, event: &str, what: &str) -> Result<Line> {
        loop {
            let line = self.trace.next(&format!("{event} in {what}"), PATIENCE)?;
            if line.event.starts_with("devfreq") || line.event == "cpu_frequency" {
                continue;
            }
            let owner = if event == "qcom_bwmon_update" { "name" } else { "dev" };
            if line.event != event || line.text(owner)? != MONITOR {
                bail!("{what}: expected {event}, the kernel did {line:?}");
            }
            return Ok(line);
        }
    }

    /// The driver takes the interrupt and does nothing.
    fn must_be_dropped(&mut self, zone: u32) -> Result<()> {
        let before = machine::interrupts()?;
        self.registers.write32(zone_max(zone), 300)?;
        self.registers.write32(IRQ_STATUS, status_bit(zone))?;
        self.line.raise()?;
        wait::until("the interrupt to be taken", PATIENCE, || {
            Ok((machine::interrupts()? > before).then_some(()))
        })?;
        match self.trace.try_next()? {
            None => Ok(()),
            Some(line) => bail!("zone {zone} alone should be dropped, the kernel did {line:?}"),
        }
    }
}
