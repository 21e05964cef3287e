//! The plant: how traffic answers to levels.
//!
//! Every stream takes the time that its kilobytes cost at the clocks in force (traffic.rs), the
//! paths carry no more than their capacity, devices come before CPUs. The costs and capacities are
//! calibrated on the seed's table (calibration.rs); docs/model.md lists what the model does
//! not know.

use super::calibration::Calibration;
use super::cpufreq::{Cpufreq, CpufreqVotes, reaches};
use super::flow::{Clocks, Flow, Lowered};
use super::paths::{DomainTotals, Path, Sees, paths};
use super::resource::{Resource, ResourceTotals, resource_of};
use super::traffic::Stretch;
use super::workload::{Stream, Workload};
use crate::board::{Board, Level};
use crate::units::{Kbps, Khz, Nanos};

/// Where the clocks are among the resources, if the machine has them.
struct Known {
    l3: Option<usize>,
    llcc: Option<usize>,
    ddr: Option<usize>,
}

/// The kernel's window.
const WINDOW: Nanos = Nanos(4 * Nanos::PER_MS);

/// Time for which a poll of the agent wakes the CPUs. Assumed: waking up, a tick, and going down
/// again.
const POLL_AWAKE: Nanos = Nanos(100 * Nanos::PER_US);

/// A stream counts as held back below this share of what it would get with every clock at the top.
const SERVED: f64 = 0.97;

/// The simulated machine.
pub struct Plant {
    known: Known,
    workload: Workload,
    phases: Vec<Vec<Lowered>>,
    paths: Vec<Path>,
    resources: Vec<Resource>,
    cpufreq: Cpufreq,
    calibration: Calibration,
    useful_kb: f64,
    /// Length of the step.
    span: Nanos,
    /// Time for which a poll has woken the CPUs since the last step.
    polled: Nanos,
    /// Clocks before the last change, for the time that it takes.
    before: Clocks,
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
        let index = |name: &str| resources.iter().position(|resource| resource.name == name);
        let known = Known { l3: index("l3"), llcc: index("llcc"), ddr: index("ddr") };
        let paths = paths(board, index);
        let mut plant = Self {
            known,
            paths,
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
            span: Nanos(0),
            polled: Nanos(0),
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

    /// Where the step that starts at `from` has to end, to lie within one phase and within one of
    /// the block's windows on the grid; not after `end`.
    pub fn step_end(&self, from: Nanos, end: Nanos) -> Nanos {
        let window = (from.0 / WINDOW.0 + 1) * WINDOW.0;
        let (phase, since) = self.workload.index_at(from);
        let left = self.workload.phases().get(phase).map_or(WINDOW, |p| p.length.since(since));
        end.min(Nanos(window)).min(from.plus(left))
    }

    /// Lets the time from `start` to `end` pass, within one phase.
    pub fn step(&mut self, start: Nanos, end: Nanos) {
        let (phase, since) = self.workload.index_at(start);
        let cpufreq_voter = self.paths.len();
        let (cpu_pct, asleep_pct, length) = match self.workload.phases().get(phase) {
            Some(phase) => (phase.cpu_pct, phase.asleep_pct, phase.length),
            None => return,
        };
        self.cpufreq.follow(cpu_pct, &mut self.resources, cpufreq_voter);
        let span = end.since(start);
        self.span = span;
        let changed = self.resources.iter_mut().fold(false, |any, r| r.take_change() | any);
        let clocks = self.clocks();
        let mut flow = self.flow(phase, since, length, clocks);
        if changed {
            let old = self.flow(phase, since, length, self.before);
            flow = Flow::transition(old, flow, span);
        }
        self.before = clocks;
        self.useful_kb += flow.useful * seconds(span);
        let asleep = span.0 * u64::from(asleep_pct) / 100;
        let polled = std::mem::take(&mut self.polled).0;
        let awake = Nanos(span.0 - asleep.saturating_sub(polled));
        for resource in &mut self.resources {
            resource.pass(span, awake);
        }
        for path in &mut self.paths {
            let vote = path.vote();
            path.totals.vote_kbps_ns += u128::from(vote.0) * u128::from(span.0);
            path.totals.in_force_kbps_ns += u128::from(vote.0) * u128::from(awake.0);
        }
        self.account(phase, since, length, span, flow);
    }

    /// The agent polls: that wakes the CPUs for a moment, if they were powered down.
    pub fn polled(&mut self) {
        self.polled = POLL_AWAKE;
    }

    fn account(&mut self, phase: usize, since: Nanos, length: Nanos, span: Nanos, flow: Flow) {
        // Most of the time nothing is held back, and one look tells.
        let any_held = !flow.satisfied && {
            let free = self.flow(phase, since, length, self.free_clocks());
            flow.useful < SERVED * free.useful
        };
        for domain in 0..self.paths.len() {
            let held = any_held && self.held_back(domain, phase, since, length, flow.useful);
            let Some(path) = self.paths.get_mut(domain) else { continue };
            let kbps = match path.sees {
                Sees::Cpu { of } => flow.path / of as f64,
                Sees::Memory => flow.memory,
                Sees::Nothing => 0.0,
            };
            path.bytes_now = (kbps * 1_000.0 * seconds(span)) as u64;
            let totals = &mut path.totals;
            totals.time = totals.time.plus(span);
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

    /// Every clock at its highest.
    fn free_clocks(&self) -> Clocks {
        let stretch = Stretch { cpu: self.cpufreq.stretch(), l3: 1.0, ddr: 1.0 };
        Clocks { stretch, llcc: None, ddr: None }
    }

    fn clocks(&self) -> Clocks {
        let at = |index: Option<usize>| index.and_then(|index| self.resources.get(index));
        let stretch = |index| at(index).map_or(1.0, Resource::stretch);
        Clocks {
            stretch: Stretch {
                cpu: self.cpufreq.stretch(),
                l3: stretch(self.known.l3),
                ddr: stretch(self.known.ddr),
            },
            llcc: at(self.known.llcc).map(Resource::kbps),
            ddr: at(self.known.ddr).map(Resource::kbps),
        }
    }

    /// What flows with these clocks.
    fn flow(&self, phase: usize, since: Nanos, length: Nanos, clocks: Clocks) -> Flow {
        let (Some(lowered), Some(described)) =
            (self.phases.get(phase), self.workload.phases().get(phase))
        else {
            return Flow::default();
        };
        let mean = |stream: &Stream| stream.shape.mean(since, self.span, length);
        let demands = described.streams.iter().map(mean);
        Flow::of(lowered.iter().zip(demands), clocks, &self.calibration)
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
        let resource = self.paths.get(domain)?.resource?;
        self.resources.get(resource).map(Resource::others)
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

fn seconds(span: Nanos) -> f64 {
    span.0 as f64 / Nanos::PER_S as f64
}

#[cfg(test)]
#[path = "plant_tests.rs"]
mod tests;
