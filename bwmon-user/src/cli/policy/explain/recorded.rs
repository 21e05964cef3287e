//! A tick of a journal, walked to with its own policies.

use super::Args;
use super::story::{Context, Story};
use super::watched::{Telling, Watched};
use crate::board::Board;
use crate::cli::common;
use crate::diag::did_you_mean;
use crate::governor::Origin;
use crate::observe::Observation;
use crate::policy::script::Readings;
use crate::policy::{Policy, PolicySpec};
use crate::replay::{Reached, until};
use crate::sample::Sample;
use crate::units::Nanos;
use anyhow::bail;
use std::cell::Cell;
use std::rc::Rc;

pub(super) fn stories(
    args: &Args,
    tick: Option<u64>,
    at: Option<f64>,
) -> anyhow::Result<Vec<Story>> {
    let span = seconds(at)?;
    let (reader, header) = common::journal(&args.what)?;
    let only = args.domain.as_deref().map(|name| domain(&header.board, name)).transpose()?;
    let noting = Rc::new(Cell::new(false));
    let mut tellings: Vec<Telling> = Vec::new();
    let make = |spec: PolicySpec| {
        let (policy, telling) = Watched::new(spec, &header.board, noting.clone())?;
        tellings.push(telling);
        Ok(Box::new(policy) as Box<dyn Policy>)
    };
    let mut first = None;
    let wanted = |sample: &Sample| {
        let began = *first.get_or_insert(sample.window.end_ns);
        let yes = match span {
            Some(span) => sample.window.end_ns.since(began) >= span,
            None => Some(sample.tick) == tick,
        };
        noting.set(yes);
        yes
    };
    let mut last = None;
    let reached = until(reader, &header, make, wanted, &mut last)?;
    let Some(reached) = reached else {
        let end = match (last, first) {
            (Some(last), Some(first)) => format!(
                "its last tick is {}, {:.3} seconds from its first one",
                last.tick,
                last.window.end_ns.since(first).0 as f64 / Nanos::PER_S as f64
            ),
            _ => "it has no entries".to_owned(),
        };
        bail!("{} has no such tick; {end}", args.what);
    };
    let Some(telling) = tellings.get(reached.deciding) else { bail!("no policy decided") };
    let mut readings = Readings::new(&header.board)?;
    let all: Vec<Observation> =
        reached.governor.last().iter().map(|tick| tick.observation).collect();
    let domains = (0..all.len()).filter(|index| only.is_none_or(|only| only == *index));
    let stories = domains.filter_map(|index| {
        let readings = readings.of(&all, index);
        let rails = reached.governor.rails(index)?;
        story(&header.board, &reached, index, readings, rails, telling)
    });
    Ok(stories.collect())
}

fn story(
    board: &Board,
    reached: &Reached,
    index: usize,
    readings: Vec<(&'static str, Option<serde_json::Value>)>,
    rails: &crate::decide::Rails,
    telling: &Telling,
) -> Option<Story> {
    let tick = reached.governor.last().get(index)?;
    let mut told = telling.borrow().get(index).cloned().unwrap_or_default();
    if matches!(tick.origin, Origin::Aside | Origin::Demoted) {
        // It was not asked; its last steps are of another tick.
        (told.steps, told.is_script) = (None, false);
    }
    Some(Story::new(Context {
        board,
        domain: index,
        tick: Some(reached.sample.tick),
        observation: &tick.observation,
        readings,
        told,
        since: reached.since.get(index).copied().flatten(),
        origin: tick.origin.clone(),
        proposal: tick.proposal.clone(),
        rails,
        decision: tick.decision,
        vote: tick.vote,
        applied: reached.applied.get(index).cloned().flatten(),
        as_recorded: Some(reached.as_recorded),
    }))
}

fn seconds(at: Option<f64>) -> anyhow::Result<Option<Nanos>> {
    match at {
        None => Ok(None),
        Some(at) if at.is_finite() && (0.0..1.0e9).contains(&at) => {
            Ok(Some(Nanos((at * Nanos::PER_S as f64) as u64)))
        }
        Some(at) => bail!("--at {at}: give seconds from the first tick of the journal, from 0 on"),
    }
}

/// The domain of `board` called `name`.
pub(super) fn domain(board: &Board, name: &str) -> anyhow::Result<usize> {
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
