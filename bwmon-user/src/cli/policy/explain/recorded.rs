//! A tick of a journal, walked to with its own policy.

use super::Args;
use super::story::{Context, Story};
use super::watched::Watched;
use crate::cli::common;
use crate::diag::did_you_mean;
use crate::observe::Observation;
use crate::policy::PolicySpec;
use crate::policy::script::Readings;
use crate::replay::until;
use crate::units::Nanos;
use anyhow::bail;

pub(super) fn stories(
    args: &Args,
    tick: Option<u64>,
    at: Option<f64>,
) -> anyhow::Result<Vec<Story>> {
    let (reader, header) = common::journal(&args.what)?;
    let only = args.domain.as_deref().map(|name| domain(&header.board, name)).transpose()?;
    let spec = PolicySpec::from_record(&header.policy);
    let (policy, texts, steps) = Watched::new(spec, &header.board)?;
    let span = seconds(at)?;
    let (mut first, mut last) = (None, None);
    let wanted = |sample: &crate::sample::Sample| {
        let began = *first.get_or_insert(sample.window.end_ns);
        match span {
            Some(span) => sample.window.end_ns.since(began) >= span,
            None => Some(sample.tick) == tick,
        }
    };
    let Some(reached) = until(reader, &header, Box::new(policy), wanted, &mut last)? else {
        let end = last.map_or_else(
            || "it has no entries".to_owned(),
            |sample| format!("its last tick is {}", sample.tick),
        );
        bail!("{} has no such tick; {end}", args.what);
    };
    let all: Vec<Observation> =
        reached.governor.last().iter().map(|tick| tick.observation).collect();
    let mut readings = Readings::new(&header.board)?;
    let steps = steps.borrow();
    let mut stories = Vec::new();
    for (index, tick) in reached.governor.last().iter().enumerate() {
        if only.is_some_and(|only| only != index) {
            continue;
        }
        let answered_by_policy = tick.origin == crate::governor::Origin::Policy;
        let text = texts.get(index).cloned().unwrap_or_default();
        stories.push(Story::new(Context {
            board: &header.board,
            policy: text.name,
            domain: index,
            tick: Some(reached.sample.tick),
            now: tick.observation.now,
            readings: readings.of(&all, index),
            // A policy that is set aside was not asked; its last steps are of another tick.
            steps: match tick.origin {
                crate::governor::Origin::Aside | crate::governor::Origin::Demoted => &[],
                _ => steps.get(index).map_or(&[], Vec::as_slice),
            },
            lines: &text.lines,
            in_force: tick.observation.level,
            origin: tick.origin.clone(),
            proposal: tick.proposal.clone(),
            decision: tick.decision,
            vote: tick.vote,
            applied: reached.applied.get(index).cloned().flatten(),
            by_policy: answered_by_policy,
        }));
    }
    Ok(stories)
}

fn seconds(at: Option<f64>) -> anyhow::Result<Option<Nanos>> {
    match at {
        None => Ok(None),
        Some(at) if at.is_finite() && (0.0..1.0e9).contains(&at) => {
            Ok(Some(Nanos((at * Nanos::PER_S as f64) as u64)))
        }
        Some(at) => bail!("--at {at}: give seconds from the start of the journal"),
    }
}

pub(super) fn domain(board: &crate::board::Board, name: &str) -> anyhow::Result<usize> {
    if let Some(index) = board.domain_index(name) {
        return Ok(index);
    }
    let names = || board.domains.iter().map(|domain| domain.name.as_str());
    match did_you_mean(name, names()) {
        Some(near) => bail!("board {} has no domain {name}; did you mean {near}?", board.id),
        None => bail!(
            "board {} has no domain {name}; it has {}",
            board.id,
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}
