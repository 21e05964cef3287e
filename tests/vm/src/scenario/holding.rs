//! Holding: the agent governs by interconnect votes, placed through our kernel module, and reads the
//! block through the module's UIO device. However it ends, its vote goes with it.

use super::journal::{self, Journal};
use super::killed::restore;
use super::recorded::Recording;
use super::rules;
use crate::agent::Agent;
use crate::machine::{self, Snapshot};
use crate::player::{self, Wire};
use crate::registers::MONITOR;
use crate::tracefs::Line;
use crate::verdict::Figures;
use crate::vote::{self, Votes};
use crate::{interconnect, modules, wait};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
/// Rounds of traffic: more than will be played.
const ROUNDS: u32 = 1000;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    modules::insert("bwmon_vote.ko")?;
    let before = Snapshot::without_votes()?;
    let mut figures = Figures::new();
    doctor()?;
    govern(&mut figures)?;
    must_be_as_before(&before)?;
    killed(&mut figures)?;
    must_be_as_before(&before)?;
    unbound_in_mid_run(&mut figures)?;
    must_be_as_before(&before)?;
    Ok(figures)
}

/// Drivers are where they were, and no vote is left.
pub(super) fn must_be_as_before(before: &Snapshot) -> Result<()> {
    Snapshot::without_votes()?.must_equal(before)?;
    ensure!(!vote::is_bound(), "the module still has the monitor");
    // The kernel's driver begins without a vote; without it the path is nobody's.
    if interconnect::knows(MONITOR)? {
        must_be_free()?;
    }
    Ok(())
}

fn must_be_free() -> Result<()> {
    let left = vote::in_force()?;
    ensure!(left == (0, 0), "a vote is left: {left:?}");
    Ok(())
}

/// `bwmon doctor` lists the way and finds the machine fit.
fn doctor() -> Result<()> {
    let mut doctor =
        Agent::bwmon("holding-doctor", &["doctor", "--board", rules::BOARD_VOTE, "--json"])?;
    doctor.must_succeed(PATIENCE)?;
    let report: Value = serde_json::from_str(&doctor.stdout()?).context("doctor's report")?;
    let rows = report.get("capabilities").and_then(Value::as_array).context("capabilities")?;
    for (name, how) in [
        ("vote path of ddr", "vote device 7fe00000.pmu path ddr"),
        ("kernel module bwmon_vote", "loaded; it has no device"),
    ] {
        let row = rows.iter().find(|row| row.get("name") == Some(&json!(name)));
        let row = row.with_context(|| format!("doctor says nothing of {name}"))?;
        let said = row.get("how").and_then(Value::as_str).unwrap_or_default();
        ensure!(row.get("present") == Some(&json!(true)) && said.starts_with(how), "{row}");
    }
    Ok(())
}

fn start(name: &str, journal: &str) -> Result<Agent> {
    start_with(name, journal, &["--period-us", "20000"])
}

/// Starts an agent that votes through the module, with these words for its pace.
pub(super) fn start_with(name: &str, journal: &str, pace: &[&str]) -> Result<Agent> {
    let words = ["run", "--board", rules::BOARD_VOTE, "--policy", rules::SCRIPT];
    let output = ["--journal", journal, "--json"];
    let words = [&words, pace, &output].concat();
    let mut agent = Agent::bwmon(name, &words)?;
    wait::until("the agent to govern", PATIENCE, || {
        agent.must_be_running()?;
        Ok((journal::lines_so_far(journal) > 0).then_some(()))
    })?;
    ensure!(vote::is_bound() && !machine::driver_is_bound(), "the module should have the monitor");
    Ok(agent)
}

/// A run to its end: the votes of the journal are the votes of the framework, one by one.
fn govern(figures: &mut Figures) -> Result<()> {
    const JOURNAL: &str = "/run/holding.jsonl";
    let recording = Recording::start("holding")?;
    let mut agent = start("holding", JOURNAL)?;
    let mut player = player::start(1, Wire::Cut)?;
    let mut seen = BTreeSet::new();
    wait::until("the traffic to end", PATIENCE, || {
        agent.must_be_running()?;
        // At one node: a look at both may fall between them.
        seen.insert(interconnect::vote_of(MONITOR, &["A53"])?);
        Ok(player.has_ended()?.then_some(()))
    })?;
    player.must_succeed(PATIENCE)?;
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    let truth = recording.truth()?;
    recording.finish()?;
    Agent::bwmon("holding-verify", &["replay", "--verify", JOURNAL])?.must_succeed(PATIENCE)?;

    let table = rules::board()?.domains.first().context("no domain")?.table.clone();
    let levels: Vec<u64> = table.kbps().iter().map(|kbps| kbps.0).collect();
    let strange = seen.iter().find(|(avg, peak)| *avg != 0 || !levels.contains(peak));
    ensure!(strange.is_none(), "in force while it ran: {strange:?}");
    ensure!(seen.len() >= 6, "the votes do not follow the traffic: {seen:?}");

    let journal = Journal::read(JOURNAL)?;
    let mut wanted = vec![*levels.last().context("no level")?];
    for entry in journal.entries() {
        let Some(vote) = journal::changed_vote(entry) else { continue };
        ensure!(journal::answer(entry) == Some("placed"), "a failed vote: {entry}");
        wanted.push(vote.get("peak_kBps").and_then(Value::as_u64).context("no peak")?);
    }
    let placed = placed(&truth)?;
    ensure!(placed == wanted, "the journal says {wanted:?}, the kernel placed {placed:?}");
    let polled = journal.entries().iter().filter(|e| journal::reading(e, "polled").is_some());
    figures.insert("ticks".into(), json!(journal.entries().len()));
    figures.insert("readings".into(), json!(polled.count()));
    figures.insert("votes".into(), json!(wanted.len()));
    figures.insert("levels_seen_in_force".into(), json!(seen.len()));
    Ok(())
}

/// The peaks that were voted for the monitor's path, in their order; taking a vote off is none.
fn placed(truth: &[Line]) -> Result<Vec<u64>> {
    let mut peaks = Vec::new();
    for line in truth.iter().filter(|line| line.event == "icc_set_bw") {
        if line.text("dev")? == MONITOR && line.text("node")? == "A53" {
            peaks.push(line.number("peak_bw")?);
        }
    }
    peaks.retain(|peak| *peak > 0);
    Ok(peaks)
}

/// Killed in the middle: the vote is gone at once, before anybody restores anything; the binding is
/// put back by `bwmon restore`.
fn killed(figures: &mut Figures) -> Result<()> {
    const JOURNAL: &str = "/run/holding-killed.jsonl";
    let mut agent = start("holding-killed", JOURNAL)?;
    let mut player = player::start(ROUNDS, Wire::Cut)?;
    wait::until("the agent to be in the middle of it", PATIENCE, || {
        agent.must_be_running()?;
        Ok((journal::lines_so_far(JOURNAL) >= 30).then_some(()))
    })?;
    ensure!(vote::in_force()?.1 > 0, "the agent holds no vote");
    agent.signal(Signal::KILL)?;
    agent.wait(PATIENCE)?;
    wait::until("the killed agent's vote to go", PATIENCE, || {
        Ok((vote::in_force()? == (0, 0)).then_some(()))
    })?;
    ensure!(vote::is_bound(), "nothing was left to be put back");
    player.signal(Signal::KILL)?;
    player.wait(PATIENCE)?;
    figures.insert("put_back_after_a_kill".into(), json!(restore("holding-restore")?));
    Ok(())
}

/// An administrator takes the device away from the module while the agent governs: the domain is
/// gone, the monitor too, and the agent ends in good order.
fn unbound_in_mid_run(figures: &mut Figures) -> Result<()> {
    const JOURNAL: &str = "/run/holding-unbound.jsonl";
    let mut agent = start("holding-unbound", JOURNAL)?;
    let other = Votes::open()?;
    other.vote("ddr", 0, 1)?;
    vote::unbind()?;
    wait::until("the agent to see that its device is gone", PATIENCE, || {
        agent.must_be_running()?;
        let journal = Journal::so_far(JOURNAL)?;
        Ok(journal.entries().iter().any(|e| journal::answer(e) == Some("gone")).then_some(()))
    })?;
    ensure!(!interconnect::knows(MONITOR)?, "a vote outlived its device");
    let ticks = journal::lines_so_far(JOURNAL);
    wait::until("the agent to go on", PATIENCE, || {
        agent.must_be_running()?;
        Ok((journal::lines_so_far(JOURNAL) > ticks + 5).then_some(()))
    })?;
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    let last = Journal::read(JOURNAL)?;
    let last = last.entries().last().context("an empty journal")?;
    let missing = journal::reading(last, "missing").and_then(Value::as_str);
    ensure!(missing == Some("absent"), "the last reading: {last}");
    figures.insert("ticks_before_the_unbind".into(), json!(ticks));
    Ok(())
}
