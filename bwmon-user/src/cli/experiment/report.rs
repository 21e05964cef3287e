//! `bwmon experiment report`.

use crate::cli::Answer;
use crate::cli::output::{json, line};
use crate::experiment::{Judged, Line, judge};
use crate::lab::{Folder, TracePoint, run_name, traces_of};
use crate::report;
use crate::units::{Kbps, Nanos};
use anyhow::Context;
use std::path::PathBuf;

/// Arguments of `bwmon experiment report`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon experiment report seed-table.results                        tables for the terminal\n\
\x20 bwmon experiment report DIR --format markdown                     for a mailing list\n\
\x20 bwmon experiment report DIR --format html --out report.html       one page with charts")]
pub(in crate::cli) struct Args {
    /// The folder of an experiment's results
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How to say it
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "json")]
    format: Format,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Write to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// How results are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Tables for the terminal
    Text,
    /// Tables for a mailing list or a comment
    Markdown,
    /// All numbers, judged
    Json,
    /// The judged numbers, one row each
    Csv,
    /// Every run and measure, one row each
    RunsCsv,
    /// One page with charts
    Html,
    /// Every run and measure for DuckDB, Spark, …; needs --out
    #[cfg(feature = "parquet")]
    Parquet,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let folder = Folder::open(&args.folder)?;
    let lines = folder.lines()?;
    let judged = judge(folder.agenda(), &lines)?;
    let format = if args.json { Format::Json } else { args.format };
    #[cfg(feature = "parquet")]
    if format == Format::Parquet {
        let Some(file) = &args.out else { anyhow::bail!("--format parquet needs --out FILE") };
        std::fs::write(file, report::parquet(&judged.name, &lines)?)
            .with_context(|| format!("cannot write {}", file.display()))?;
        return Ok(Answer::Yes);
    }
    let text = match format {
        Format::Text => report::text(&judged),
        Format::Markdown => report::markdown(&judged),
        Format::Json => serde_json::to_string_pretty(&judged)?,
        Format::Csv => report::csv(&judged),
        Format::RunsCsv => report::runs_csv(&lines),
        // Not text, and done above.
        #[cfg(feature = "parquet")]
        Format::Parquet => String::new(),
        Format::Html => report::html(&judged, &traces(&folder, &lines)),
    };
    match &args.out {
        Some(file) => std::fs::write(file, format!("{}\n", text.trim_end()))
            .with_context(|| format!("cannot write {}", file.display()))?,
        None => line(text.trim_end())?,
    }
    Ok(Answer::Yes)
}

/// What the first block looked like over time.
fn traces(folder: &Folder, lines: &[Line]) -> Vec<report::Trace> {
    let agenda = folder.agenda();
    let mut all = Vec::new();
    for line in lines.iter().filter(|line| line.block == 0) {
        let at = agenda.workloads.iter().position(|workload| workload.name == line.workload);
        let Some(at) = at else { continue };
        let run = run_name(line.block, at, line.attempt, line.position);
        for trace in traces_of(&folder.path().join("runs").join(run)) {
            let point = |point: &TracePoint| report::TracePoint {
                at: Nanos((point.ms * Nanos::PER_MS as f64) as u64),
                bandwidth: point.peak_kbps.map(Kbps),
                vote: point.vote_kbps.map(Kbps),
            };
            all.push(report::Trace {
                workload: line.workload.clone(),
                subject: line.subject.clone(),
                points: trace.points.iter().map(point).collect(),
                domain: trace.domain,
            });
        }
    }
    all
}

pub(super) fn print(judged: &Judged, as_json: bool) -> anyhow::Result<()> {
    if as_json { json(judged) } else { line(report::text(judged).trim_end()) }
}

/// A value for reading: three or four digits that mean something.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1_000.0 => crate::cli::output::grouped(value.round().max(0.0) as u64),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
