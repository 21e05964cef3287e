//! What flows at one moment: streams, clocks and capacities in, traffic out.

use super::calibration::Calibration;
use super::resource::{SETTLE, STALL};
use super::traffic::{Cost, Stretch};
use crate::units::{Kbps, Nanos};

/// A stream with its cost looked up.
pub(super) struct Lowered {
    pub(super) cost: Cost,
    /// Bytes on the CPUs' path, and to memory, for each useful byte.
    pub(super) path: f64,
    /// See `path`.
    pub(super) memory: f64,
    pub(super) dma: bool,
}

/// Traffic of one moment, in kB/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// What the programs and devices got.
    pub(super) useful: f64,
    /// On the CPUs' path.
    pub(super) path: f64,
    /// To memory.
    pub(super) memory: f64,
    /// Everybody got what was asked for.
    pub(super) satisfied: bool,
}

/// The clocks of one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    pub(super) stretch: Stretch,
    /// Level of the system cache; `None` for no bound.
    pub(super) llcc: Option<Kbps>,
    /// Level of the memory; `None` for no bound.
    pub(super) ddr: Option<Kbps>,
}

impl Flow {
    /// The flow of `streams`, each with its demand in kB/s. Devices come before CPUs.
    pub(super) fn of<'a>(
        streams: impl Iterator<Item = (&'a Lowered, f64)>,
        clocks: Clocks,
        calibration: &Calibration,
    ) -> Self {
        let (mut cpu, mut asked) = (Self { satisfied: true, ..Self::default() }, 0.0);
        for (stream, demand) in streams {
            if stream.dma {
                asked += demand;
                continue;
            }
            let rate = stream.cost.rate(clocks.stretch);
            let useful = demand.min(rate);
            cpu.satisfied &= demand <= rate;
            cpu.useful += useful;
            cpu.path += useful * stream.path;
            cpu.memory += useful * stream.memory;
        }
        let ddr = clocks.ddr.map_or(f64::INFINITY, |kbps| calibration.ddr_capacity(kbps));
        let llcc = clocks.llcc.map_or(f64::INFINITY, |kbps| calibration.llcc_capacity(kbps));
        let dma = asked.min(ddr);
        let fits = share(llcc, cpu.path).min(share(ddr - dma, cpu.memory));
        Self {
            useful: cpu.useful * fits + dma,
            path: cpu.path * fits + calibration.background_kbps(),
            memory: cpu.memory * fits + dma,
            satisfied: cpu.satisfied && fits >= 1.0 && asked <= ddr,
        }
    }

    /// `old` until the new clock is there, nothing while it changes, then `new`.
    pub(super) fn transition(old: Self, new: Self, span: Nanos) -> Self {
        let span_ns = span.0.max(1) as f64;
        let settle = (SETTLE.0 as f64).min(span_ns);
        let stall = (STALL.0 as f64).min(span_ns - settle);
        let mix = |old: f64, new: f64| (old * settle + new * (span_ns - settle - stall)) / span_ns;
        Self {
            useful: mix(old.useful, new.useful),
            path: mix(old.path, new.path),
            memory: mix(old.memory, new.memory),
            satisfied: false,
        }
    }
}

/// The share of `wanted` that `capacity` lets through.
fn share(capacity: f64, wanted: f64) -> f64 {
    if wanted <= capacity { 1.0 } else { (capacity / wanted).max(0.0) }
}
