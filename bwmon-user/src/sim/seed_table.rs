//! The seed's table on the model: thirteen rows, five configurations.
//!
//! V and no_votes only show how well the calibration reproduces what it was given; bwmon is a
//! prediction; V_bwmon answers the question asked under the patch; adaptive is our own policy.

use super::calibration::{Calibration, Row, SeedTable};
use super::{CpufreqVotes, Kind, Measuring, Setup, Shape, Simulation, Stream, Workload};
use crate::board::Board;
use crate::decide::{Rails, Unvoted};
use crate::diag::Diagnostic;
use crate::governor::Governor;
use crate::policy::{NoGovernor, Policy, PolicySpec};
use crate::ports::NoJournal;
use crate::run::{Doors, Pace, run};
use crate::units::Nanos;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Distance of the ticks: the block's window.
const PERIOD: Nanos = Nanos(4 * Nanos::PER_MS);

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Config {
    /// Vanilla: cpufreq's votes.
    V,
    /// Vanilla without cpufreq's votes.
    #[serde(rename = "no_votes")]
    NoVotes,
    /// The kernel's bwmon without cpufreq's votes.
    #[serde(rename = "bwmon")]
    Bwmon,
    /// The kernel's bwmon on top of vanilla.
    #[serde(rename = "V_bwmon")]
    VBwmon,
    /// Our own policy without cpufreq's votes.
    #[serde(rename = "adaptive")]
    Adaptive,
}

impl Config {
    /// All, in the order of the table.
    pub const ALL: [Config; 5] =
        [Config::V, Config::NoVotes, Config::Bwmon, Config::VBwmon, Config::Adaptive];

    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::V => "V",
            Self::NoVotes => "no_votes",
            Self::Bwmon => "bwmon",
            Self::VBwmon => "V_bwmon",
            Self::Adaptive => "adaptive",
        }
    }

    /// What was published for it.
    fn published(self, row: &Row) -> Option<f64> {
        match self {
            Self::V => Some(row.v),
            Self::NoVotes => Some(row.no_votes),
            Self::Bwmon => Some(row.bwmon),
            Self::VBwmon | Self::Adaptive => None,
        }
    }
}

/// One clock under one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockResult {
    /// `l3`, `llcc` or `ddr`.
    pub name: String,
    /// Mean level in force.
    #[serde(rename = "mean_level_kBps")]
    pub mean_kbps: u64,
    /// Changes of the level.
    pub transitions: u64,
    /// Level over time.
    #[serde(rename = "vote_integral_kBps_s")]
    pub vote_integral_kbps_s: u64,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Which configuration.
    pub config: Config,
    /// Throughput in the table's unit.
    pub throughput: f64,
    /// What was published, if anything was.
    pub published: Option<f64>,
    /// Difference to that.
    pub error_pct: Option<f64>,
    /// Ticks that were run.
    pub ticks: u64,
    /// Policy faults.
    pub faults: u64,
    /// The clocks.
    pub clocks: Vec<ClockResult>,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowResult {
    /// Block size.
    pub bs_kb: u32,
    /// What sysbench did.
    pub kind: Kind,
    /// One cell per configuration, in the order of [`Config::ALL`].
    pub cells: Vec<Cell>,
}

impl RowResult {
    /// The cell of `config`.
    pub fn cell(&self, config: Config) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.config == config)
    }

    /// Gain of bwmon over no votes, in percent: predicted.
    pub fn benefit_pct(&self) -> f64 {
        let rate = |config| self.cell(config).map_or(f64::NAN, |cell: &Cell| cell.throughput);
        (rate(Config::Bwmon) / rate(Config::NoVotes) - 1.0) * 100.0
    }

    /// Gain of bwmon over no votes, in percent: published.
    pub fn published_benefit_pct(&self) -> f64 {
        let rate = |config| self.cell(config).and_then(|cell: &Cell| cell.published);
        match (rate(Config::Bwmon), rate(Config::NoVotes)) {
            (Some(bwmon), Some(no_votes)) => (bwmon / no_votes - 1.0) * 100.0,
            _ => f64::NAN,
        }
    }
}

/// Runs the whole table: the machine is `physical`, `seed` the description that bwmon governs
/// through, `adaptive` our own policy.
///
/// # Errors
/// When the policy has a fault.
pub fn run_table(
    table: &SeedTable,
    physical: &Board,
    seed: &Board,
    adaptive: &PolicySpec,
) -> Result<Vec<RowResult>, Diagnostic> {
    let bench = Bench {
        table,
        calibration: Calibration::from_table(table, physical),
        physical: Arc::new(physical.clone()),
        seed: Arc::new(seed.clone()),
        adaptive,
    };
    table.rows.iter().map(|row| bench.row(row)).collect()
}

struct Bench<'a> {
    table: &'a SeedTable,
    calibration: Calibration,
    physical: Arc<Board>,
    seed: Arc<Board>,
    adaptive: &'a PolicySpec,
}

impl Bench<'_> {
    fn row(&self, row: &Row) -> Result<RowResult, Diagnostic> {
        let cells = Config::ALL.iter().map(|config| self.cell(row, *config));
        let cells = cells.collect::<Result<_, _>>()?;
        Ok(RowResult { bs_kb: row.bs_kb, kind: row.kind, cells })
    }

    fn cell(&self, row: &Row, config: Config) -> Result<Cell, Diagnostic> {
        let (votes, measuring, board) = match config {
            Config::V => (CpufreqVotes::All, Measuring::Polled, &self.physical),
            Config::NoVotes => (CpufreqVotes::None, Measuring::Polled, &self.physical),
            Config::Bwmon => (CpufreqVotes::None, Measuring::Kernel, &self.seed),
            Config::VBwmon => (CpufreqVotes::All, Measuring::Kernel, &self.seed),
            Config::Adaptive => (CpufreqVotes::None, Measuring::Polled, &self.physical),
        };
        let policy: Box<dyn Policy> = match config {
            Config::V | Config::NoVotes => Box::new(NoGovernor),
            Config::Bwmon | Config::VBwmon => PolicySpec::Native.build(board)?.0,
            Config::Adaptive => self.adaptive.clone().build(board)?.0,
        };
        let setup = Setup {
            physical: Board::clone(&self.physical),
            votes,
            measuring,
            calibration: self.calibration.clone(),
        };
        let mut sim = Simulation::new(board, self.workload(row), setup);
        let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Nothing)).collect();
        let mut governor = Governor::new(board.clone(), policy, rails, &[]);
        let stop = AtomicBool::new(false);
        let ticks = Some(self.table.ms * Nanos::PER_MS / PERIOD.0);
        let doors = Doors {
            source: &mut sim.source,
            actuator: &mut sim.actuator,
            clock: &mut sim.clock,
            journal: &mut NoJournal,
        };
        let stats = run(&mut governor, doors, Pace { period: PERIOD, ticks, stop: &stop })
            .map_err(|error| Diagnostic::new("the simulator", error.to_string()))?;
        Ok(self.result(row, config, &sim, stats.ticks, stats.tally.faults))
    }

    fn workload(&self, row: &Row) -> Workload {
        let mut stream = Stream::cpu(row.kind, row.bs_kb, Stream::ALL_THREADS, Shape::Unbounded);
        stream.cost = Some(self.calibration.cost_of(row));
        Workload::constant("sysbench".to_owned(), "sysbench memory".to_owned(), stream)
    }

    fn result(&self, row: &Row, config: Config, sim: &Simulation, ticks: u64, faults: u64) -> Cell {
        let plant = sim.plant();
        let kb_per_s = plant.useful_kb() * 1_000.0 / self.table.ms as f64;
        let throughput = kb_per_s / self.table.unit_kb;
        let published = config.published(row);
        let clocks = plant
            .resources()
            .map(|(name, totals)| ClockResult {
                name: name.to_owned(),
                mean_kbps: totals.mean().0,
                transitions: totals.transitions,
                vote_integral_kbps_s: totals.integral(),
            })
            .collect();
        Cell {
            config,
            throughput,
            published,
            error_pct: published.map(|published| (throughput / published - 1.0) * 100.0),
            ticks,
            faults,
            clocks,
        }
    }
}

#[cfg(test)]
#[path = "seed_table_tests.rs"]
mod tests;
