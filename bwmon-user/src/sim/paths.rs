//! The governed domains: what their levels vote for, what their monitors see, what happened.

use super::resource::resource_of;
use crate::board::{Board, Level};
use crate::units::{Kbps, Nanos};

/// What happened on one governed domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainTotals {
    /// Time simulated.
    pub time: Nanos,
    /// Bytes that crossed its path; `None` where no monitor looks.
    pub bytes: Option<u128>,
    /// The governor's level kBps times nanoseconds; the lowest level where it votes none.
    pub vote_kbps_ns: u128,
    /// The same over the time in which votes are in force: those with the tag ACTIVE_ONLY, as all
    /// these are, are not while the CPUs are powered down.
    pub in_force_kbps_ns: u128,
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

    /// Sum of level kBps over the time in which the vote is in force, in kBps-seconds.
    pub fn vote_integral(&self) -> u64 {
        (self.in_force_kbps_ns / u128::from(Nanos::PER_S)) as u64
    }
}

/// One governed domain's place in the machine.
pub(super) struct Path {
    /// All columns of each row: what a level votes for.
    pub(super) rows: Vec<Vec<Kbps>>,
    pub(super) columns: Vec<String>,
    /// The first column's clock.
    pub(super) resource: Option<usize>,
    pub(super) level: Option<Level>,
    pub(super) sees: Sees,
    pub(super) bytes_now: u64,
    pub(super) totals: DomainTotals,
}

impl Path {
    /// What the governor votes for on the first column; the lowest level where it votes nothing.
    pub(super) fn vote(&self) -> Kbps {
        let level = self.level.unwrap_or(Level::LOWEST);
        self.rows.get(level.0).and_then(|row| row.first()).copied().unwrap_or_default()
    }
}

/// What of the traffic a domain's monitor sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
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

/// The domains of `board`; `index` finds a clock among the machine's.
pub(super) fn paths(board: &Board, index: impl Fn(&str) -> Option<usize>) -> Vec<Path> {
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
                resource: table.columns().first().and_then(|c| index(resource_of(c))),
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
