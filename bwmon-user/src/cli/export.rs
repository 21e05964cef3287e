//! `bwmon export`.

use super::Answer;
use super::common;
use super::output::{is_terminal, say};
use crate::export::{CsvExport, PerfettoExport, Story};
use crate::journal::{JournalError, Line, Reader};
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::PathBuf;

/// Arguments of `bwmon export`.
#[derive(clap::Args)]
#[command(
    group = clap::ArgGroup::new("format").required(true),
    after_help = "Examples:\n\
\x20 bwmon export run.jsonl --csv                              a row for each tick and domain\n\
\x20 bwmon export run.jsonl --perfetto --out run.perfetto-trace   for ui.perfetto.dev\n\
Times are CLOCK_MONOTONIC: record sched and cpufreq events in the same boot to see them beside."
)]
pub(super) struct Args {
    /// The journal (from `bwmon run --journal` or `bwmon sim --journal`)
    #[arg(value_name = "JOURNAL")]
    journal: String,
    /// As CSV
    #[arg(long, group = "format")]
    csv: bool,
    /// As a trace for Perfetto
    #[arg(long, group = "format")]
    perfetto: bool,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.perfetto && args.out.is_none() && is_terminal() {
        bail!("a trace is no text for a terminal; give --out FILE");
    }
    let (mut reader, header) = common::journal(&args.journal)?;
    let mut out: Box<dyn Write> = match &args.out {
        None => Box::new(io::stdout().lock()),
        Some(file) => {
            let made = File::create(file);
            Box::new(made.with_context(|| format!("cannot write {}", file.display()))?)
        }
    };
    let mut out = BufWriter::new(&mut out);
    let csv = CsvExport::new(&header.board);
    let mut perfetto = PerfettoExport::new(&header.board);
    if args.csv {
        out.write_all(&csv.head())?;
    }
    while let Some(story) = next(&mut reader)? {
        let bytes = if args.csv { csv.tick(&story) } else { perfetto.tick(&story) };
        out.write_all(&bytes)?;
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// The next entry. A journal that was cut off ends with its last whole line, and that is said.
fn next<R: BufRead>(reader: &mut Reader<R>) -> anyhow::Result<Option<Story>> {
    loop {
        match reader.read() {
            Ok(None) => return Ok(None),
            Ok(Some((Line::Note(_), _))) => {}
            Ok(Some((Line::Entry(_), text))) => return Ok(Some(Story::parse(text)?)),
            Err(JournalError::Broken(fault)) if fault.message.contains("is cut off") => {
                say(&format!("warning: {fault}"));
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        }
    }
}
