//! `bwmon boards check`.

use super::show;
use crate::board::{Basis, Board, faults, parse};
use crate::cli::output::{json, line, say};
use crate::cli::{Answer, common};
use crate::diag::Diagnostic;
use serde::Serialize;

/// Arguments of `bwmon boards check`.
#[derive(clap::Args)]
#[command(after_help = "Exit code 0 if all files are good, 1 if one has a fault.\n\nExample:\n\
\x20 bwmon boards check my.toml")]
pub(super) struct Args {
    /// Board files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Checked {
    file: String,
    good: bool,
    faults: Vec<Fault>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Fault {
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    help: Option<String>,
}

impl From<&Diagnostic> for Fault {
    fn from(fault: &Diagnostic) -> Self {
        Self {
            line: fault.place.as_ref().map(|place| place.line),
            column: fault.place.as_ref().map(|place| place.column),
            message: fault.message.clone(),
            help: fault.help.clone(),
        }
    }
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let mut all = Vec::new();
    for file in &args.files {
        let text = common::text_of(file)?;
        let found = faults(file, &text);
        let notes = match parse(file, &text) {
            Ok(board) if found.is_empty() => notes(&board),
            _ => Vec::new(),
        };
        if !args.json {
            report(file, &found, &notes)?;
        }
        let good = found.is_empty();
        let faults = found.iter().map(Fault::from).collect();
        all.push(Checked { file: file.clone(), good, faults, notes });
    }
    if args.json {
        json(&all)?;
    }
    Ok(if all.iter().all(|checked| checked.good) { Answer::Yes } else { Answer::No })
}

fn report(file: &str, faults: &[Diagnostic], notes: &[String]) -> anyhow::Result<()> {
    for fault in faults {
        say(&format!("error: {fault}\n"));
    }
    match faults.len() {
        0 => line(&format!("{file}: good"))?,
        1 => line(&format!("{file}: one fault"))?,
        n => line(&format!("{file}: {n} faults"))?,
    }
    for note in notes {
        line(&format!("  {note}"))?;
    }
    Ok(())
}

/// What is no fault and should be known.
fn notes(board: &Board) -> Vec<String> {
    let mut notes = vec![format!(
        "{} monitor(s), {} domain(s), {} CPU OPP table(s)",
        board.monitors.len(),
        board.domains.len(),
        board.cpu_opps.len()
    )];
    if board.compatible.is_empty() {
        notes.push("without `compatible` it is used only where it is named with --board".into());
    }
    for monitor in &board.monitors {
        if !board
            .domains
            .iter()
            .any(|domain| board.monitor_of(domain).is_some_and(|other| other.name == monitor.name))
        {
            notes.push(format!("monitor {} measures no domain", monitor.name));
        }
        if let Some(doubt) = &monitor.doubt {
            notes.push(format!("count unit of {} is in doubt: {doubt}", monitor.name));
        }
    }
    for domain in &board.domains {
        let basis = Basis::of(&domain.table);
        if basis != Basis::Decimal {
            notes.push(format!("kBps of domain {}: {}", domain.name, basis.text()));
        }
        if show::vote_path(domain).is_none() {
            notes.push(format!("domain {} has no vote path: it is not governed live", domain.name));
        }
    }
    notes
}
