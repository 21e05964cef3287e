//! Waking: the block's interrupt wakes the agent, through our kernel module; between interrupts it
//! sleeps, but for a heartbeat.

use super::holding::{must_be_as_before, start_with};
use super::journal::{self, Journal};
use super::killed::restore;
use super::rules;
use crate::agent::Agent;
use crate::machine::{self, Snapshot};
use crate::player::{self, Wire};
use crate::verdict::Figures;
use crate::{modules, vote, wait};
use anyhow::{Context, Result, bail, ensure};
use bwmon_user::board::{Board, Level, OppTable};
use bwmon_user::bwmon::COUNT_MAX;
use bwmon_user::units::Kbps;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const JOURNAL: &str = "/run/waking.jsonl";
/// The agent's heartbeat.
const HEARTBEAT_MS: usize = 400;
/// Nothing goes on for this long at the end.
const IDLE_MS: usize = 3_200;
/// Rounds of traffic: more than will be played.
const ROUNDS: u32 = 1000;

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    modules::insert("bwmon_vote.ko")?;
    let before = Snapshot::without_votes()?;
    let mut figures = Figures::new();
    govern(&mut figures)?;
    must_be_as_before(&before)?;
    silenced_after_a_kill(&mut figures)?;
    must_be_as_before(&before)?;
    Ok(figures)
}

/// A round of traffic, then idleness.
fn govern(figures: &mut Figures) -> Result<()> {
    let mut agent = start("waking", JOURNAL)?;
    let mut player = player::start(1, Wire::Connected)?;
    player.must_succeed(PATIENCE)?;
    let raised = player::interrupts(&player)?;
    figures.insert("ticks_while_busy".into(), json!(journal::lines_so_far(JOURNAL)));
    figures.insert("ticks_while_idle".into(), json!(idle(&mut agent)?));
    figures.insert("idle_ms".into(), json!(IDLE_MS));
    agent.signal(Signal::INT)?;
    agent.must_succeed(PATIENCE)?;
    Agent::bwmon("waking-verify", &["replay", "--verify", JOURNAL])?.must_succeed(PATIENCE)?;
    let journal = Journal::read(JOURNAL)?;
    let brought = journal.entries().iter().filter(|e| journal::reading(e, "interrupt").is_some());
    let brought = brought.count() as u64;
    figures.insert("interrupts_raised".into(), json!(raised));
    // An interrupt that comes while a heartbeat decides is cleared by it; its event brings a tick
    // that is too early for a reading.
    let early = journal.entries().iter().filter(|entry| {
        journal::reading(entry, "missing").is_some_and(|why| why == "no_whole_window")
    });
    ensure!(
        brought <= raised && raised - brought <= early.count() as u64,
        "{raised} interrupts, {brought} in the journal"
    );
    judge_answers(&journal, figures)?;
    let summary: Value = serde_json::from_str(&agent.stdout()?).context("summary")?;
    let wakes = summary.get("wakes").and_then(Value::as_u64).context("no wakes in the summary")?;
    ensure!(wakes > 0 && wakes <= journal.entries().len() as u64, "{wakes} wakes");
    figures.insert("wakes".into(), json!(wakes));
    Ok(())
}

fn start(name: &str, journal: &str) -> Result<Agent> {
    let heartbeat = HEARTBEAT_MS.to_string();
    let agent = start_with(name, journal, &["--interrupts", "--heartbeat-ms", &heartbeat])?;
    let said = agent.stderr()?;
    ensure!(!said.contains("polled, not woken"), "the agent polls: {said}");
    Ok(agent)
}

/// Ticks in a stretch in which nothing happens: the heartbeat's alone.
fn idle(agent: &mut Agent) -> Result<usize> {
    wait::until("the votes to come to rest at the lowest level", PATIENCE, || {
        let journal = Journal::so_far(JOURNAL)?;
        let last = journal.entries().last().and_then(journal::decided);
        Ok((last == Some(0)).then_some(()))
    })?;
    let (start, before) = (Instant::now(), journal::lines_so_far(JOURNAL));
    wait::until("a stretch of idleness", PATIENCE, || {
        agent.must_be_running()?;
        Ok((start.elapsed().as_millis() as usize >= IDLE_MS).then_some(()))
    })?;
    let ticks = journal::lines_so_far(JOURNAL) - before;
    // A tick for each heartbeat, and one or two more for where the stretch began.
    let most = IDLE_MS / HEARTBEAT_MS + 2;
    ensure!(ticks <= most, "{ticks} ticks in {IDLE_MS} ms of idleness, {most} at most");
    // And it lives: a heartbeat that stands still would be quieter yet.
    ensure!(ticks >= most / 2, "{ticks} ticks in {IDLE_MS} ms: where is the heartbeat?");
    Ok(ticks)
}

/// Every interrupt is answered in its own tick: the level is the one that carries what the zone
/// counted.
fn judge_answers(journal: &Journal, figures: &mut Figures) -> Result<()> {
    let board = rules::board()?;
    let table = board.domains.first().context("no domain")?.table.clone();
    let mut level = table.top();
    let (mut up, mut down) = (0, 0);
    for entry in journal.entries() {
        let decided = Level(usize::try_from(journal::decided(entry).context("no decision")?)?);
        if let Some(reading) = journal::reading(entry, "interrupt") {
            let (zone, peak) = interrupt(&board, reading)?;
            let wanted = table.ceil(peak);
            ensure!(decided == wanted, "{peak} kBps wants level {wanted}: {entry}");
            match zone {
                3 => up += u32::from(must_rise(&table, level, peak, entry)?),
                1 => down += 1,
                other => bail!("zone {other} does not interrupt: {entry}"),
            }
        }
        level = decided;
    }
    figures.insert("raised_in_the_tick_of_the_interrupt".into(), json!(up));
    figures.insert("interrupts_in_zone_1".into(), json!(down));
    ensure!(up >= 5 && down >= 3, "hardly any interrupts: {figures:?}");
    Ok(())
}

/// Zone 3 interrupts above the level in force: the vote goes up on that very tick.
fn must_rise(table: &OppTable, level: Level, peak: Kbps, entry: &Value) -> Result<bool> {
    // A count at the threshold is in zone 3 and may still lie within the level.
    if peak <= table.kbps_of(level) || level == table.top() {
        return Ok(false);
    }
    ensure!(journal::changed_vote(entry).is_some(), "no vote on this tick: {entry}");
    ensure!(journal::answer(entry) == Some("placed"), "the vote was not placed: {entry}");
    Ok(true)
}

/// The zone that interrupted, and the bandwidth of its largest window.
fn interrupt(board: &Board, reading: &Value) -> Result<(u64, Kbps)> {
    let number = |name: &str| {
        let number = reading.get(name).and_then(Value::as_u64);
        number.with_context(|| format!("an interrupt without {name}"))
    };
    let count = u16::try_from(number("max")?)?.min(COUNT_MAX);
    let monitor = board.monitors.first().context("no monitor")?;
    Ok((number("zone")?, monitor.scale.kbps(count)))
}

/// The agent dies with its block armed, and traffic goes on: the block was masked when its file was
/// closed, so the line stays silent.
fn silenced_after_a_kill(figures: &mut Figures) -> Result<()> {
    const KILLED: &str = "/run/waking-killed.jsonl";
    let mut agent = start("waking-killed", KILLED)?;
    let mut player = player::start(ROUNDS, Wire::Connected)?;
    wait::until("the agent to be woken", PATIENCE, || {
        agent.must_be_running()?;
        let journal = Journal::so_far(KILLED)?;
        let woken = |entry: &&Value| journal::reading(entry, "interrupt").is_some();
        Ok((journal.entries().iter().filter(woken).count() >= 3).then_some(()))
    })?;
    agent.signal(Signal::KILL)?;
    agent.wait(PATIENCE)?;
    let (before, start) = (machine::interrupts()?, Instant::now());
    wait::until("traffic without an agent", PATIENCE, || {
        player.must_be_running()?;
        Ok((start.elapsed() >= Duration::from_secs(1)).then_some(()))
    })?;
    // One may have been on its way.
    let after = machine::interrupts()? - before;
    ensure!(after <= 1, "{after} interrupts of a block that nobody owns");
    ensure!(vote::is_bound(), "nothing is left to be put back");
    player.signal(Signal::KILL)?;
    player.wait(PATIENCE)?;
    figures.insert("interrupts_after_a_kill".into(), json!(after));
    restore("waking-restore")?;
    Ok(())
}
