//! A decision on readings that the operator gives.

use super::story::{Context, Story};
use super::watched::Watched;
use super::{Args, recorded, with};
use crate::cli::common::{self, PolicyArgs};
use crate::decide::{RailState, Rails, Unvoted, decide};
use crate::governor::Origin;
use crate::policy::script::Readings;
use crate::policy::{Ask, Mainline, Policy, PolicyFault};
use crate::units::Nanos;
use crate::vote::Vote;
use anyhow::bail;
use std::cell::Cell;
use std::rc::Rc;

pub(super) fn story(args: &Args) -> anyhow::Result<Story> {
    let board = common::board(&args.board)?;
    let index = match &args.domain {
        Some(name) => recorded::domain(&board, name)?,
        None => board.domains.iter().position(|d| d.monitor.is_some()).unwrap_or(0),
    };
    let mut all = with::observations(&board, index, &args.with)?;
    let chosen = PolicyArgs {
        policy: args.what.clone(),
        preset: args.preset.clone(),
        set: args.set.clone(),
    };
    let noting = Rc::new(Cell::new(false));
    let (mut policy, telling) = Watched::new(chosen.spec()?, &board, noting.clone())?;
    let Some(table) = board.domains.get(index).map(|domain| &domain.table) else {
        bail!("the board {} has no domains", board.id);
    };
    let mut native = Mainline::new(&board);
    let mut answer = None;
    for tick in 1..=args.ticks {
        for obs in &mut all {
            obs.now = Nanos(u64::from(tick) * obs.dt_us * Nanos::PER_US);
        }
        noting.set(tick == args.ticks);
        let fallback = native.decide(&all, index);
        // As the governor has it: a level that the table lacks is a fault.
        let wish = policy.decide(&all, index).and_then(|proposal| match proposal.ask {
            Ask::Opp(level) if !table.has(level) => {
                policy.reset(index);
                Err(PolicyFault::unknown_level(policy.name_for(index), level, table.len()))
            }
            _ => Ok(proposal),
        });
        answer = Some((wish, fallback));
    }
    let (Some((answer, Ok(fallback))), Some(obs)) = (answer, all.get(index)) else {
        bail!("nothing was asked");
    };
    let (proposal, origin) = match answer {
        Ok(proposal) => (proposal, Origin::Policy),
        Err(fault) => (fallback, Origin::Fault(fault)),
    };
    let mut rails = Rails::open(table, Unvoted::Top);
    (rails.min_level, rails.max_level) = (obs.min_level, obs.max_level);
    let decision = decide(table, &rails, &mut RailState::default(), obs.level, obs.now, &proposal);
    let told = telling.borrow().get(index).cloned().unwrap_or_default();
    Ok(Story::new(Context {
        board: &board,
        domain: index,
        tick: None,
        observation: obs,
        readings: Readings::new(&board)?.of(&all, index),
        told,
        since: None,
        origin,
        proposal,
        rails: &rails,
        decision,
        vote: Vote::from_decision(index, table, decision, obs.level),
        applied: None,
        as_recorded: None,
    }))
}
