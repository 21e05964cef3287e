//! Watching: the kernel's driver governs real traffic; our probes report all that it does, and a
//! shadow run makes its own decisions from that, writing nothing.

use super::journal::{self, Journal};
use super::recorded::Recording;
use super::rules;
use crate::agent::Agent;
use crate::machine::Snapshot;
use crate::player::{self, Wire};
use crate::tracefs::Line;
use crate::verdict::Figures;
use crate::wait;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const JOURNAL: &str = "/run/shadow.jsonl";
const STATE_DIR: &str = "/run/bwmon";

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = Snapshot::without_votes()?;
    let recording = Recording::start("watching")?;
    let mut shadow = Agent::bwmon(
        "shadow",
        &["run", "--shadow", "--board", rules::BOARD, "--policy", rules::SCRIPT]
            .into_iter()
            .chain(["--journal", JOURNAL, "--json"])
            .collect::<Vec<_>>(),
    )?;
    // The first entry says that the loop runs; the probes are attached before it.
    wait::until("the shadow run to begin", PATIENCE, || {
        shadow.must_be_running()?;
        Ok((journal::lines_so_far(JOURNAL) > 0).then_some(()))
    })?;

    let mut player = player::start(2, Wire::Connected)?;
    player.must_succeed(PATIENCE)?;
    let interrupts = player::interrupts(&player)?;
    wait::until("the driver to come to rest", PATIENCE, || {
        Ok(at_rest(&recording.truth()?, interrupts)?.then_some(()))
    })?;
    wait::until("the shadow run to see the last update", PATIENCE, || {
        Ok((updates(&Journal::so_far(JOURNAL)?) >= interrupts).then_some(()))
    })?;

    shadow.signal(Signal::INT)?;
    shadow.must_succeed(PATIENCE)?;
    let recorded = recording.finish()?;
    Snapshot::without_votes()?.must_equal(&before)?;
    ensure!(!Path::new(STATE_DIR).exists(), "a shadow run left {STATE_DIR} behind");

    let mut figures = Figures::new();
    figures.insert("interrupts".into(), json!(interrupts));
    for (event, count) in recorded.counts {
        figures.insert(event.into(), json!(count));
    }
    figures.insert("lost".into(), json!(0));
    judge_shadow(&shadow, interrupts, &mut figures)?;
    Ok(figures)
}

/// Every interrupt has been answered, and the last answer's vote is done.
fn at_rest(lines: &[Line], interrupts: u64) -> Result<bool> {
    let mut updates = lines.iter().filter(|line| line.event == "qcom_bwmon_update");
    if updates.clone().count() as u64 != interrupts {
        return Ok(false);
    }
    let Some(last) = updates.next_back() else { return Ok(interrupts == 0) };
    let Some(vote) = lines.iter().rposition(|line| line.event == "icc_set_bw") else {
        return Ok(false);
    };
    let voted = lines.get(vote).context("no vote")?.number("peak_bw")?;
    let ended = lines.iter().skip(vote).any(|line| line.event == "icc_set_bw_end");
    Ok(ended && voted + 1 == last.number("up_kbps")?)
}

/// The kernel's updates that a journal holds.
fn updates(journal: &Journal) -> u64 {
    let readings = journal.entries().iter().filter_map(|entry| journal::reading(entry, "kernel"));
    readings.filter_map(|reading| reading.get("updates").and_then(Value::as_u64)).sum()
}

/// The shadow run decided as the kernel did, from the kernel's own updates.
fn judge_shadow(shadow: &Agent, interrupts: u64, figures: &mut Figures) -> Result<()> {
    let journal = Journal::read(JOURNAL)?;
    ensure!(updates(&journal) == interrupts, "{} of {interrupts} updates", updates(&journal));
    let table = rules::board()?.domains.first().context("no domain")?.table.clone();
    let (mut decisions, mut compared) = (0, 0);
    for entry in journal.entries() {
        let Some(reading) = journal::reading(entry, "kernel") else { continue };
        let level = journal::decided(entry).with_context(|| format!("no decision in {entry}"))?;
        decisions += 1;
        // With several updates in one tick the last is what the kernel's vote follows.
        let kernel = reading.get("up_kBps").and_then(Value::as_u64).context("no up_kBps")? - 1;
        let ours = table.kbps_of(bwmon_user::board::Level(usize::try_from(level)?)).0;
        ensure!(ours == kernel, "the kernel chose {kernel}, the shadow run {ours}: {entry}");
        compared += 1;
        let answer = journal::answer(entry);
        ensure!(
            matches!(answer, None | Some("dry_run" | "in_force")),
            "a shadow run wrote: {entry}"
        );
    }
    ensure!(decisions > 0, "the shadow run decided nothing");
    let summary: Value = serde_json::from_str(&shadow.stdout()?).context("summary")?;
    ensure!(summary.get("lost_events") == Some(&json!(0)), "lost events: {summary}");
    figures.insert("shadow_ticks".into(), json!(journal.entries().len()));
    figures.insert("shadow_decisions".into(), json!(decisions));
    figures.insert("shadow_equal_to_kernel".into(), json!(compared));
    Ok(())
}
