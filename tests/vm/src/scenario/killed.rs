//! Killed: the agent ends without a chance to tidy up; `bwmon restore` does it.

use super::governing::{must_be_as_before, prepare, start_agent};
use super::journal;
use crate::agent::Agent;
use crate::machine::{self, Snapshot};
use crate::player::{self, Wire};
use crate::verdict::Figures;
use crate::wait;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const JOURNAL: &str = "/run/killed.jsonl";
/// Entries after which the agent is in the middle of its work.
const MIDDLE: usize = 40;
/// Rounds of traffic: more than will be played.
const ROUNDS: u32 = 1000;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = prepare()?;
    let mut agent = start_agent("killed", JOURNAL)?;
    let mut player = player::start(ROUNDS, Wire::Cut)?;
    wait::until("the agent to be in the middle of it", PATIENCE, || {
        agent.must_be_running()?;
        Ok((journal::lines_so_far(JOURNAL) >= MIDDLE).then_some(()))
    })?;
    agent.signal(Signal::KILL)?;
    let status = agent.wait(PATIENCE)?;
    ensure!(status.signal() == Some(9), "the agent was to be killed, it ended with {status}");
    ensure!(Snapshot::take()? != before, "nothing was left to be put back");
    ensure!(!machine::driver_is_bound(), "the driver was not to be bound yet");

    let first = restore("restore")?;
    must_be_as_before(&before)?;
    let second = restore("restore-again")?;
    ensure!(second.is_empty(), "a second restore still found {second:?}");
    must_be_as_before(&before)?;

    // The kernel took the page away from whoever had it mapped: the player dies of its next access.
    let end = player.wait(PATIENCE)?;
    ensure!(end.signal() == Some(7), "the player was to lose its mapping, it ended with {end}");
    let mut figures = Figures::new();
    figures.insert("entries_before_the_kill".into(), json!(journal::lines_so_far(JOURNAL)));
    figures.insert("put_back".into(), json!(first));
    figures.insert("stale_mapping_revoked".into(), json!(true));
    Ok(figures)
}

/// Runs `bwmon restore`; what it says of each object.
pub(super) fn restore(name: &str) -> Result<Vec<String>> {
    let mut restore = Agent::bwmon(name, &["restore", "--json"])?;
    restore.must_succeed(PATIENCE)?;
    let outcomes: Vec<Value> = serde_json::from_str(&restore.stdout()?).context("outcomes")?;
    let word = |outcome: &Value, name| outcome.get(name).and_then(Value::as_str).map(str::to_owned);
    let line = |outcome| Some(format!("{}: {}", word(outcome, "object")?, word(outcome, "what")?));
    Ok(outcomes.iter().filter_map(line).collect())
}
