//! `bwmon sim`.

mod phases;
mod plot;
mod report;
mod seed;
mod then;

use super::Answer;
use super::choose::{ChoiceArgs, Picked};
use super::common;
use super::output::{json, line, say};
use crate::board::Board;
use crate::decide::Unvoted;
use crate::diag::did_you_mean;
use crate::governor::Governor;
use crate::journal::{EntryView, Header, JournalError, Note, PolicyRecord, SCHEMA};
use crate::live::{FileJournal, Root};
use crate::ports::JournalSink;
use crate::product::MachineFacts;
use crate::run::{Doors, Pace, RunStats, run_under};
use crate::sim::scenario::{self, Trace, TraceRequest};
use crate::sim::{
    CpufreqVotes, Setup, Simulation, Workload, builtin_workload, builtin_workload_names,
};
use crate::units::Nanos;
use anyhow::{Context, bail};
use phases::Phases;
use plot::Recorder;
use report::Report;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use then::Then;

/// Arguments of `bwmon sim`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon sim --phases                                    the kernel's rule on a simulated SDM845\n\
\x20 bwmon sim --policy my.rhai --workload frames --plot   your policy on another traffic, with charts\n\
\x20 bwmon sim --product vendor-sdm845 --limit ddr.min_kBps=1804000   a product, without its board\n\
\x20 bwmon sim --seed-table                                sysbench: 13 rows, 5 configurations")]
pub(super) struct Args {
    #[command(flatten)]
    choice: ChoiceArgs,
    /// The board: a built-in one (`bwmon boards`) or a board file [default: as the product says,
    /// else sdm845]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// The traffic: demo, idle, stream, frames, camera, launch, memcpy, dma, ramp or square
    #[arg(long, value_name = "NAME", default_value = "demo")]
    workload: String,
    /// The traffic, from a scenario file (policies/scenarios has examples)
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    scenario: Option<String>,
    /// Which bandwidth votes of cpufreq reach the paths
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = VotesArg::Ungoverned)]
    cpufreq_votes: VotesArg,
    /// Run the seed patch's sysbench table instead: 13 rows, 5 configurations
    #[arg(long, conflicts_with_all = ["workload", "scenario", "board", "cpufreq_votes",
        "duration_ms", "ticks", "period_us", "journal", "phases", "plot", "svg", "policy", "set",
        "preset", "product", "products", "store", "limit", "min_level", "max_level"])]
    seed_table: bool,
    /// Virtual time to simulate [default: one round of the workload]
    #[arg(long, value_name = "MS", conflicts_with = "ticks",
        value_parser = clap::value_parser!(u64).range(1..=31_536_000_000))]
    duration_ms: Option<u64>,
    /// Ticks to simulate
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ticks: Option<u64>,
    /// Distance of the ticks [default: as the product says, else 4000]
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    period_us: Option<u64>,
    #[command(flatten)]
    then: then::ThenArgs,
    /// Write the journal to this file (`bwmon replay --verify` reads it)
    #[arg(long, value_name = "FILE")]
    journal: Option<String>,
    /// Print what happened in each phase of the workload
    #[arg(long, conflicts_with = "json")]
    phases: bool,
    /// Print a chart of traffic and votes over time for each domain
    #[arg(long, conflicts_with = "json")]
    plot: bool,
    /// Write the charts to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum VotesArg {
    /// None: CPU OPPs without bandwidth
    None,
    /// Those for clocks that no domain of the board governs
    Ungoverned,
    /// All, as in mainline's device tree
    All,
}

impl From<VotesArg> for CpufreqVotes {
    fn from(arg: VotesArg) -> Self {
        match arg {
            VotesArg::None => Self::None,
            VotesArg::Ungoverned => Self::Ungoverned,
            VotesArg::All => Self::All,
        }
    }
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    if args.seed_table {
        return seed::main(args.json);
    }
    let picked = args.choice.asked(&Root::default(), None)?;
    let board = Arc::new(board(&args, &picked)?);
    let workload = match &args.scenario {
        Some(file) => scenario_file(file)?,
        None => named_workload(&args.workload)?,
    };
    let fitted = args.choice.fit(&picked, &board, Unvoted::Top)?;
    let (policy, record) = fitted.spec.build(&board)?;
    for note in picked.notes.iter().chain(&fitted.notes) {
        say(&format!("bwmon: {note}"));
    }
    let period_us = args.period_us.or(picked.period_us()).unwrap_or(DEFAULT_PERIOD_US);
    let header = Header {
        product: fitted.record,
        rails: fitted.rails.clone(),
        ..header(&board, &record, period_us)
    };
    let ticks = match (args.ticks, args.duration_ms) {
        (Some(ticks), _) => ticks,
        (None, Some(ms)) => (ms * 1_000).div_ceil(period_us),
        (None, None) => workload.length().as_us().div_ceil(period_us),
    };
    let charts = args.plot || args.svg.is_some();
    let mut sink = Sink {
        file: args.journal.as_deref().map(FileJournal::create).transpose()?,
        phases: args.phases.then(|| Phases::new(workload.clone(), &board)),
        recorder: charts.then(|| Recorder::new(&board, workload.clone())),
        notes: Vec::new(),
    };
    if let Some(file) = &mut sink.file {
        file.begin(&header)?;
    }
    let mut control = args.then.control(&board, period_us)?;
    let mut governor = Governor::new(board.clone(), policy, fitted.rails, &[]);
    let setup = Setup { votes: args.cpufreq_votes.into(), ..Setup::of(&board)? };
    let mut sim = Simulation::new(&board, workload, setup);
    let began = Instant::now();
    let stats = simulate(&mut governor, &mut sim, &mut sink, &mut control, period_us, ticks)?;
    let wall_s = began.elapsed().as_secs_f64();
    if let Some(error) = &stats.journal_error {
        bail!("{error}");
    }
    if let Some(file) = &mut sink.file {
        file.finish()?;
    }
    let report = Report::new(&board, &record, &stats, wall_s, &sim.plant().totals());
    print(&args, &sink, &report)
}

/// One window of the hardware.
const DEFAULT_PERIOD_US: u64 = 4_000;

/// The board that is asked for, or the product's, or the one that it seems to be for.
fn board(args: &Args, picked: &Picked) -> anyhow::Result<Board> {
    match (&args.board, picked.board()) {
        (Some(name), _) => common::board(name),
        (None, Some(board)) => board,
        (None, None) => match picked.guessed_board(&MachineFacts::default()) {
            Some(board) => {
                say(&format!("bwmon: board {}, by the product's dt_compatible", board.id));
                Ok(board)
            }
            None => common::board("sdm845"),
        },
    }
}

fn simulate(
    governor: &mut Governor,
    sim: &mut Simulation,
    sink: &mut Sink,
    control: &mut Then,
    period_us: u64,
    ticks: u64,
) -> anyhow::Result<RunStats> {
    let stop = AtomicBool::new(false);
    let doors = Doors {
        source: &mut sim.source,
        actuator: &mut sim.actuator,
        clock: &mut sim.clock,
        journal: sink,
    };
    let period = Nanos(period_us * Nanos::PER_US);
    let pace = Pace { period, ticks: Some(ticks), stop: &stop };
    Ok(run_under(governor, doors, pace, control)?)
}

fn print(args: &Args, sink: &Sink, report: &Report) -> anyhow::Result<Answer> {
    if let (Some(recorder), Some(file)) = (&sink.recorder, &args.svg) {
        std::fs::write(file, recorder.svg()?).with_context(|| format!("cannot write {file}"))?;
    }
    if args.json {
        json(report)?;
        return Ok(Answer::Yes);
    }
    if let (Some(recorder), true) = (&sink.recorder, args.plot) {
        line(&recorder.text()?)?;
        line("")?;
    }
    if let Some(phases) = &sink.phases {
        line(&phases.table())?;
        line("")?;
    }
    line(&report.table())?;
    for note in &sink.notes {
        line(&then::told(note))?;
    }
    Ok(Answer::Yes)
}

/// The traffic called `name`: a scenario file, or a built-in one.
pub(super) fn traffic(name: &str) -> anyhow::Result<Workload> {
    if name.ends_with(".toml") { scenario_file(name) } else { named_workload(name) }
}

fn scenario_file(file: &str) -> anyhow::Result<Workload> {
    Ok(scenario::parse(file, &common::text_of(file)?, &mut load_trace)?)
}

fn named_workload(name: &str) -> anyhow::Result<Workload> {
    if let Some(workload) = builtin_workload(name) {
        return Ok(workload);
    }
    let known: Vec<&str> = builtin_workload_names().collect();
    match did_you_mean(name, known.iter().copied()) {
        Some(near) => bail!("there is no workload {name}; did you mean {near}?"),
        None => bail!("there is no workload {name}; known: {}", known.join(", ")),
    }
}

/// The peaks of a domain, from a journal; a tick without a reading keeps the value before it.
fn load_trace(request: TraceRequest<'_>) -> Result<Trace, String> {
    let (mut reader, header) =
        common::journal(request.journal).map_err(|error| format!("{error:#}"))?;
    let Some(index) = header.board.domain_index(request.domain) else {
        return Err(format!("{} has no domain {}", request.journal, request.domain));
    };
    let Some(domain) = header.board.domains.get(index) else { return Err("no domain".into()) };
    let (Some(at), Some(monitor)) = (domain.monitor, header.board.monitor_of(domain)) else {
        return Err(format!("domain {} has no monitor: nothing was recorded", request.domain));
    };
    let mut values = Vec::new();
    while let Some(entry) = reader.next_entry().map_err(|error| error.to_string())? {
        let read = entry.sample.monitors.get(at).and_then(|reading| reading.peak(monitor.scale));
        values.push(read.or(values.last().copied()).unwrap_or_default());
    }
    if values.is_empty() {
        return Err(format!("{} has no entries", request.journal));
    }
    Ok((values.into(), Nanos(header.period_us.max(1) * Nanos::PER_US)))
}

fn header(board: &Board, record: &PolicyRecord, period_us: u64) -> Header {
    Header {
        schema: SCHEMA,
        program: format!("bwmon {}", crate::version()),
        kernel: None,
        mode: "sim".to_owned(),
        capabilities: Vec::new(),
        period_us,
        policy: record.clone(),
        product: None,
        rails: Vec::new(),
        levels: vec![None; board.domains.len()],
        continues: None,
        board: board.clone(),
    }
}

/// The journal file, the phase table and the charts, each optional.
struct Sink {
    file: Option<FileJournal>,
    phases: Option<Phases>,
    recorder: Option<Recorder>,
    notes: Vec<Note>,
}

impl JournalSink for Sink {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        if let Some(phases) = &mut self.phases {
            phases.note(entry);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.note(entry);
        }
        match &mut self.file {
            Some(file) => file.append(entry),
            None => Ok(()),
        }
    }

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        self.notes.push(note.clone());
        self.file.note(note)
    }
}
