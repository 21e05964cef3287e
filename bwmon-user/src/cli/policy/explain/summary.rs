//! From the proposal to the machine's answer, in a few lines.

use super::story::Context;
use crate::board::{Level, OppTable};
use crate::cli::output::grouped;
use crate::decide::Reason;
use crate::governor::Origin;
use crate::policy::{Ask, Proposal};
use crate::units::Kbps;
use crate::vote::{Applied, Vote};

/// What came of it, row by row: what it is about, and the sentence.
pub(super) fn summary(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let Some(described) = context.board.domains.get(context.domain) else { return Vec::new() };
    let table = &described.table;
    let mut rows = vec![
        ("in force", in_force(context, table)),
        ("proposal", format!("{}{}", by(&context.origin), proposal(&context.proposal))),
        ("guard rails", rails(context, table)),
        (
            "decision",
            match context.decision.level {
                Some(decided) => level(table, decided),
                None => "no level".to_owned(),
            },
        ),
        (
            "vote",
            match context.vote {
                None => "none".to_owned(),
                Some(vote) if !vote.change => "none needed: the level is in force".to_owned(),
                Some(vote) => kbps(vote.peak_kbps),
            },
        ),
    ];
    if let Some(answer) = &context.applied {
        rows.push(("the machine", machine(answer, context.vote)));
    }
    if context.origin == Origin::Policy && context.decision.reason == Reason::Policy {
        neighbours(context, table, &mut rows);
    }
    rows
}

fn kbps(kbps: Kbps) -> String {
    format!("{} kBps", grouped(kbps.0))
}

fn level(table: &OppTable, level: Level) -> String {
    format!("level {level} ({})", kbps(table.kbps_of(level)))
}

fn in_force(context: &Context<'_>, table: &OppTable) -> String {
    let Some(level_) = context.observation.level else { return "no level of ours".to_owned() };
    let mut text = level(table, level_);
    if let Some(tick) = context.since {
        text += &format!(", since tick {tick}");
    } else if context.tick.is_some() {
        text += ", from the start";
    }
    if let Some(us) = context.observation.since_change_us {
        text += &format!(" ({} ms ago)", grouped(us / 1_000));
    }
    text
}

fn by(origin: &Origin) -> &'static str {
    match origin {
        Origin::Policy => "",
        Origin::Demoted => "by the native rule, since the policy is demoted: ",
        Origin::Fault(_) => "by the native rule, since the policy faulted: ",
        Origin::Aside => {
            "by the native rule, since the policy is set aside after repeated faults: "
        }
    }
}

fn proposal(proposal: &Proposal) -> String {
    let mut text = match proposal.ask {
        Ask::Demand(demand) => format!("the lowest level that carries {}", kbps(demand)),
        Ask::Opp(level) => format!("level {level}"),
        Ask::Max => "the highest level".to_owned(),
        Ask::Min => "the lowest level".to_owned(),
        Ask::Hold => "the level in force".to_owned(),
    };
    if !proposal.why.is_empty() {
        text += &format!(", because \"{}\"", &*proposal.why);
    }
    if proposal.hold_ms > 0 {
        text += &format!(", not to come down for {} ms", proposal.hold_ms);
    }
    if let Some((up, down)) = proposal.wake_kbps {
        text += &format!(", to wake above {} and below {}", kbps(up), kbps(down));
    }
    text
}

/// The level that the proposal comes to on this table.
fn wanted(context: &Context<'_>, table: &OppTable) -> Option<Level> {
    match context.proposal.ask {
        Ask::Demand(demand) => Some(table.ceil(demand)),
        Ask::Opp(level) => Some(level.min(table.top())),
        Ask::Max => Some(table.top()),
        Ask::Min => Some(Level::LOWEST),
        Ask::Hold => context.observation.level,
    }
}

/// What the guard rails did, with the limit that made them.
fn rails(context: &Context<'_>, table: &OppTable) -> String {
    let limit = context.rails;
    let number = |level: Option<Level>| level.map_or("none".to_owned(), |level| level.to_string());
    let instead = format!("instead of level {}", number(wanted(context, table)));
    let kept = format!("kept level {} {instead}", number(context.decision.level));
    match context.decision.reason {
        Reason::Policy => "changed nothing".to_owned(),
        Reason::MinLevel => {
            format!("raised it to level {}, the lowest allowed, {instead}", limit.min_level)
        }
        Reason::MaxLevel => {
            format!("cut it to level {}, the highest allowed, {instead}", limit.max_level)
        }
        Reason::StepDown => {
            let steps = limit.max_step_down;
            let down = number(context.decision.level);
            format!("came down to level {down} only, {instead}: max_step_down is {steps}")
        }
        Reason::Dwell => {
            let ms = limit.min_dwell_ms;
            format!("{kept}: min_dwell_ms is {ms}, not over since the last change")
        }
        Reason::HoldTime => format!("{kept}: the hold time that the policy asked for is not over"),
        Reason::Rate => {
            let most = limit.max_transitions_per_s;
            format!("{kept}: max_transitions_per_s is {most}, so many were in the last second")
        }
        Reason::Unvoted => {
            "voted the highest allowed: no level was in force and none was asked for".to_owned()
        }
        Reason::NoVote => {
            "left the vote to the kernel: no level is in force and none was asked for".to_owned()
        }
        Reason::Manual => "hands off: somebody else changed the domain".to_owned(),
        Reason::Gone => "hands off: the device is gone".to_owned(),
        Reason::Paused => format!("paused: level {} {instead}", number(context.decision.level)),
    }
}

fn machine(answer: &Applied, vote: Option<Vote>) -> String {
    match answer {
        Applied::InForce => "nothing had to be written".to_owned(),
        Applied::Placed => "took it".to_owned(),
        Applied::DryRun => match vote {
            Some(vote) if vote.change => "dry run: it would have been written".to_owned(),
            _ => "dry run".to_owned(),
        },
        Applied::Clamped { found } => format!("clamped it: it reads back as {found}"),
        Applied::NotHonoured { found } => {
            format!("accepted it, but runs at {found}")
        }
        Applied::Refused { why } => format!("refused it: {why}"),
        Applied::Foreign { what } => format!("somebody else had changed it: {what}"),
        Applied::Gone { what } => format!("the device is gone: {what}"),
    }
}

/// Why not a level less, why not one more: for a demand that is a matter of the table.
fn neighbours(context: &Context<'_>, table: &OppTable, rows: &mut Vec<(&'static str, String)>) {
    let (Some(decided), Ask::Demand(demand)) = (context.decision.level, context.proposal.ask)
    else {
        return;
    };
    if let Some(lower) = decided.0.checked_sub(1).map(Level) {
        let short = demand.0.saturating_sub(table.kbps_of(lower).0);
        rows.push((
            "why not less",
            format!("{} carries {} too little", level(table, lower), kbps(Kbps(short))),
        ));
    }
    let carried = table.kbps_of(decided);
    if carried < demand {
        let short = kbps(Kbps(demand.0 - carried.0));
        rows.push(("why not more", format!("it is the highest; {short} are asked for on top")));
    } else if decided < table.top() {
        let spare = kbps(Kbps(carried.0 - demand.0));
        rows.push(("why not more", format!("not needed: {spare} to spare")));
    }
}
