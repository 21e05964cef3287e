//! The search for tunables on the model.

use super::collect::{Todo, Work, collect};
use super::prepared::{Prepared, Sources};
use super::rig::Rig;
use super::simulated::SimulatedRig;
use crate::experiment::search::{Measured, Score, Setting, Vary, candidates, rounds, subject};
use crate::experiment::{
    Agenda, Better, Compare, From, Judging, Limits, Line, Measure, ModelMeasure, Place,
    Rig as Disturbed, Workload, WorkloadKind, plan,
};
use anyhow::{Context, bail};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is searched for, and on what.
#[derive(Clone, Debug)]
pub struct Search {
    /// The policy.
    pub policy: String,
    /// Its preset, over which the tunables vary.
    pub preset: Option<String>,
    /// The tunables that vary.
    pub varies: Vec<Vary>,
    /// The board.
    pub board: String,
    /// Scenarios that candidates are judged on.
    pub scenarios: Vec<String>,
    /// Scenarios that no choice sees.
    pub held_out: Vec<String>,
    /// Candidates at the beginning.
    pub candidates: usize,
    /// Candidates that are reported.
    pub keep: usize,
    /// Blocks of the first round.
    pub blocks: u32,
    /// The most throughput that may be lost on any scenario, in percent.
    pub most_loss_pct: f64,
    /// Distance of the ticks.
    pub period_us: u64,
    /// What everything is drawn from.
    pub seed: u64,
    /// Runs at a time.
    pub jobs: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The policy as it comes.
    pub default: Tried,
    /// The best settings, best first by the scenarios alone.
    pub best: Vec<Tried>,
    /// Settings that were tried.
    pub candidates: usize,
    /// Runs that it took.
    pub runs: usize,
}

/// A setting and how good it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The tunables; none for the policy as it comes.
    pub set: Setting,
    /// On the scenarios that chose it.
    pub scenarios: Score,
    /// On those that it had never seen; `None` without any.
    pub held_out: Option<Score>,
}

/// The name of the highest levels among the subjects.
const TOP: &str = "highest levels";
/// The name of the policy as it comes.
const DEFAULT: &str = "default";

/// Searches. `told` hears of each round.
///
/// # Errors
/// When something that is named is not there, or `stop` was set.
pub fn search(
    search: &Search,
    sources: &dyn Sources,
    stop: &Arc<AtomicBool>,
    told: &mut dyn FnMut(&str),
) -> anyhow::Result<Found> {
    let mut left: Vec<(String, Setting)> =
        candidates(&search.varies, search.candidates, search.seed)
            .into_iter()
            .enumerate()
            .map(|(number, set)| (format!("candidate {number}"), set))
            .collect();
    let tried = left.len();
    let mut runs = 0;
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let rounds = rounds(tried, search.keep, search.blocks);
    for (number, round) in rounds.iter().enumerate() {
        left.truncate(round.candidates);
        told(&format!(
            "round {} of {}: {} candidates, {} block(s) on each of {} scenarios",
            number + 1,
            rounds.len(),
            left.len(),
            round.blocks,
            search.scenarios.len()
        ));
        let lines = measure(search, &left, &search.scenarios, round.blocks, sources, stop)?;
        runs += lines.len();
        scores = scored(&lines, &left, &search.scenarios);
        let rank = |name: &String| scores.get(name).copied().unwrap_or(WORST);
        left.sort_by(|a, b| rank(&a.0).compare(&rank(&b.0), search.most_loss_pct));
    }
    let mut held = BTreeMap::new();
    if !search.held_out.is_empty() {
        let blocks = rounds.last().map_or(1, |round| round.blocks);
        let lines = measure(search, &left, &search.held_out, blocks, sources, stop)?;
        runs += lines.len();
        held = scored(&lines, &left, &search.held_out);
    }
    let tried_as = |name: &str, set: &Setting| -> anyhow::Result<Tried> {
        let scenarios = scores.get(name).copied();
        Ok(Tried {
            set: set.clone(),
            scenarios: scenarios.with_context(|| format!("{name} {set:?} gave no measures"))?,
            held_out: held.get(name).copied(),
        })
    };
    Ok(Found {
        default: tried_as(DEFAULT, &Setting::new())?,
        best: left.iter().map(|(name, set)| tried_as(name, set)).collect::<Result<_, _>>()?,
        candidates: tried,
        runs,
    })
}

const WORST: Score = Score { loss_pct: f64::INFINITY, votes_pct: f64::INFINITY };

/// Runs all that are left, the default and the highest levels.
fn measure(
    search: &Search,
    left: &[(String, Setting)],
    scenarios: &[String],
    blocks: u32,
    sources: &dyn Sources,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Vec<Line>> {
    let agenda = Arc::new(agenda(search, left, scenarios, blocks, sources)?);
    let prepared = Arc::new(Prepared::new(&agenda, sources)?);
    let blocks = plan(&agenda);
    let planned = blocks.len();
    let todo: Vec<Todo> =
        blocks.into_iter().enumerate().map(|(at, block)| Todo { block, at, attempt: 0 }).collect();
    let rig = || SimulatedRig::new(agenda.clone(), prepared.clone(), stop.clone()).untraced();
    let hands = search.jobs.min(todo.len()).max(1);
    let rigs = (0..hands).map(|_| Box::new(rig()) as Box<dyn Rig + Send>).collect();
    let cannot = BTreeMap::new();
    let work = Work { agenda: &agenda, planned, cannot: &cannot, runs: Path::new(""), stop };
    let mut lines = Vec::new();
    collect(work, &todo, rigs, &mut |line| {
        lines.push(line);
        Ok(())
    })?;
    if stop.load(Ordering::Relaxed) {
        bail!("interrupted");
    }
    Ok(lines)
}

fn agenda(
    search: &Search,
    left: &[(String, Setting)],
    scenarios: &[String],
    blocks: u32,
    sources: &dyn Sources,
) -> anyhow::Result<Agenda> {
    let preset = search.preset.as_deref();
    let mut subjects = vec![
        subject(TOP, "performance", None, &Setting::new()),
        subject(DEFAULT, &search.policy, preset, &Setting::new()),
    ];
    subjects.extend(left.iter().map(|(name, set)| subject(name, &search.policy, preset, set)));
    let workload = |traffic: &String| Workload {
        name: traffic.clone(),
        kind: WorkloadKind::Simulated { traffic: traffic.clone(), duration_ms: None },
    };
    let board = sources.board(&search.board)?;
    let mut measures = vec![model(ModelMeasure::ThroughputKbps, None)];
    let governed = board.domains.iter().map(|domain| domain.name.clone());
    measures.extend(governed.map(|name| model(ModelMeasure::VoteIntegralKbpsS, Some(name))));
    Ok(Agenda {
        name: "tune".to_owned(),
        what: String::new(),
        seed: search.seed,
        blocks,
        place: Place::Simulator,
        board: Some(search.board.clone()),
        period_us: search.period_us,
        settle_ms: 100,
        max_retries: 0,
        judging: Judging { confidence_pct: 95.0, smallest_effect_pct: 1.0 },
        rig: Disturbed::default(),
        limits: Limits::default(),
        subjects,
        workloads: scenarios.iter().map(workload).collect(),
        measures,
    })
}

fn model(what: ModelMeasure, domain: Option<String>) -> Measure {
    Measure {
        name: domain.clone().map_or_else(|| RATE.to_owned(), |name| format!("{VOTES}{name}")),
        unit: what.unit().to_owned(),
        from: From::Model { what, domain },
        better: Better::Higher,
        primary: true,
        compare: Compare::Ratio { smallest_effect_pct: 1.0 },
    }
}

const RATE: &str = "throughput";
const VOTES: &str = "votes of ";

/// The score of everything that was measured, by name.
fn scored(
    lines: &[Line],
    left: &[(String, Setting)],
    scenarios: &[String],
) -> BTreeMap<String, Score> {
    let names = left.iter().map(|(name, _)| name.as_str()).chain([DEFAULT]);
    let score = |name: &str| {
        let measured: Option<Vec<Measured>> = scenarios
            .iter()
            .map(|scenario| {
                let (throughput, votes) = means(lines, scenario, name)?;
                let (top_throughput, top_votes) = means(lines, scenario, TOP)?;
                Some(Measured { throughput, votes, top_throughput, top_votes })
            })
            .collect();
        Score::of(&measured?)
    };
    names.filter_map(|name| Some((name.to_owned(), score(name)?))).collect()
}

/// Mean throughput and mean of the votes of all domains together, over the blocks.
fn means(lines: &[Line], scenario: &str, subject: &str) -> Option<(f64, f64)> {
    let of = lines.iter().filter(|line| line.workload == scenario && line.subject == subject);
    let (mut count, mut rate, mut votes) = (0.0, 0.0, 0.0);
    for line in of {
        count += 1.0;
        rate += line.measures.get(RATE)?;
        votes += line
            .measures
            .iter()
            .filter(|(name, _)| name.starts_with(VOTES))
            .map(|(_, value)| value)
            .sum::<f64>();
    }
    (count > 0.0).then(|| (rate / count, votes / count))
}
