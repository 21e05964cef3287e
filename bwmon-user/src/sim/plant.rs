//! The plant: how traffic answers to levels.
//!
//! Every stream takes the time that its kilobytes cost at the clocks in force (traffic.rs), the
//! paths carry no more than their capacity, devices come before CPUs. The costs and capacities are
//! calibrated on the seed's table (calibration.rs); docs/architecture.md lists what the model does
//! not know.

use super::calibration::Calibration;
use super::cpufreq::{Cpufreq, CpufreqVotes, reaches};
use super::resource::{Resource, ResourceTotals, SETTLE, STALL, resource_of};
use super::traffic::{Cost, Stretch};
use super::workload::{Stream, Workload};
use crate::board::{Board, Level};
use crate::units::{Kbps, Khz, Nanos};

/// A stream counts as held back below this share of what it would get with every clock at the top.
const SERVED: f64 = 0.97;

/// What happened on one governed domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainTotals {
    /// Time simulated.
    pub time: Nanos,
    /// Bytes that crossed its path; `None` where no monitor looks.
    pub bytes: Option<u128>,
    /// The governor's level kBps times nanoseconds; the lowest level where it votes none.
    pub vote_kbps_ns: u128,
    /// Changes of the governor's level.
    pub transitions: u64,
    /// Time in which its clock held traffic back.
    pub below_demand: Nanos,
}

impl DomainTotals {
    /// Mean traffic.
    pub fn mean(&self) -> Option<Kbps> {
        // Bytes per nanosecond are GB/s: times 10^6 for kBps.
        let kbps = self.bytes? * 1_000_000 / u128::from(self.time.0.max(1));
        Some(Kbps(kbps as u64))
    }

    /// Mean level.
    pub fn mean_vote(&self) -> Kbps {
        Kbps((self.vote_kbps_ns / u128::from(self.time.0.max(1))) as u64)
    }

    /// Sum of level kBps over time, in kBps-seconds.
    pub fn vote_integral(&self) -> u64 {
        (self.vote_kbps_ns / u128::from(Nanos::PER_S)) as u64
    }
}

struct Path {
    /// All columns of each row: what a level votes for.
    rows: Vec<Vec<Kbps>>,
    columns: Vec<String>,
    level: Option<Level>,
    sees: Sees,
    bytes_now: u64,
    totals: DomainTotals,
}

/// What of the traffic a domain's monitor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sees {
    /// The CPUs' traffic below their L3, an even share of it for each cluster.
    Cpu {
        /// Clusters.
        of: u64,
    },
    /// What goes to memory, devices included.
    Memory,
    /// Nothing.
    Nothing,
}

/// A stream with its cost looked up.
struct Lowered {
    cost: Cost,
    /// Bytes on the CPUs' path, and to memory, for each useful byte.
    path: f64,
    memory: f64,
    dma: bool,
}

/// Traffic of one moment, in kB/s.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    useful: f64,
    path: f64,
    memory: f64,
}

/// The simulated machine.
pub struct Plant {
    workload: Workload,
    phases: Vec<Vec<Lowered>>,
    paths: Vec<Path>,
    resources: Vec<Resource>,
    cpufreq: Cpufreq,
    calibration: Calibration,
    useful_kb: f64,
    /// Clocks before the last change, for the time that it takes.
    before: Clocks,
}

/// The clocks of one moment.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    stretch: Stretch,
    llcc: Option<Kbps>,
    ddr: Option<Kbps>,
}

impl Plant {
    /// A machine with the caches and clocks of `physical`, whose governor votes for the domains of
    /// `board`, under `workload`. Everything starts at its lowest level.
    pub fn new(
        physical: &Board,
        board: &Board,
        workload: Workload,
        votes: CpufreqVotes,
        calibration: Calibration,
    ) -> Self {
        let governed: Vec<&str> = board
            .domains
            .iter()
            .flat_map(|domain| domain.table.columns().iter().map(|column| resource_of(column)))
            .collect();
        let resources = Resource::all(physical, board.domains.len());
        let cpufreq = Cpufreq::new(physical, votes, &governed);
        let lower = |stream: &Stream| calibration.lower(stream);
        let phases = workload
            .phases()
            .iter()
            .map(|phase| {
                let lowered = phase.streams.iter().map(|stream| {
                    let (cost, path, memory) = lower(stream);
                    Lowered { cost, path, memory, dma: stream.kind.is_none() }
                });
                lowered.collect()
            })
            .collect();
        let mut plant = Self {
            paths: paths(board),
            before: Clocks {
                stretch: Stretch { cpu: 1.0, l3: 1.0, ddr: 1.0 },
                llcc: None,
                ddr: None,
            },
            workload,
            phases,
            resources,
            cpufreq,
            calibration,
            useful_kb: 0.0,
        };
        plant.before = plant.clocks();
        plant
    }

    /// Puts `domain` at `level`: every column's resource gets its vote.
    pub fn set_level(&mut self, domain: usize, level: Level) {
        let Some(path) = self.paths.get_mut(domain) else { return };
        if path.level == Some(level) {
            return;
        }
        path.level = Some(level);
        path.totals.transitions += 1;
        let Some(row) = path.rows.get(level.0).or(path.rows.last()) else { return };
        for resource in &mut self.resources {
            let votes = path.columns.iter().zip(row).filter(|(c, _)| reaches(c, &resource.name));
            if let Some(kbps) = votes.map(|(_, kbps)| *kbps).max() {
                resource.vote(domain, kbps);
            }
        }
    }

    /// Lets the time from `start` to `end` pass.
    pub fn step(&mut self, start: Nanos, end: Nanos) {
        let (phase, since) = self.workload.index_at(start);
        let cpufreq_voter = self.paths.len();
        let (cpu_pct, length) = match self.workload.phases().get(phase) {
            Some(phase) => (phase.cpu_pct, phase.length),
            None => return,
        };
        self.cpufreq.follow(cpu_pct, &mut self.resources, cpufreq_voter);
        let span = end.since(start);
        let changed = self.resources.iter_mut().fold(false, |any, r| r.take_change() | any);
        let clocks = self.clocks();
        let mut flow = self.flow(phase, since, length, clocks);
        if changed {
            let old = self.flow(phase, since, length, self.before);
            flow = transition(old, flow, span);
        }
        self.before = clocks;
        self.useful_kb += flow.useful * seconds(span);
        for resource in &mut self.resources {
            resource.pass(span);
        }
        self.account(phase, since, length, span, flow);
    }

    fn account(&mut self, phase: usize, since: Nanos, length: Nanos, span: Nanos, flow: Flow) {
        let held: Vec<bool> = (0..self.paths.len())
            .map(|domain| self.held_back(domain, phase, since, length, flow.useful))
            .collect();
        for (path, held) in self.paths.iter_mut().zip(held) {
            let kbps = match path.sees {
                Sees::Cpu { of } => flow.path / of as f64,
                Sees::Memory => flow.memory,
                Sees::Nothing => 0.0,
            };
            path.bytes_now = (kbps * 1_000.0 * seconds(span)) as u64;
            let level = path.level.unwrap_or(Level::LOWEST);
            let vote = path.rows.get(level.0).and_then(|row| row.first()).copied();
            let totals = &mut path.totals;
            totals.time = totals.time.plus(span);
            totals.vote_kbps_ns += u128::from(vote.unwrap_or_default().0) * u128::from(span.0);
            if let Some(bytes) = &mut totals.bytes {
                *bytes += u128::from(path.bytes_now);
            }
            if held {
                totals.below_demand = totals.below_demand.plus(span);
            }
        }
    }

    /// Whether the clocks of `domain` keep the streams from what they would get with those at top.
    fn held_back(
        &self,
        domain: usize,
        phase: usize,
        since: Nanos,
        length: Nanos,
        useful: f64,
    ) -> bool {
        let Some(path) = self.paths.get(domain) else { return false };
        let own = |name: &str| path.columns.iter().any(|column| resource_of(column) == name);
        let mut clocks = self.clocks();
        if own("l3") {
            clocks.stretch.l3 = 1.0;
        }
        if own("ddr") {
            clocks.stretch.ddr = 1.0;
            clocks.ddr = None;
        }
        if own("llcc") {
            clocks.llcc = None;
        }
        useful < SERVED * self.flow(phase, since, length, clocks).useful
    }

    fn clocks(&self) -> Clocks {
        let find = |name: &str| self.resources.iter().find(|resource| resource.name == name);
        let stretch = |name: &str| find(name).map_or(1.0, Resource::stretch);
        Clocks {
            stretch: Stretch {
                cpu: self.cpufreq.stretch(),
                l3: stretch("l3"),
                ddr: stretch("ddr"),
            },
            llcc: find("llcc").map(Resource::kbps),
            ddr: find("ddr").map(Resource::kbps),
        }
    }

    /// What flows with these clocks.
    fn flow(&self, phase: usize, since: Nanos, length: Nanos, clocks: Clocks) -> Flow {
        let (Some(lowered), Some(described)) =
            (self.phases.get(phase), self.workload.phases().get(phase))
        else {
            return Flow::default();
        };
        let (mut cpu, mut dma) = (Flow::default(), 0.0);
        for (stream, described) in lowered.iter().zip(&described.streams) {
            let demand = described.shape.at(since, length);
            if stream.dma {
                dma += demand;
                continue;
            }
            let useful = demand.min(stream.cost.rate(clocks.stretch));
            cpu.useful += useful;
            cpu.path += useful * stream.path;
            cpu.memory += useful * stream.memory;
        }
        let ddr = clocks.ddr.map_or(f64::INFINITY, |kbps| self.calibration.ddr_capacity(kbps));
        let llcc = clocks.llcc.map_or(f64::INFINITY, |kbps| self.calibration.llcc_capacity(kbps));
        let dma = dma.min(ddr);
        let fits = share(llcc, cpu.path).min(share(ddr - dma, cpu.memory));
        Flow {
            useful: cpu.useful * fits + dma,
            path: cpu.path * fits + self.calibration.background_kbps(),
            memory: cpu.memory * fits + dma,
        }
    }

    /// Bytes that the monitor of `domain` saw in the last step.
    pub fn bytes(&self, domain: usize) -> u64 {
        self.paths.get(domain).map_or(0, |path| path.bytes_now)
    }

    /// The highest CPU frequency; `None` where the board lists none.
    pub fn cpu_max_khz(&self) -> Option<Khz> {
        self.cpufreq.max_khz()
    }

    /// The highest vote that anybody but its governor has for the first column of `domain`.
    pub fn others(&self, domain: usize) -> Option<Kbps> {
        let column = self.paths.get(domain)?.columns.first()?;
        let resource = self.resources.iter().find(|r| r.name == resource_of(column))?;
        Some(resource.others(domain))
    }

    /// What happened so far, per governed domain.
    pub fn totals(&self) -> Vec<DomainTotals> {
        self.paths.iter().map(|path| path.totals.clone()).collect()
    }

    /// What happened so far to each clock.
    pub fn resources(&self) -> impl Iterator<Item = (&str, &ResourceTotals)> {
        self.resources.iter().map(|resource| (resource.name.as_str(), resource.totals()))
    }

    /// The level in force of each clock.
    pub fn in_force(&self) -> impl Iterator<Item = (&str, Kbps)> {
        self.resources.iter().map(|resource| (resource.name.as_str(), resource.kbps()))
    }

    /// Useful kilobytes moved so far.
    pub fn useful_kb(&self) -> f64 {
        self.useful_kb
    }
}

fn paths(board: &Board) -> Vec<Path> {
    let name = |domain: &crate::board::Domain| board.monitor_of(domain).map(|m| m.name.clone());
    let is_cpu = |name: &str| name.starts_with("cpu");
    let clusters = board.domains.iter().filter_map(name).filter(|n| is_cpu(n)).count() as u64;
    board
        .domains
        .iter()
        .map(|domain| {
            let sees = match name(domain) {
                Some(name) if is_cpu(&name) => Sees::Cpu { of: clusters.max(1) },
                Some(_) => Sees::Memory,
                None => Sees::Nothing,
            };
            let table = &domain.table;
            Path {
                rows: (0..table.len()).map(|level| table.row(Level(level)).to_vec()).collect(),
                columns: table.columns().to_vec(),
                level: None,
                sees,
                bytes_now: 0,
                totals: DomainTotals {
                    bytes: (sees != Sees::Nothing).then_some(0),
                    ..DomainTotals::default()
                },
            }
        })
        .collect()
}

/// The old flow until the new clock is there, nothing while it changes, then the new flow.
fn transition(old: Flow, new: Flow, span: Nanos) -> Flow {
    let span_ns = span.0.max(1) as f64;
    let settle = (SETTLE.0 as f64).min(span_ns);
    let stall = (STALL.0 as f64).min(span_ns - settle);
    let mix = |old: f64, new: f64| (old * settle + new * (span_ns - settle - stall)) / span_ns;
    Flow {
        useful: mix(old.useful, new.useful),
        path: mix(old.path, new.path),
        memory: mix(old.memory, new.memory),
    }
}

/// The share of `wanted` that `capacity` lets through.
fn share(capacity: f64, wanted: f64) -> f64 {
    if wanted <= capacity { 1.0 } else { (capacity / wanted).max(0.0) }
}

fn seconds(span: Nanos) -> f64 {
    span.0 as f64 / Nanos::PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::sim::builtin_workload;

    const MS4: u64 = 4_000_000;

    fn plant(workload: &str, votes: CpufreqVotes) -> Plant {
        let board = builtin("sdm845").unwrap().unwrap();
        let workload = builtin_workload(workload).unwrap();
        Plant::new(&board, &board, workload, votes, Calibration::seed().unwrap())
    }

    fn run(plant: &mut Plant, steps: u64) {
        for n in 0..steps {
            plant.step(Nanos(n * MS4), Nanos((n + 1) * MS4));
        }
    }

    fn moved(levels: &[usize], votes: CpufreqVotes) -> f64 {
        let mut plant = plant("stream", votes);
        for (domain, level) in levels.iter().enumerate() {
            plant.set_level(domain, Level(*level));
        }
        run(&mut plant, 250);
        plant.useful_kb() / 1_048.576
    }

    #[test]
    fn a_stream_reaches_the_seeds_two_columns() {
        // 65536 kB W/seq: 17711 MiB/s with cpufreq's votes, 4846 without.
        let (top, bottom) = (moved(&[], CpufreqVotes::All), moved(&[], CpufreqVotes::None));
        assert!((top / 17_711.0 - 1.0).abs() < 0.01, "{top}");
        assert!((bottom / 4_846.0 - 1.0).abs() < 0.01, "{bottom}");
    }

    #[test]
    fn each_clock_alone_helps_less_than_both() {
        let bottom = moved(&[0, 0, 0], CpufreqVotes::None);
        let ddr = moved(&[4, 4, 0], CpufreqVotes::None);
        let l3 = moved(&[0, 0, 13], CpufreqVotes::None);
        let both = moved(&[4, 4, 13], CpufreqVotes::None);
        // At its lowest the memory already carries all that the seed saw it carry there.
        assert!(bottom < ddr && bottom <= l3 && ddr < both && l3 < both, "{ddr} {l3} {both}");
    }

    #[test]
    fn the_vote_integral_is_level_times_time() {
        let mut plant = plant("idle", CpufreqVotes::None);
        plant.set_level(1, Level(1));
        run(&mut plant, 500);
        // 1804000 kBps for 2 s.
        assert_eq!(plant.totals()[1].vote_integral(), 3_608_000);
        assert_eq!(plant.totals()[1].mean_vote(), Kbps(1_804_000));
        assert_eq!(plant.totals()[2].mean(), None);
    }

    #[test]
    fn dma_is_seen_by_the_memorys_monitor_alone() {
        let mut plant = plant("dma", CpufreqVotes::None);
        plant.set_level(1, Level(4));
        run(&mut plant, 250);
        // The change at the start costs 110 us of a second.
        let moved = plant.totals()[1].mean().unwrap();
        assert!((3_499_000..=3_500_000).contains(&moved.0), "{moved}");
        let cpu = plant.totals()[0].mean().unwrap();
        assert!(cpu < Kbps(100_000), "background only: {cpu}");
    }

    #[test]
    fn a_change_costs_its_settling_and_its_stall() {
        let rate = |change: bool| {
            let mut plant = plant("stream", CpufreqVotes::None);
            plant.set_level(1, Level(4));
            plant.step(Nanos(0), Nanos(MS4));
            let before = plant.useful_kb();
            if change {
                plant.set_level(2, Level(13));
                plant.step(Nanos(MS4), Nanos(2 * MS4));
            }
            plant.step(Nanos(2 * MS4), Nanos(3 * MS4));
            (before, plant.useful_kb())
        };
        let (before, after) = rate(true);
        // The tick of the change lies between the old rate and the new one.
        let steady = after - before;
        assert!(steady > before && steady < 2.0 * 17_711.0 * 1_048.576 * 0.004, "{steady}");
    }
}
