//! `bwmon restore`.

use super::Answer;
use super::output::{json, line, say};
use crate::live::{AgentLock, DEFAULT_STATE_DIR, RestoreFile, Root};
use crate::ports::Outcome;
use anyhow::bail;
use std::path::PathBuf;

/// Arguments of `bwmon restore`.
#[derive(clap::Args)]
#[command(
    after_help = "When an agent was killed (kill -9, a crash) its changes stay; this puts them back from its restore\n\
file. An agent that ends by a signal does it itself, and the next `bwmon run` does it first."
)]
pub(super) struct Args {
    /// Put nothing back where the agent left its votes on purpose (on_exit = keep or max); for the
    /// service's stop step
    #[arg(long)]
    unless_kept: bool,
    /// Where the restore file is
    #[arg(long, value_name = "DIR", default_value = DEFAULT_STATE_DIR)]
    state_dir: PathBuf,
    /// Look for /sys and /proc under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let outcomes = if args.state_dir.exists() { put_back(&args)? } else { Vec::new() };
    if args.json {
        json(&outcomes)?;
    } else if outcomes.is_empty() {
        line("nothing to put back")?;
    } else {
        for outcome in &outcomes {
            line(&format!("{}: {}", outcome.object, outcome.what))?;
        }
    }
    let left: Vec<&str> = outcomes.iter().filter(|o| !o.done).map(|o| o.object.as_str()).collect();
    if !left.is_empty() {
        bail!(
            "{} could not be put back; the restore file in {} keeps it for the next try",
            left.join(", "),
            args.state_dir.display()
        );
    }
    Ok(Answer::Yes)
}

fn put_back(args: &Args) -> anyhow::Result<Vec<Outcome>> {
    // A running agent puts its own changes back; taking them from under it would be a fight.
    let _lock = AgentLock::take(&args.state_dir)?;
    match RestoreFile::load(&Root::at(&args.root), &args.state_dir, &mut |text| say(text))? {
        Some(file) if args.unless_kept && file.is_kept() => {
            say("the agent left its votes on purpose; `bwmon restore` puts back what was before");
            Ok(Vec::new())
        }
        Some(mut file) => Ok(file.put_back()?),
        None => Ok(Vec::new()),
    }
}
