//! `bwmon experiment report`.

use crate::cli::Answer;
use crate::cli::output::{json, line};
use crate::experiment::{Judged, judge};
use crate::lab::Folder;
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
    /// All numbers, judged
    Json,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let folder = Folder::open(&args.folder)?;
    let judged = judge(folder.agenda(), &folder.lines()?)?;
    print(&judged, if args.json { Format::Json } else { args.format })?;
    Ok(Answer::Yes)
}

pub(super) fn print(judged: &Judged, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => line(&format!("{judged:?}")),
        Format::Json => json(judged),
    }
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
