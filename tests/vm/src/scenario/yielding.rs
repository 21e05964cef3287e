//! Yielding: somebody else takes the vote path while the agent governs; the agent keeps its hands
//! off from then on, and still gives the rest back.

use super::governing::{must_be_as_before, prepare, start_agent};
use super::journal::{self, Journal};
use crate::machine;
use crate::player::{self, Wire};
use crate::verdict::Figures;
use crate::wait;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const JOURNAL: &str = "/run/yielding.jsonl";
/// What the administrator chooses: the governor of before the agent.
const THEIRS: &str = "simple_ondemand";
/// Rounds of traffic: more than will be played.
const ROUNDS: u32 = 1000;
/// Entries for which the agent has to keep its hands off.
const MEANWHILE: usize = 60;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = prepare()?;
    let mut agent = start_agent("yielding", JOURNAL)?;
    let mut player = player::start(ROUNDS, Wire::Cut)?;
    wait::until("the agent to vote", PATIENCE, || {
        agent.must_be_running()?;
        Ok(Journal::so_far(JOURNAL)?
            .entries()
            .iter()
            .any(|e| journal::changed_vote(e).is_some())
            .then_some(()))
    })?;
    std::fs::write(machine::devfreq("governor"), THEIRS).context("write the governor")?;
    wait::until("the agent to keep its hands off for a while", PATIENCE, || {
        agent.must_be_running()?;
        let entries = Journal::so_far(JOURNAL)?;
        Ok((entries.entries().iter().filter(|e| is_manual(e)).count() >= MEANWHILE).then_some(()))
    })?;
    let governor = machine::read(&machine::devfreq("governor"))?;
    ensure!(governor == THEIRS, "the agent took the governor back: {governor}");
    player.signal(Signal::KILL)?;
    player.wait(PATIENCE)?;
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    must_be_as_before(&before)?;
    judge(&Journal::read(JOURNAL)?)
}

/// One answer says that the path is somebody else's; after it there is no vote at all.
fn judge(journal: &Journal) -> Result<Figures> {
    let entries = journal.entries();
    let foreign = entries.iter().position(|entry| journal::answer(entry) == Some("foreign"));
    let foreign = foreign.context("no answer says that the governor is somebody else's")?;
    let after = entries.get(foreign + 1..).unwrap_or_default();
    if let Some(entry) = after.iter().find(|entry| !is_manual(entry) || has_vote(entry)) {
        anyhow::bail!("the agent went on: {entry}");
    }
    let mut figures = Figures::new();
    figures.insert("entries_before".into(), json!(foreign));
    figures.insert("entries_with_hands_off".into(), json!(after.len()));
    Ok(figures)
}

fn is_manual(entry: &Value) -> bool {
    entry.pointer("/domains/0/decision/reason").is_some_and(|reason| reason == "manual")
}

fn has_vote(entry: &Value) -> bool {
    entry.pointer("/domains/0/vote").is_some_and(|vote| !vote.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_domain_is_recognised() {
        let entry = |reason: &str| json!({ "domains": [{ "decision": { "level": null, "reason": reason }, "vote": null }] });
        assert!(is_manual(&entry("manual")) && !has_vote(&entry("manual")));
        assert!(!is_manual(&entry("policy")));
    }
}
