//! `bwmon sim`.

use super::Answer;
use super::common::{self, PolicyArgs};
use super::output::{grouped, json, line, or_unknown, table};
use crate::board::Board;
use crate::decide::{Rails, Unvoted};
use crate::governor::Governor;
use crate::journal::{EntryView, Header, JournalError, PolicyRecord, SCHEMA};
use crate::live::FileJournal;
use crate::ports::JournalSink;
use crate::run::{Doors, Pace, RunStats, run};
use crate::sim::{
    DomainTotals, Setup, Simulation, Workload, builtin_workload, builtin_workload_names,
};
use crate::units::Nanos;
use anyhow::bail;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Arguments of `bwmon sim`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    policy: PolicyArgs,
    /// The board: a built-in one (`bwmon boards`) or a board file
    #[arg(long, value_name = "BOARD|FILE", default_value = "sdm845")]
    board: String,
    /// The traffic: demo, idle, stream, frames or square
    #[arg(long, value_name = "NAME", default_value = "demo")]
    workload: String,
    /// Virtual time to simulate [default: one round of the workload]
    #[arg(long, value_name = "MS", conflicts_with = "ticks")]
    duration_ms: Option<u64>,
    /// Ticks to simulate
    #[arg(long, value_name = "N")]
    ticks: Option<u64>,
    /// Distance of the ticks
    #[arg(long, value_name = "US", default_value_t = 4_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    period_us: u64,
    /// Write the journal to this file (`bwmon replay --verify` reads it)
    #[arg(long, value_name = "FILE")]
    journal: Option<String>,
    /// Print what happened in each phase of the workload
    #[arg(long, conflicts_with = "json")]
    phases: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let board = Arc::new(common::board(&args.board)?);
    let Some(workload) = builtin_workload(&args.workload) else {
        let known: Vec<&str> = builtin_workload_names().collect();
        match crate::diag::did_you_mean(&args.workload, known.iter().copied()) {
            Some(near) => bail!("there is no workload {}; did you mean {near}?", args.workload),
            None => bail!("there is no workload {}; known: {}", args.workload, known.join(", ")),
        }
    };
    let (policy, record) = args.policy.spec()?.build(&board)?;
    let rails: Vec<Rails> =
        board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let header = header(&board, &record, &rails, args.period_us);
    let period = Nanos(args.period_us * Nanos::PER_US);
    let ticks = match (args.ticks, args.duration_ms) {
        (Some(ticks), _) => ticks,
        (None, Some(ms)) => ms.saturating_mul(1_000) / args.period_us,
        (None, None) => workload.length().as_us() / args.period_us,
    };
    let mut sink = Sink {
        file: args.journal.as_deref().map(|name| FileJournal::create(name, &header)).transpose()?,
        phases: args.phases.then(|| Phases::new(workload.clone(), &board)),
    };
    let mut governor = Governor::new(board.clone(), policy, rails, &[]);
    let mut sim = Simulation::new(&board, workload, Setup::of(&board)?);
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let stats = run(
        &mut governor,
        Doors {
            source: &mut sim.source,
            actuator: &mut sim.actuator,
            clock: &mut sim.clock,
            journal: &mut sink,
        },
        Pace { period, ticks: Some(ticks), stop: &stop },
    )?;
    let wall_s = began.elapsed().as_secs_f64();
    if let Some(error) = &stats.journal_error {
        bail!("{error}");
    }
    if let Some(file) = &mut sink.file {
        file.finish()?;
    }
    let report = Report::new(&board, &record, &stats, wall_s, &sim.plant().totals());
    if args.json {
        json(&report)?;
    } else {
        if let Some(phases) = &sink.phases {
            line(&phases.table())?;
            line("")?;
        }
        line(&report.table())?;
    }
    Ok(Answer::Yes)
}

fn header(board: &Board, record: &PolicyRecord, rails: &[Rails], period_us: u64) -> Header {
    Header {
        schema: SCHEMA,
        program: format!("bwmon {}", crate::version()),
        kernel: None,
        mode: "sim".to_owned(),
        capabilities: Vec::new(),
        period_us,
        policy: record.clone(),
        rails: rails.to_vec(),
        levels: vec![None; board.domains.len()],
        board: board.clone(),
    }
}

/// The result, in the shape that scripts rely on.
#[derive(Serialize)]
struct Report {
    board: String,
    policy: String,
    ticks: u64,
    wall_ms: f64,
    ticks_per_s: f64,
    faults: u64,
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
    fn new(
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
            faults: stats.faults,
            domains,
        }
    }

    fn table(&self) -> String {
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
        format!(
            "{}\n\n{} on {}: {} ticks, {} policy faults, {} ticks/s (simulated, not measured on a board)",
            table(&header, header.get(1..).unwrap_or(&[]), rows),
            self.policy,
            self.board,
            grouped(self.ticks),
            self.faults,
            grouped(self.ticks_per_s as u64),
        )
    }
}

/// The journal file and the phase table, both optional.
struct Sink {
    file: Option<FileJournal>,
    phases: Option<Phases>,
}

impl JournalSink for Sink {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        if let Some(phases) = &mut self.phases {
            phases.note(entry);
        }
        match &mut self.file {
            Some(file) => file.append(entry),
            None => Ok(()),
        }
    }
}

/// What was measured, decided and voted, phase by phase.
struct Phases {
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
    fn new(workload: Workload, board: &Board) -> Self {
        let domains = board.domains.iter().map(|domain| domain.name.clone()).collect();
        Self { workload, domains, rows: Vec::new() }
    }

    fn note(&mut self, entry: &EntryView<'_>) {
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

    fn table(&self) -> String {
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
