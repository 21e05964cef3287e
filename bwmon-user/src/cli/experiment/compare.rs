//! `bwmon experiment compare`.

use super::report::number;
use crate::cli::Answer;
use crate::cli::output::{json, line, table};
use crate::experiment::{Change, Comparison, Verdict, compare};
use crate::lab::Folder;
use std::path::PathBuf;

/// Arguments of `bwmon experiment compare`.
#[derive(clap::Args)]
#[command(after_help = "Example, as a gate in CI:\n\
\x20 bwmon experiment run regression --out new && bwmon experiment compare old new\n\
Exit codes: 0 nothing is worse, 1 something is worse or gone, 2 could not do it.")]
pub(in crate::cli) struct Args {
    /// The results to compare with
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The results in question
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Show all rows, not only those that changed
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (old, new) = (Folder::open(&args.old)?, Folder::open(&args.new)?);
    let (old_lines, new_lines) = (old.lines()?, new.lines()?);
    let found = compare((old.agenda(), &old_lines), (new.agenda(), &new_lines))?;
    if args.json {
        json(&found)?;
    } else {
        text(&found, args.all)?;
    }
    Ok(if found.is_worse() { Answer::No } else { Answer::Yes })
}

fn text(found: &Comparison, all: bool) -> anyhow::Result<()> {
    let shown: Vec<&Change> = found
        .changes
        .iter()
        .filter(|change| all || change.verdict != Verdict::Equivalent)
        .collect();
    if !shown.is_empty() {
        let header = ["workload", "subject", "measure", "old", "new", "change", "p", "verdict"];
        let rows = shown.into_iter().map(row).collect();
        line(&table(&header, &["old", "new", "change", "p"], rows))?;
    }
    let count = |verdict| found.changes.iter().filter(|change| change.verdict == verdict).count();
    line(&format!(
        "{}: {} compared {}: {} better, {} worse, {} equivalent, {} undecided",
        found.name,
        found.changes.len(),
        if found.paired { "block by block" } else { "as two samples" },
        count(Verdict::Better),
        count(Verdict::Worse),
        count(Verdict::Equivalent),
        count(Verdict::Undecided)
    ))?;
    for what in &found.missing {
        line(&format!("gone: {what}"))?;
    }
    for what in &found.different {
        line(&format!("not compared: {what}"))?;
    }
    Ok(())
}

fn row(change: &Change) -> Vec<String> {
    let unit = if change.by_ratio { " %".to_owned() } else { format!(" {}", change.unit) };
    let verdict = match change.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    };
    let exploratory = if change.primary { "" } else { " (exploratory)" };
    vec![
        change.workload.clone(),
        change.subject.clone(),
        change.measure.clone(),
        number(change.old),
        number(change.new),
        format!("{:+.2}{unit} [{:+.2}, {:+.2}]", change.estimate, change.low, change.high),
        format!("{:.4}", change.p_adjusted),
        format!("{verdict}{exploratory}"),
    ]
}
