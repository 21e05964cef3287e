//! Agreeing: for every counter value that makes a difference, the real driver measures, sets its
//! thresholds and votes as our rules do.
//!
//! Each value is put into the registers by hand and the interrupt raised; the driver's answer is
//! read from the kernel's own trace.

use super::rules::{Answer, Rules};
use crate::registers::{BASE, BYTES, IRQ_STATUS, MONITOR, SPI, status_bit, zone_max};
use crate::tracefs::{Line, Pipe, Truth};
use crate::verdict::Figures;
use crate::{gic, machine, physmem, wait};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// Zones in the status register, and the one whose maximum the driver then reads: the highest of
/// those that it hears (1 and 3), even if another zone holds a larger count.
const STATUSES: [(&[u32], u32); 5] =
    [(&[1], 1), (&[3], 3), (&[1, 3], 3), (&[1, 2], 1), (&[0, 1, 2, 3], 3)];
/// Statuses with none of the heard zones: the driver takes the interrupt and drops it.
const DROPPED: [&[u32]; 3] = [&[0], &[2], &[0, 2]];

/// The highest threshold of the bench's table is at count 450: up to here every count is tried.
const DENSE: u32 = 470;
/// Beyond it all counts mean the highest level; some are tried, up to the register's twelve bits.
const SPARSE: u32 = 97;
const COUNT_MAX: u32 = 0xfff;

/// The bench: registers, interrupt line, the kernel's words.
struct Bench {
    registers: physmem::Window,
    line: gic::Line,
    trace: Pipe,
    voted_kbps: u64,
}

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let mut rules = Rules::load()?;
    let truth = Truth::start("agreeing")?;
    let registers = physmem::Window::map(BASE, BYTES).context("map the registers")?;
    let line = gic::Line::open(SPI)?;
    let mut bench = Bench { registers, line, trace: truth.pipe()?, voted_kbps: 0 };
    bench.settle()?;
    let counts = counts();
    let mut levels = BTreeSet::new();
    for (zones, zone) in STATUSES {
        for count in &counts {
            let answer = bench.measure(zones, zone, *count)?;
            rules.must_choose(*count, answer)?;
            levels.insert(answer.voted_kbps);
        }
        println!("agreeing: zones {zones:?}: {} counts agree", counts.len());
    }
    for zones in DROPPED {
        bench.must_be_dropped(zones)?;
    }
    ensure!(truth.lost()? == 0, "the kernel's own trace lost events");
    let mut figures = Figures::new();
    figures.insert("cases".into(), json!(STATUSES.len() * counts.len()));
    figures.insert("counts".into(), json!(counts.len()));
    figures.insert("levels_voted".into(), json!(levels.len()));
    figures.insert("statuses_dropped".into(), json!(DROPPED.len()));
    figures.insert("rules".into(), json!(rules.names()));
    Ok(figures)
}

/// Every count once, in an order that jumps up and down over all levels.
fn counts() -> Vec<u32> {
    let tail = (DENSE..COUNT_MAX).step_by(SPARSE as usize).chain([COUNT_MAX]);
    let all: Vec<u32> = (0..DENSE).chain(tail).collect();
    // A stride without a common divisor visits every place once.
    let stride = (all.len() / 3..).find(|stride| coprime(*stride, all.len())).unwrap_or(1);
    (0..all.len()).filter_map(|n| all.get(n * stride % all.len()).copied()).collect()
}

fn coprime(a: usize, b: usize) -> bool {
    if b == 0 { a == 1 } else { coprime(b, a % b) }
}

impl Bench {
    /// Brings the driver's vote to a known value, whatever it is now: up, which may need a vote or
    /// not, then down, which does.
    fn settle(&mut self) -> Result<()> {
        let what = "the first answers";
        self.interrupt(&[3], 3, COUNT_MAX)?;
        self.next("qcom_bwmon_update", what)?;
        self.interrupt(&[3], 3, 0)?;
        while self.trace.next(what, PATIENCE)?.event != "qcom_bwmon_update" {}
        self.voted_kbps = self.vote(what)?;
        Ok(())
    }

    /// One interrupt with these zones in the status, and `count` as the maximum of `zone`.
    fn measure(&mut self, zones: &[u32], zone: u32, count: u32) -> Result<Answer> {
        self.interrupt(zones, zone, count)?;
        let what = format!("the driver's answer to zones {zones:?}, count {count}");
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

    /// Fills the registers and raises the line. The other zones get a count that would lead to
    /// another level, so that reading the wrong one shows.
    fn interrupt(&self, zones: &[u32], zone: u32, count: u32) -> Result<()> {
        let decoy = if count < DENSE / 2 { COUNT_MAX } else { 0 };
        for other in 0..4 {
            self.registers.write32(zone_max(other), decoy)?;
        }
        self.registers.write32(zone_max(zone), count)?;
        let status = zones.iter().fold(0, |bits, zone| bits | status_bit(*zone));
        self.registers.write32(IRQ_STATUS, status)?;
        self.line.raise()
    }

    /// One whole vote: a peak per node of the path, then the end.
    fn vote(&mut self, what: &str) -> Result<u64> {
        let peak = self.next("icc_set_bw", what)?.number("peak_bw")?;
        let again = self.next("icc_set_bw", what)?.number("peak_bw")?;
        ensure!(peak == again, "{what}: {peak} at one end of the path, {again} at the other");
        let end = self.next("icc_set_bw_end", what)?;
        ensure!(end.text("ret")? == "0", "{what}: the vote failed: {end:?}");
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

    /// The driver takes the interrupt and does nothing: the next thing that it does answers the
    /// interrupt after this one.
    fn must_be_dropped(&mut self, zones: &[u32]) -> Result<()> {
        let before = machine::interrupts()?;
        self.interrupt(zones, 3, 300)?;
        wait::until("the interrupt to be taken", PATIENCE, || {
            Ok((machine::interrupts()? > before).then_some(()))
        })?;
        let answer = self.measure(&[1], 1, 100)?;
        ensure!(answer.meas_kbps == 1_616_000, "zones {zones:?} should be dropped: {answer:?}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_comes_once() {
        let counts = counts();
        let unique: BTreeSet<u32> = counts.iter().copied().collect();
        assert_eq!(unique.len(), counts.len());
        assert!(counts.len() >= 500, "{}", counts.len());
        assert!(unique.contains(&0) && unique.contains(&COUNT_MAX));
    }
}
