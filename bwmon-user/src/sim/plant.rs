//! The plant: how traffic answers to levels.
//!
//! A path carries the smaller of what is asked and what its level allows; what is left over at the
//! memory slows the whole stream. A level's kBps is one channel's clock times its width and not the
//! total: SDM845 moved 17.4 GB/s at 7216000 kBps (seed, 65536 kB W/seq), 2.41 times as much. That
//! factor is all this plant knows of the real machine; it is the same for every domain, and a
//! transition takes no time. docs/architecture.md lists what it does not know.

use super::Workload;
use crate::board::{Board, Level};
use crate::units::{Kbps, Nanos};

/// Bytes that a path moves in percent of its level's kBps.
const CAPACITY_PCT: u64 = 241;

/// What happened on one domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainTotals {
    /// Time simulated.
    pub time: Nanos,
    /// Bytes that crossed its path; `None` where no monitor looks.
    pub bytes: Option<u128>,
    /// Level kBps times nanoseconds.
    pub vote_kbps_ns: u128,
    /// Changes of the level.
    pub transitions: u64,
    /// Time in which its level carried less than was asked.
    pub below_demand: Nanos,
}

impl DomainTotals {
    /// Mean traffic.
    pub fn mean(&self) -> Option<Kbps> {
        // Bytes per nanosecond are GB/s: times 10^6 for kBps.
        let kbps = self.bytes? * 1_000_000 / u128::from(self.time.0.max(1));
        Some(Kbps(kbps as u64))
    }

    /// Mean level in force.
    pub fn mean_vote(&self) -> Kbps {
        Kbps((self.vote_kbps_ns / u128::from(self.time.0.max(1))) as u64)
    }

    /// Sum of level kBps over time, in kBps-seconds.
    pub fn vote_integral(&self) -> u64 {
        (self.vote_kbps_ns / u128::from(Nanos::PER_S)) as u64
    }
}

struct Path {
    /// Level kBps of each row.
    kbps: Vec<Kbps>,
    level: Option<Level>,
    role: Role,
    bytes_now: u64,
}

/// What of the CPUs' traffic crosses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// An even share: one path per cluster.
    Cpu {
        /// Clusters.
        of: u64,
    },
    /// What misses the last-level cache.
    Memory,
    /// Nothing that a monitor could see.
    Unmeasured,
}

/// The simulated machine's paths.
pub struct Plant {
    workload: Workload,
    paths: Vec<Path>,
    totals: Vec<DomainTotals>,
}

impl Plant {
    /// The paths of `board` under `workload`, all at their lowest level.
    pub fn new(board: &Board, workload: Workload) -> Self {
        let name = |domain: &crate::board::Domain| board.monitor_of(domain).map(|m| m.name.clone());
        let is_cpu = |name: &str| name.starts_with("cpu");
        let clusters = board.domains.iter().filter_map(name).filter(|n| is_cpu(n)).count() as u64;
        let paths: Vec<Path> = board
            .domains
            .iter()
            .map(|domain| Path {
                kbps: domain.table.kbps().to_vec(),
                level: None,
                role: match name(domain) {
                    Some(name) if is_cpu(&name) => Role::Cpu { of: clusters.max(1) },
                    Some(_) => Role::Memory,
                    None => Role::Unmeasured,
                },
                bytes_now: 0,
            })
            .collect();
        let totals = paths
            .iter()
            .map(|path| DomainTotals {
                bytes: (path.role != Role::Unmeasured).then_some(0),
                ..DomainTotals::default()
            })
            .collect();
        Self { workload, paths, totals }
    }

    /// Puts `domain` at `level`.
    pub fn set_level(&mut self, domain: usize, level: Level) {
        if let (Some(path), Some(totals)) =
            (self.paths.get_mut(domain), self.totals.get_mut(domain))
            && path.level != Some(level)
        {
            path.level = Some(level);
            totals.transitions += 1;
        }
    }

    /// Lets the time from `start` to `end` pass.
    pub fn step(&mut self, start: Nanos, end: Nanos) {
        let (demand, memory_pct) = self.workload.demand(start);
        let span = end.since(start);
        let carried = self.paths.iter().map(|p| p.admits(memory_pct)).min().unwrap_or(u64::MAX);
        let moved = demand.0.min(carried);
        for (path, totals) in self.paths.iter_mut().zip(&mut self.totals) {
            let kbps = path.share(moved, memory_pct);
            path.bytes_now = (u128::from(kbps) * u128::from(span.0) / 1_000_000) as u64;
            totals.time = totals.time.plus(span);
            totals.vote_kbps_ns += u128::from(path.level_kbps()) * u128::from(span.0);
            if let Some(bytes) = &mut totals.bytes {
                *bytes += u128::from(path.bytes_now);
            }
            if path.admits(memory_pct) < demand.0 {
                totals.below_demand = totals.below_demand.plus(span);
            }
        }
    }

    /// Bytes that crossed the path of `domain` in the last step.
    pub fn bytes(&self, domain: usize) -> u64 {
        self.paths.get(domain).map_or(0, |path| path.bytes_now)
    }

    /// What happened so far, per domain.
    pub fn totals(&self) -> &[DomainTotals] {
        &self.totals
    }
}

impl Path {
    fn level_kbps(&self) -> u64 {
        let level = self.level.unwrap_or(Level::LOWEST);
        self.kbps.get(level.0).or(self.kbps.last()).map_or(0, |kbps| kbps.0)
    }

    /// The CPU traffic that this path lets through.
    fn admits(&self, memory_pct: u32) -> u64 {
        let capacity = self.level_kbps() * CAPACITY_PCT / 100;
        match self.role {
            Role::Cpu { of } => capacity * of,
            Role::Memory => (capacity * 100).checked_div(u64::from(memory_pct)).unwrap_or(u64::MAX),
            Role::Unmeasured => u64::MAX,
        }
    }

    /// What of `moved` crosses this path.
    fn share(&self, moved: u64, memory_pct: u32) -> u64 {
        match self.role {
            Role::Cpu { of } => moved / of,
            Role::Memory => moved * u64::from(memory_pct) / 100,
            Role::Unmeasured => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::sim::builtin_workload;

    fn plant(workload: &str) -> Plant {
        Plant::new(&builtin("sdm845").unwrap().unwrap(), builtin_workload(workload).unwrap())
    }

    #[test]
    fn a_low_memory_level_slows_the_whole_stream() {
        let mut plant = plant("stream");
        plant.set_level(0, Level(4));
        plant.step(Nanos(0), Nanos(4_000_000));
        // ddr at 800000 kBps moves 1928000 kBps; all of the stream goes to memory, so the CPU path
        // moves no more: 4 ms of it are 7712000 bytes.
        assert_eq!((plant.bytes(0), plant.bytes(1)), (7_712_000, 7_712_000));
        assert_eq!(plant.totals()[1].below_demand, Nanos(4_000_000));
    }

    #[test]
    fn at_the_top_the_stream_gets_what_it_asks() {
        let mut plant = plant("stream");
        plant.set_level(0, Level(4));
        plant.set_level(1, Level(4));
        plant.step(Nanos(0), Nanos(4_000_000));
        // 7216000 * 2.41 = 17390560 kBps, more than the 17000000 asked.
        assert_eq!(plant.bytes(1), 17_000_000 * 4);
    }

    #[test]
    fn the_vote_integral_is_level_times_time() {
        let mut plant = plant("idle");
        plant.set_level(1, Level(1));
        for n in 0..500 {
            plant.step(Nanos(n * 4_000_000), Nanos((n + 1) * 4_000_000));
        }
        // 1804000 kBps for 2 s.
        assert_eq!(plant.totals()[1].vote_integral(), 3_608_000);
        assert_eq!(plant.totals()[1].mean_vote(), Kbps(1_804_000));
        // 40 % of 150000 kBps.
        assert_eq!(plant.totals()[1].mean(), Some(Kbps(60_000)));
        assert_eq!(plant.totals()[2].mean(), None);
    }
}
