//! cpufreq: CPU frequencies follow the load, and each frequency votes for bandwidth.
//!
//! As schedutil: a quarter above the load, rounded up to an OPP. The votes are the bandwidth
//! columns of the CPU OPPs (`dev_pm_opp_set_opp` in `qcom-cpufreq-hw`), the larger of all clusters.

use super::resource::{Resource, resource_of};
use crate::board::{Board, CpuOpps};
use crate::units::{Kbps, Khz};

/// Which of cpufreq's votes reach the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpufreqVotes {
    /// None: the CPU OPPs carry no bandwidth (the seed's customised kernel).
    None,
    /// Those for resources that no governed domain votes for.
    Ungoverned,
    /// All, as in mainline's device tree.
    All,
}

/// The clusters and the load that they follow.
#[derive(Clone, Debug)]
pub struct Cpufreq {
    clusters: Vec<CpuOpps>,
    /// Columns whose votes are placed.
    voted: Vec<String>,
    cpu_pct: Option<u32>,
    /// How much slower than at its highest frequency the fastest cluster runs.
    stretch: f64,
    max_khz: Option<Khz>,
}

impl Cpufreq {
    /// The clusters of `physical`; `governed` are the resources that a governor votes for.
    pub fn new(physical: &Board, votes: CpufreqVotes, governed: &[&str]) -> Self {
        let mut voted: Vec<String> = Vec::new();
        for column in physical.cpu_opps.iter().flat_map(|table| &table.columns) {
            let wanted = match votes {
                CpufreqVotes::None => false,
                CpufreqVotes::All => true,
                CpufreqVotes::Ungoverned => !governed.contains(&resource_of(column)),
            };
            if wanted && !voted.contains(column) {
                voted.push(column.clone());
            }
        }
        let clusters = physical.cpu_opps.clone();
        Self { clusters, voted, cpu_pct: None, stretch: 1.0, max_khz: None }
    }

    /// Follows a load of `cpu_pct`; places votes if it changed.
    pub fn follow(&mut self, cpu_pct: u32, resources: &mut [Resource], voter: usize) {
        if self.cpu_pct == Some(cpu_pct) || self.clusters.is_empty() {
            return;
        }
        self.cpu_pct = Some(cpu_pct);
        let mut votes = vec![Kbps(0); self.voted.len()];
        let (mut fastest, mut top) = (Khz(0), Khz(1));
        for cluster in &self.clusters {
            let wanted = cluster.top_khz().0 * u64::from(cpu_pct) * 5 / 400;
            let Some(opp) = cluster.at_least(Khz(wanted)) else { continue };
            fastest = fastest.max(opp.khz);
            top = top.max(cluster.top_khz());
            for (column, kbps) in cluster.columns.iter().zip(&opp.kbps) {
                let place = self.voted.iter().position(|name| name == column);
                if let Some(vote) = place.and_then(|place| votes.get_mut(place)) {
                    *vote = (*vote).max(*kbps);
                }
            }
        }
        self.stretch = top.0 as f64 / fastest.0.max(1) as f64;
        self.max_khz = Some(fastest);
        for (column, kbps) in self.voted.iter().zip(votes) {
            for resource in resources.iter_mut().filter(|r| reaches(column, &r.name)) {
                resource.vote(voter, kbps);
            }
        }
    }

    /// How much slower than at the top the CPUs run.
    pub fn stretch(&self) -> f64 {
        self.stretch
    }

    /// The highest frequency of any cluster; `None` where the board lists none.
    pub fn max_khz(&self) -> Option<Khz> {
        self.max_khz
    }
}

/// Whether a vote for `column` is a vote for `resource`: a path to memory leads through the system
/// cache, and every node on a path gets the path's peak.
pub fn reaches(column: &str, resource: &str) -> bool {
    let column = resource_of(column);
    column == resource || (column == "ddr" && resource == "llcc")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    fn at(cpu_pct: u32, votes: CpufreqVotes) -> (Vec<(String, u64)>, Option<Khz>) {
        let board = builtin("sdm845").unwrap().unwrap();
        let mut resources = Resource::all(&board, 3);
        let mut cpufreq = Cpufreq::new(&board, votes, &["llcc", "ddr"]);
        cpufreq.follow(cpu_pct, &mut resources, 3);
        let levels = resources.iter().map(|r| (r.name.clone(), r.kbps().0)).collect();
        (levels, cpufreq.max_khz())
    }

    fn levels(llcc: u64, ddr: u64, l3: u64) -> Vec<(String, u64)> {
        vec![("llcc".into(), llcc), ("ddr".into(), ddr), ("l3".into(), l3)]
    }

    #[test]
    fn full_load_votes_the_highest_row() {
        // 7216000 on the path to memory makes the system cache take its next level, 9216000.
        let (seen, khz) = at(100, CpufreqVotes::All);
        assert_eq!((seen, khz), (levels(9_216_000, 7_216_000, 25_497_600), Some(Khz(2_803_200))));
    }

    #[test]
    fn a_little_load_votes_the_lowest_row() {
        // 5 % and a quarter: 175200 of 2803200 kHz, so 300000.
        assert_eq!(at(5, CpufreqVotes::All).0, levels(4_800_000, 800_000, 4_800_000));
    }

    #[test]
    fn votes_for_what_is_governed_can_be_left_out() {
        assert_eq!(at(100, CpufreqVotes::None).0, levels(4_800_000, 800_000, 4_800_000));
        assert_eq!(at(100, CpufreqVotes::Ungoverned).0, levels(4_800_000, 800_000, 25_497_600));
    }
}
