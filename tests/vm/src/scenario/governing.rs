//! Governing: the agent takes the block from the kernel's driver, reads its registers, votes
//! through devfreq, and leaves the machine as it was.

use super::journal::{self, Journal};
use super::recorded::{Recorded, Recording};
use super::rules;
use crate::agent::Agent;
use crate::machine::{self, Snapshot};
use crate::player::{self, Wire};
use crate::registers::{BASE, BYTES, DEVFREQ};
use crate::verdict::Figures;
use crate::{physmem, wait};
use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const JOURNAL: &str = "/run/governing.jsonl";
/// What the agent may have resident while it governs; loading the probes takes more for a moment.
const MEMORY_KB: u64 = 12 * 1024;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let can_govern = doctor()?;
    let before = prepare()?;
    let recording = Recording::start("governing")?;
    let mut agent = start_agent("governing", JOURNAL)?;
    let mut player = player::start(2, Wire::Cut)?;
    player.must_succeed(PATIENCE)?;
    agent.must_be_running()?;
    let mut figures = Figures::new();
    for name in ["VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem"] {
        figures.insert(format!("agent_{name}_kB"), json!(agent.memory_kb(name)?));
    }
    let resident_kb = agent.memory_kb("VmRSS")?;
    ensure!(resident_kb < MEMORY_KB, "the agent is too large: {figures:?}");
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    let recorded = recording.finish()?;
    must_be_as_before(&before)?;
    Agent::bwmon("verify", &["replay", "--verify", JOURNAL])?.must_succeed(PATIENCE)?;

    figures.insert("can_govern".into(), json!(can_govern));
    judge(&Journal::read(JOURNAL)?, &mut figures)?;
    judge_votes(&Journal::read(JOURNAL)?, &recorded, &mut figures)?;
    let summary: Value = serde_json::from_str(&agent.stdout()?).context("summary")?;
    for name in ["missed", "faults", "refused", "lost_events", "restored"] {
        figures.insert(name.into(), summary.get(name).cloned().unwrap_or_default());
    }
    ensure!(summary.get("faults") == Some(&json!(0)), "policy faults: {summary}");
    ensure!(summary.get("refused") == Some(&json!(0)), "refused votes: {summary}");
    Ok(figures)
}

/// `bwmon doctor` finds everything that governing needs, beforehand.
fn doctor() -> Result<bool> {
    let mut doctor = Agent::bwmon("doctor", &["doctor", "--board", rules::BOARD, "--json"])?;
    doctor.must_succeed(PATIENCE)?;
    let report: Value = serde_json::from_str(&doctor.stdout()?).context("doctor's report")?;
    let can_govern = report.get("can_govern") == Some(&json!(true));
    ensure!(can_govern, "doctor says that this machine cannot be governed: {report}");
    Ok(can_govern)
}

/// A governor that the agent has to change, and proof that the driver really holds the block.
pub(super) fn prepare() -> Result<Snapshot> {
    must_be_claimed()?;
    let governor = machine::devfreq("governor");
    std::fs::write(&governor, "simple_ondemand").context("choose a governor")?;
    Snapshot::take()
}

/// Starts an agent and waits until it has the block and its loop runs.
pub(super) fn start_agent(name: &str, journal: &str) -> Result<Agent> {
    // Five windows a tick: the player needs a while to notice that the counters were cleared.
    let words = ["run", "--board", rules::BOARD, "--policy", rules::SCRIPT, "--period-us", "20000"];
    let words: Vec<&str> = words.into_iter().chain(["--journal", journal, "--json"]).collect();
    let mut agent = Agent::bwmon(name, &words)?;
    wait::until("the agent to govern", PATIENCE, || {
        agent.must_be_running()?;
        Ok((journal::lines_so_far(journal) > 0).then_some(()))
    })?;
    ensure!(!machine::driver_is_bound(), "the agent governs beside the kernel's driver");
    Ok(agent)
}

/// Governor, limits and driver are what they were, and the page is the driver's again.
pub(super) fn must_be_as_before(before: &Snapshot) -> Result<()> {
    Snapshot::take()?.must_equal(before)?;
    must_be_claimed()
}

fn must_be_claimed() -> Result<()> {
    match physmem::Window::map(BASE, BYTES) {
        Err(Errno::PERM) => Ok(()),
        Err(error) => bail!("mapping the driver's registers failed with {error}, not EPERM"),
        Ok(_) => bail!("the driver's registers can be mapped while it is bound"),
    }
}

/// The journal holds real readings and decisions that follow the traffic.
fn judge(journal: &Journal, figures: &mut Figures) -> Result<()> {
    let entries = journal.entries();
    let readings = entries.iter().filter(|entry| journal::reading(entry, "polled").is_some());
    let levels: BTreeSet<u64> = entries.iter().filter_map(journal::decided).collect();
    let saturated = entries.iter().filter_map(|entry| journal::reading(entry, "polled"));
    let saturated = saturated.filter(|reading| peak(reading) == Some(0xfff)).count();
    figures.insert("ticks".into(), json!(entries.len()));
    figures.insert("readings".into(), json!(readings.clone().count()));
    figures.insert("saturated_readings".into(), json!(saturated));
    figures.insert("levels_decided".into(), json!(levels.len()));
    ensure!(readings.count() >= 50, "hardly any readings: {figures:?}");
    ensure!(saturated > 0, "the full register was never read: {figures:?}");
    ensure!(levels.len() >= 6, "the decisions do not follow the traffic: {figures:?}");
    Ok(())
}

fn peak(reading: &Value) -> Option<u64> {
    reading.get("zone_max")?.as_array()?.iter().filter_map(Value::as_u64).max()
}

/// Every vote that devfreq could act on is an event that the probes saw, in the same order.
fn judge_votes(journal: &Journal, recorded: &Recorded, figures: &mut Figures) -> Result<()> {
    let board = rules::board()?;
    let path = board.domains.first().and_then(|d| d.devfreq.as_ref()).context("no devfreq")?;
    let mut votes = Vec::new();
    let mut not_honoured = 0;
    for entry in journal.entries() {
        let Some(vote) = journal::changed_vote(entry) else { continue };
        let level = vote.get("level").and_then(Value::as_u64).context("no level")?;
        let hz = path.freq_hz.get(usize::try_from(level)?).context("no frequency")?.0;
        let answer = journal::answer(entry);
        ensure!(matches!(answer, Some("placed" | "not_honoured")), "a failed vote: {entry}");
        not_honoured += u64::from(answer == Some("not_honoured"));
        votes.push(hz);
    }
    let seen = recorded.records.iter().filter(|r| r.get("event") == Some(&json!(DEVFREQ_EVENT)));
    let seen = seen.filter(|record| record.get("dev") == Some(&json!(DEVFREQ)));
    let seen: Vec<u64> = seen.filter_map(|r| r.get("freq_hz").and_then(Value::as_u64)).collect();
    // The clock is fixed at the highest frequency: a vote for it changes nothing.
    let acted: Vec<u64> =
        votes.iter().copied().filter(|hz| Some(hz) < path.freq_hz.last().map(|f| &f.0)).collect();
    ensure!(is_subsequence(&acted, &seen), "voted {acted:?}, the probes saw {seen:?}");
    figures.insert("votes".into(), json!(votes.len()));
    figures.insert("votes_not_honoured".into(), json!(not_honoured));
    figures.insert("votes_seen_by_probes".into(), json!(acted.len()));
    figures.insert("devfreq_frequency".into(), json!(seen.len()));
    Ok(())
}

const DEVFREQ_EVENT: &str = "devfreq_frequency";

fn is_subsequence(wanted: &[u64], all: &[u64]) -> bool {
    let mut rest = all.iter();
    wanted.iter().all(|value| rest.any(|other| other == value))
}

#[cfg(test)]
mod tests {
    use super::is_subsequence;

    #[test]
    fn a_subsequence_keeps_the_order() {
        assert!(is_subsequence(&[1, 3], &[1, 2, 3]));
        assert!(!is_subsequence(&[3, 1], &[1, 2, 3]));
        assert!(!is_subsequence(&[1, 1], &[1]));
    }
}
