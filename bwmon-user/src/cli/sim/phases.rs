//! `--phases`: the story of a run, a few lines for each phase of the workload.

use crate::board::Board;
use crate::cli::output::{or_unknown, table};
use crate::journal::EntryView;
use crate::sim::Workload;
use crate::units::Nanos;

/// What was measured, decided and voted, phase by phase.
pub(super) struct Phases {
    workload: Workload,
    domains: Vec<String>,
    rows: Vec<PhaseRow>,
}

struct PhaseRow {
    name: String,
    start: Nanos,
    cells: Vec<PhaseCell>,
}

#[derive(Clone, Default)]
struct PhaseCell {
    peak: Option<u64>,
    levels: Option<(usize, usize)>,
    vote: Option<u64>,
    why: String,
}

impl Phases {
    pub(super) fn new(workload: Workload, board: &Board) -> Self {
        let domains = board.domains.iter().map(|domain| domain.name.clone()).collect();
        Self { workload, domains, rows: Vec::new() }
    }

    pub(super) fn note(&mut self, entry: &EntryView<'_>) {
        let at = entry.sample().window.start_ns;
        let Some((phase, since)) = self.workload.phase_at(at) else { return };
        let start = Nanos(at.0 - since.0);
        if self.rows.last().is_none_or(|row| row.start != start) {
            let cells = vec![PhaseCell::default(); self.domains.len()];
            self.rows.push(PhaseRow { name: phase.name.clone(), start, cells });
        }
        let Some(row) = self.rows.last_mut() else { return };
        for (cell, (_, tick, _)) in row.cells.iter_mut().zip(entry.domains()) {
            cell.peak = tick.observation.measured.map(|m| m.peak_kbps.0).max(cell.peak);
            let Some(vote) = tick.vote else { continue };
            let (low, high) = cell.levels.unwrap_or((vote.level.0, vote.level.0));
            cell.levels = Some((low.min(vote.level.0), high.max(vote.level.0)));
            cell.vote = Some(vote.peak_kbps.0);
            if vote.change {
                cell.why = tick.proposal.why.to_string();
            }
        }
    }

    pub(super) fn table(&self) -> String {
        let header = [
            "from ms",
            "phase",
            "domain",
            "measured peak kBps",
            "levels",
            "last vote kBps",
            "reason of the last change",
        ];
        let mut rows = Vec::new();
        for row in &self.rows {
            for (cell, domain) in row.cells.iter().zip(&self.domains) {
                let levels = cell.levels.map_or_else(String::new, |(low, high)| {
                    if low == high { low.to_string() } else { format!("{low}-{high}") }
                });
                rows.push(vec![
                    row.start.as_ms().to_string(),
                    row.name.clone(),
                    domain.clone(),
                    or_unknown(cell.peak),
                    levels,
                    or_unknown(cell.vote),
                    cell.why.clone(),
                ]);
            }
        }
        table(&header, &["from ms", "measured peak kBps", "last vote kBps"], rows)
    }
}
