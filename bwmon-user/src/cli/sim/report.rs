//! What a simulation came to.

use crate::board::Board;
use crate::cli::output::{grouped, or_unknown, table};
use crate::journal::PolicyRecord;
use crate::run::RunStats;
use crate::sim::DomainTotals;
use serde::Serialize;

/// The result, in the shape that scripts rely on.
#[derive(Serialize)]
pub(super) struct Report {
    board: String,
    policy: String,
    ticks: u64,
    wall_ms: f64,
    ticks_per_s: f64,
    faults: u64,
    /// Decisions that were the native rule's.
    fallbacks: u64,
    first_fault: Option<String>,
    domains: Vec<DomainReport>,
}

#[derive(Serialize)]
struct DomainReport {
    name: String,
    #[serde(rename = "mean_kBps")]
    mean_kbps: Option<u64>,
    #[serde(rename = "mean_vote_kBps")]
    mean_vote_kbps: u64,
    #[serde(rename = "vote_integral_kBps_s")]
    vote_integral_kbps_s: u64,
    transitions: u64,
    below_demand_ms: u64,
}

impl Report {
    pub(super) fn new(
        board: &Board,
        policy: &PolicyRecord,
        stats: &RunStats,
        wall_s: f64,
        totals: &[DomainTotals],
    ) -> Self {
        let domains = board
            .domains
            .iter()
            .zip(totals)
            .map(|(domain, totals)| DomainReport {
                name: domain.name.clone(),
                mean_kbps: totals.mean().map(|kbps| kbps.0),
                mean_vote_kbps: totals.mean_vote().0,
                vote_integral_kbps_s: totals.vote_integral(),
                transitions: totals.transitions,
                below_demand_ms: totals.below_demand.as_ms(),
            })
            .collect();
        Self {
            board: board.id.clone(),
            policy: policy.name.clone(),
            ticks: stats.ticks,
            wall_ms: (wall_s * 1e6).round() / 1e3,
            ticks_per_s: (stats.ticks as f64 / wall_s.max(1e-9)).round(),
            faults: stats.tally.faults,
            fallbacks: stats.tally.fallbacks,
            first_fault: stats.tally.first_fault.clone(),
            domains,
        }
    }

    pub(super) fn table(&self) -> String {
        let rows = self
            .domains
            .iter()
            .map(|d| {
                vec![
                    d.name.clone(),
                    or_unknown(d.mean_kbps),
                    grouped(d.mean_vote_kbps),
                    grouped(d.vote_integral_kbps_s),
                    d.transitions.to_string(),
                    d.below_demand_ms.to_string(),
                ]
            })
            .collect();
        let header = [
            "domain",
            "traffic kBps",
            "mean vote kBps",
            "vote integral kBps s",
            "transitions",
            "below demand ms",
        ];
        let mut text = format!(
            "{}\n\n{} on {}: {} ticks, {} policy faults, {} ticks/s (simulated, not measured on a \
             board)\nA level's kBps is one channel's; the path carries more (docs/model.md), \
             so traffic may exceed the vote.",
            table(&header, header.get(1..).unwrap_or(&[]), rows),
            self.policy,
            self.board,
            grouped(self.ticks),
            self.faults,
            grouped(self.ticks_per_s as u64),
        );
        if let Some(fault) = &self.first_fault {
            text += &format!(
                "\nThe native rule decided {} times instead of the policy; its first fault: {fault}",
                self.fallbacks
            );
        }
        text
    }
}
