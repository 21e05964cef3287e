//! Yielding: somebody else takes the vote path while the agent governs, once by the governor and
//! once by the frequency; the agent keeps its hands off from then on, says who it was where a probe
//! saw it, and still gives the rest back.

use super::governing::{must_be_as_before, prepare, start_agent};
use super::journal::{self, Journal};
use crate::machine;
use crate::player::{self, Wire};
use crate::verdict::Figures;
use crate::wait;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// What the administrator chooses: the governor of before the agent.
const THEIRS: &str = "simple_ondemand";
/// Rounds of traffic: more than will be played.
const ROUNDS: u32 = 1000;
/// Entries for which the agent has to keep its hands off.
const MEANWHILE: usize = 60;
/// The agent looks at an unchanged vote once a second.
const AGENTS_LOOK: Duration = Duration::from_millis(1500);

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let mut figures = Figures::new();
    yield_to("governor", take_governor, &mut figures)?;
    yield_to("set_freq", take_frequency, &mut figures)?;
    Ok(figures)
}

/// Lets an agent govern until `take` has taken the path by writing `file`.
fn yield_to(file: &str, take: fn(&str) -> Result<()>, figures: &mut Figures) -> Result<()> {
    let journal = format!("/run/yielding-{file}.jsonl");
    let before = prepare()?;
    let mut agent = start_agent(&format!("yielding-{file}"), &journal)?;
    let mut player = player::start(ROUNDS, Wire::Cut)?;
    wait::until("the agent to vote", PATIENCE, || {
        agent.must_be_running()?;
        Ok(Journal::so_far(&journal)?
            .entries()
            .iter()
            .any(|e| journal::changed_vote(e).is_some())
            .then_some(()))
    })?;
    take(&journal)?;
    wait::until("the agent to keep its hands off for a while", PATIENCE, || {
        agent.must_be_running()?;
        let entries = Journal::so_far(&journal)?;
        Ok((entries.entries().iter().filter(|e| is_manual(e)).count() >= MEANWHILE).then_some(()))
    })?;
    let governor = machine::read(&machine::devfreq("governor"))?;
    let left = if file == "governor" { THEIRS } else { "userspace" };
    ensure!(governor == left, "the agent changed the governor: {governor}");
    player.signal(Signal::KILL)?;
    player.wait(PATIENCE)?;
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    // What is theirs stays theirs; after the governor of before, nothing is left to tell.
    std::fs::write(machine::devfreq("governor"), THEIRS).context("write the governor")?;
    must_be_as_before(&before)?;
    let found = judge(&Journal::read(&journal)?)?;
    let said = agent.stderr()?;
    let line = news(&said).context("the agent did not say that the domain is manual")?;
    if file == "set_freq" {
        let us = machine::read(Path::new("/proc/self/comm"))?;
        let us = format!(" (by {us}[{}])", std::process::id());
        ensure!(line.ends_with(&us), "not told that it was{us}: {line}");
    }
    for (name, figure) in found {
        figures.insert(format!("{file}_{name}"), figure);
    }
    figures.insert(format!("{file}_said"), json!(line));
    Ok(())
}

fn take_governor(_: &str) -> Result<()> {
    std::fs::write(machine::devfreq("governor"), THEIRS).context("write the governor")
}

/// Chooses another frequency than the agent's, one that the fixed clock does not run at. Tried
/// again where the agent's next vote came right after it.
fn take_frequency(journal: &str) -> Result<()> {
    let file = machine::devfreq("userspace/set_freq");
    let listed = machine::read(&machine::devfreq("available_frequencies"))?;
    wait::until("the agent to find another frequency", PATIENCE, || {
        let ours = machine::read(&file)?;
        let theirs = listed.split_whitespace().find(|freq| *freq != ours);
        std::fs::write(&file, theirs.context("only one frequency")?).context("write set_freq")?;
        std::thread::sleep(AGENTS_LOOK);
        Ok(Journal::so_far(journal)?.entries().iter().any(is_manual).then_some(()))
    })
}

/// The agent's line about a manual domain.
fn news(said: &str) -> Option<&str> {
    said.lines().find(|line| line.contains(" is manual from now on: "))
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
    fn the_line_about_a_manual_domain_is_found() {
        let line = "domain ddr is manual from now on: devfreq x: set_freq is now 1, we wrote 2";
        assert_eq!(news(&format!("domain ddr: vote path\n{line}\n")), Some(line));
        assert_eq!(news("domain ddr: vote path"), None);
    }

    #[test]
    fn a_manual_domain_is_recognised() {
        let entry = |reason: &str| json!({ "domains": [{ "decision": { "level": null, "reason": reason }, "vote": null }] });
        assert!(is_manual(&entry("manual")) && !has_vote(&entry("manual")));
        assert!(!is_manual(&entry("policy")));
    }
}
