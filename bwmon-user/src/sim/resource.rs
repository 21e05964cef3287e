//! What votes end up in: the L3 clock, the CPUs' path to the system cache, the path to memory.
//!
//! Peak votes of all consumers combine by maximum; the result is rounded up to a level. A change
//! takes effect a little later and stops the traffic for a moment.

use crate::board::Board;
use crate::units::{Kbps, Nanos};

/// Time from a vote to the new clock. Assumed: nothing public says how long SDM845 takes.
pub(super) const SETTLE: Nanos = Nanos(100 * Nanos::PER_US);
/// Time without traffic at a change. Assumed, as [`SETTLE`].
pub(super) const STALL: Nanos = Nanos(10 * Nanos::PER_US);

/// What happened to a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceTotals {
    /// Time simulated.
    pub time: Nanos,
    /// Level kBps times nanoseconds.
    pub kbps_ns: u128,
    /// The same over the time in which votes are in force: not while the CPUs are powered down.
    pub in_force_kbps_ns: u128,
    /// Changes of the level.
    pub transitions: u64,
}

impl ResourceTotals {
    /// Mean level.
    pub fn mean(&self) -> Kbps {
        Kbps((self.kbps_ns / u128::from(self.time.0.max(1))) as u64)
    }

    /// Sum of level kBps over the time in which votes are in force, in kBps-seconds: the honest
    /// proxy for power.
    pub fn integral(&self) -> u64 {
        (self.in_force_kbps_ns / u128::from(Nanos::PER_S)) as u64
    }
}

/// One of the clocks.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    /// `l3`, `llcc` or `ddr`.
    pub(super) name: String,
    levels: Vec<Kbps>,
    /// One per governed domain, then cpufreq.
    votes: Vec<Kbps>,
    level: usize,
    changed: bool,
    totals: ResourceTotals,
}

/// A column's resource: the seed's board calls the L3 `l3c`.
pub(super) fn resource_of(column: &str) -> &str {
    match column {
        "l3c" => "l3",
        other => other,
    }
}

impl Resource {
    /// All resources that `physical` has: every column of its domains and CPU OPPs, with every
    /// value that any of them lists. `domains` is how many governed domains may vote.
    pub(super) fn all(physical: &Board, domains: usize) -> Vec<Self> {
        let tables = physical.domains.iter().flat_map(|domain| {
            let rows = (0..domain.table.len()).map(|l| domain.table.row(crate::board::Level(l)));
            rows.flat_map(|row| domain.table.columns().iter().zip(row))
        });
        let cpu = physical.cpu_opps.iter().flat_map(|table| {
            table.rows.iter().flat_map(|row| table.columns.iter().zip(&row.kbps))
        });
        let mut resources: Vec<Self> = Vec::new();
        for (column, kbps) in tables.chain(cpu) {
            let name = resource_of(column);
            match resources.iter_mut().find(|resource| resource.name == name) {
                Some(resource) => resource.levels.push(*kbps),
                None => resources.push(Self {
                    name: name.to_owned(),
                    levels: vec![*kbps],
                    votes: vec![Kbps(0); domains + 1],
                    level: 0,
                    changed: false,
                    totals: ResourceTotals::default(),
                }),
            }
        }
        for resource in &mut resources {
            resource.levels.sort_unstable();
            resource.levels.dedup();
        }
        resources
    }

    /// Places the vote of `voter`: a domain's index, or the number of domains for cpufreq.
    pub(super) fn vote(&mut self, voter: usize, kbps: Kbps) {
        let Some(vote) = self.votes.get_mut(voter) else { return };
        if *vote == kbps {
            return;
        }
        *vote = kbps;
        let floor = self.votes.iter().copied().max().unwrap_or_default();
        let level = self.levels.partition_point(|level| *level < floor);
        let level = level.min(self.levels.len().saturating_sub(1));
        if level != self.level {
            self.level = level;
            self.changed = true;
            self.totals.transitions += 1;
        }
    }

    /// The highest vote of everybody but the governor: cpufreq's, which comes last.
    pub(super) fn others(&self) -> Kbps {
        self.votes.last().copied().unwrap_or_default()
    }

    /// The level in force.
    pub(super) fn kbps(&self) -> Kbps {
        self.levels.get(self.level).copied().unwrap_or_default()
    }

    /// How much slower than at its highest level it runs.
    pub(super) fn stretch(&self) -> f64 {
        self.top_kbps() / (self.kbps().0.max(1)) as f64
    }

    /// How much slower it is at its lowest.
    pub(super) fn lowest_stretch(&self) -> f64 {
        self.top_kbps() / self.levels.first().map_or(1.0, |kbps| kbps.0.max(1) as f64)
    }

    /// The level that a vote of `kbps` gives.
    pub(super) fn level_for(&self, kbps: f64) -> f64 {
        let level = self.levels.iter().map(|level| level.0 as f64).find(|level| *level >= kbps);
        level.unwrap_or_else(|| self.top_kbps())
    }

    fn top_kbps(&self) -> f64 {
        self.levels.last().map_or(1.0, |kbps| kbps.0.max(1) as f64)
    }

    /// Whether the level changed since the last call.
    pub(super) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Lets `span` pass, of which the CPUs are powered for `awake`.
    pub(super) fn pass(&mut self, span: Nanos, awake: Nanos) {
        self.totals.time = self.totals.time.plus(span);
        self.totals.kbps_ns += u128::from(self.kbps().0) * u128::from(span.0);
        self.totals.in_force_kbps_ns += u128::from(self.kbps().0) * u128::from(awake.0);
    }

    /// What happened so far.
    pub(super) fn totals(&self) -> &ResourceTotals {
        &self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    fn ddr() -> Resource {
        let board = builtin("sdm845").unwrap().unwrap();
        Resource::all(&board, 3).into_iter().find(|r| r.name == "ddr").unwrap()
    }

    #[test]
    fn votes_combine_by_maximum_and_round_up_to_a_level() {
        let mut ddr = ddr();
        assert_eq!(ddr.kbps(), Kbps(800_000));
        ddr.vote(1, Kbps(2_000_000));
        // CPU OPPs list 2188000, which the monitor's own table does not.
        assert_eq!(ddr.kbps(), Kbps(2_188_000));
        ddr.vote(3, Kbps(7_216_000));
        ddr.vote(1, Kbps(0));
        assert_eq!(ddr.kbps(), Kbps(7_216_000));
        assert_eq!(ddr.others(), Kbps(7_216_000));
        assert_eq!(ddr.totals().transitions, 2);
    }

    #[test]
    fn the_seed_board_moves_the_same_clocks_under_its_own_names() {
        assert_eq!(resource_of("l3c"), "l3");
        let board = builtin("sdm845-seed").unwrap().unwrap();
        let names: Vec<String> = Resource::all(&board, 1).into_iter().map(|r| r.name).collect();
        assert_eq!(names, ["ddr", "l3"]);
    }

    #[test]
    fn the_lowest_level_is_nine_times_slower_than_the_highest() {
        // 7216000 / 800000.
        assert!((ddr().lowest_stretch() - 9.02).abs() < 1e-9);
    }
}
