//! `bwmon restore`.

use super::output::{json, line, say};
use super::{Answer, common};
use crate::config;
use crate::live::{AgentLock, DEFAULT_STATE_DIR, RestoreFile, Root};
use crate::ports::Outcome;
use anyhow::bail;
use std::path::{Path, PathBuf};

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
    /// The agent's configuration, which may name another state folder; one that is not there or is
    /// wrong stops nothing
    #[arg(long, value_name = "FILE", conflicts_with = "state_dir")]
    config: Option<PathBuf>,
    /// Where the restore file is [default: /run/bwmon]
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
    /// Look for /sys and /proc under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let state_dir = state_dir(&args);
    let outcomes = if state_dir.exists() { put_back(&args, &state_dir)? } else { Vec::new() };
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
            state_dir.display()
        );
    }
    Ok(Answer::Yes)
}

/// Where the agent keeps its state. A service's stop step has to put back, whatever became of the
/// configuration meanwhile.
fn state_dir(args: &Args) -> PathBuf {
    let configured = || -> anyhow::Result<Option<String>> {
        let Some(file) = args.config.as_ref().filter(|file| file.exists()) else {
            return Ok(None);
        };
        let name = file.display().to_string();
        Ok(config::parse(&name, &common::text_of(&name)?)?.state_dir)
    };
    let configured = configured().unwrap_or_else(|error| {
        say(&format!("{error:#}\nlooking into {DEFAULT_STATE_DIR}"));
        None
    });
    let given = args.state_dir.clone().or(configured.map(PathBuf::from));
    given.unwrap_or_else(|| PathBuf::from(DEFAULT_STATE_DIR))
}

fn put_back(args: &Args, state_dir: &Path) -> anyhow::Result<Vec<Outcome>> {
    // A running agent puts its own changes back; taking them from under it would be a fight.
    let _lock = AgentLock::take(state_dir)?;
    match RestoreFile::load(&Root::at(&args.root), state_dir, &mut |text| say(text))? {
        Some(file) if args.unless_kept && file.is_kept() => {
            say("the agent left its votes on purpose; `bwmon restore` puts back what was before");
            Ok(Vec::new())
        }
        Some(mut file) => Ok(file.put_back()?),
        None => Ok(Vec::new()),
    }
}
