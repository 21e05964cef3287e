//! Readings that the operator gives.

use super::Args;
use super::recorded::domain;
use super::story::{Context, Story};
use super::watched::Watched;
use crate::board::{Board, Level};
use crate::cli::common::{self, PolicyArgs};
use crate::decide::{RailState, Rails, Unvoted, decide};
use crate::diag::did_you_mean;
use crate::governor::Origin;
use crate::observe::{Measured, Observation};
use crate::policy::script::Readings;
use crate::policy::script::words::PROPERTIES;
use crate::policy::{Mainline, Policy};
use crate::units::{Kbps, Khz, Nanos};
use crate::vote::Vote;
use anyhow::{anyhow, bail};

/// Distance of repeated ticks.
const PERIOD_US: u64 = 4_000;

/// What follows from other readings, and from which.
const FOLLOWS: &[(&str, &str)] = &[
    ("domain", "--domain"),
    ("opp_count", "--board"),
    ("valid", "peak_kBps"),
    ("above", "peak_kBps and level"),
    ("below", "peak_kBps and level"),
    ("util_pct", "peak_kBps and level"),
    ("level_kBps", "level"),
    ("lower_kBps", "level"),
];

pub(super) fn story(args: &Args) -> anyhow::Result<Story> {
    let board = common::board(&args.board)?;
    let index = match &args.domain {
        Some(name) => domain(&board, name)?,
        None => board.domains.iter().position(|d| d.monitor.is_some()).unwrap_or(0),
    };
    let mut all = unknown(&board);
    for (name, value) in &args.with {
        let (place, name) = match name.split_once('.') {
            Some((other, name)) => (domain(&board, other)?, name),
            None => (index, name.as_str()),
        };
        if let Some(obs) = all.get_mut(place) {
            put(obs, name, value)?;
        }
    }
    let chosen = PolicyArgs {
        policy: args.what.clone(),
        preset: args.preset.clone(),
        set: args.set.clone(),
    };
    let (mut policy, texts, steps) = Watched::new(chosen.spec()?, &board)?;
    let mut native = Mainline::new(&board);
    let mut answer = None;
    for tick in 0..args.ticks {
        for obs in &mut all {
            obs.now = Nanos((u64::from(tick) + 1) * obs.dt_us * Nanos::PER_US);
        }
        let fallback = native.decide(&all, index);
        answer = Some((policy.decide(&all, index), fallback));
    }
    let Some((answer, Ok(fallback))) = answer else { bail!("nothing was asked") };
    let (proposal, origin) = match answer {
        Ok(proposal) => (proposal, Origin::Policy),
        Err(fault) => (fallback, Origin::Fault(fault)),
    };
    let (Some(described), Some(obs)) = (board.domains.get(index), all.get(index)) else {
        bail!("no such domain");
    };
    let table = &described.table;
    let mut rails = Rails::open(table, Unvoted::Top);
    (rails.min_level, rails.max_level) = (obs.min_level, obs.max_level);
    let mut state = RailState::default();
    let decision = decide(table, &rails, &mut state, obs.level, obs.now, &proposal);
    let steps = steps.borrow();
    Ok(Story::new(Context {
        board: &board,
        policy: args.what.clone(),
        domain: index,
        tick: None,
        now: obs.now,
        readings: Readings::new(&board)?.of(&all, index),
        steps: steps.get(index).map_or(&[], Vec::as_slice),
        lines: texts.get(index).map_or(&[], |text| &text.lines),
        in_force: obs.level,
        by_policy: origin == Origin::Policy,
        origin,
        proposal,
        decision,
        vote: Vote::from_decision(index, table, decision, obs.level),
        applied: None,
    }))
}

/// Observations in which nothing is known.
fn unknown(board: &Board) -> Vec<Observation> {
    let unknown = |top: Level| Observation {
        dt_us: PERIOD_US,
        now: Nanos(0),
        measured: None,
        level: None,
        min_level: Level::LOWEST,
        max_level: top,
        others_kbps: None,
        kernel_kbps: None,
        cpu_max_khz: None,
        since_change_us: None,
        lost_events: None,
    };
    board.domains.iter().map(|domain| unknown(domain.table.top())).collect()
}

fn put(obs: &mut Observation, name: &str, value: &str) -> anyhow::Result<()> {
    let whole = || -> anyhow::Result<u64> {
        let number = value.replace('_', "").parse::<u64>().ok();
        let number = number.filter(|n| i64::try_from(*n).is_ok());
        number.ok_or_else(|| anyhow!("{name}={value}: a whole number from 0 on is needed"))
    };
    let yes = || -> anyhow::Result<bool> {
        value.parse().map_err(|_| anyhow!("{name}={value}: true or false is needed"))
    };
    match name {
        "dt_us" => obs.dt_us = whole()?.max(1),
        "level" => obs.level = Some(level(obs, name, whole()?)?),
        "min_level" => obs.min_level = level(obs, name, whole()?)?,
        "max_level" => obs.max_level = level(obs, name, whole()?)?,
        "others_kBps" => obs.others_kbps = Some(Kbps(whole()?)),
        "kernel_kBps" => obs.kernel_kbps = Some(Kbps(whole()?)),
        "cpu_max_kHz" => obs.cpu_max_khz = Some(Khz(whole()?)),
        "since_change_ms" => obs.since_change_us = Some(whole()?.saturating_mul(1_000)),
        "lost_events" => obs.lost_events = Some(whole()?),
        "peak_kBps" => measured(obs).peak_kbps = Kbps(whole()?),
        "mean_kBps" => measured(obs).mean_kbps = Some(Kbps(whole()?)),
        "windows" => {
            measured(obs).windows = u32::try_from(whole()?.max(1)).unwrap_or(u32::MAX);
        }
        "saturated" => measured(obs).saturated = yes()?,
        "interrupt" => measured(obs).interrupt = yes()?,
        "trend_kBps" => {
            let trend = value.replace('_', "").parse();
            let trend = trend.map_err(|_| anyhow!("{name}={value}: a whole number is needed"))?;
            measured(obs).trend_kbps = Some(trend);
        }
        other => return Err(not_to_be_given(other)),
    }
    Ok(())
}

fn measured(obs: &mut Observation) -> &mut Measured {
    obs.measured.get_or_insert(Measured {
        peak_kbps: Kbps(0),
        mean_kbps: None,
        windows: 1,
        saturated: false,
        interrupt: false,
        trend_kbps: None,
    })
}

fn level(obs: &Observation, name: &str, number: u64) -> anyhow::Result<Level> {
    let level = usize::try_from(number).map(Level).ok();
    let top = obs.max_level.max(obs.min_level);
    level
        .filter(|level| *level <= top)
        .ok_or_else(|| anyhow!("{name}={number}: levels go from 0 to {top}"))
}

fn not_to_be_given(name: &str) -> anyhow::Error {
    if let Some((_, from)) = FOLLOWS.iter().find(|(known, _)| *known == name) {
        return anyhow!("{name} is not given by itself: it follows from {from}");
    }
    let names = PROPERTIES.iter().map(|word| word.name);
    let names = names.filter(|name| !FOLLOWS.iter().any(|(known, _)| known == name));
    match did_you_mean(name, names) {
        Some(near) => anyhow!("there is no reading {name}; did you mean {near}?"),
        None => anyhow!("there is no reading {name}; `bwmon policy docs` lists them"),
    }
}
