//! One decision, told.

use crate::board::{Board, Level, OppTable};
use crate::cli::output::{grouped, table};
use crate::decide::{Decision, Reason};
use crate::diag::printable;
use crate::governor::Origin;
use crate::policy::script::trace::Step;
use crate::policy::{Ask, Proposal};
use crate::units::{Kbps, Nanos};
use crate::vote::{Applied, Vote};
use serde::Serialize;

/// Steps that are printed; of more, the first and the last ones.
const MOST_STEPS: usize = 60;

/// What a story is made of.
pub(super) struct Context<'a> {
    pub(super) board: &'a Board,
    pub(super) policy: String,
    pub(super) domain: usize,
    pub(super) tick: Option<u64>,
    pub(super) now: Nanos,
    pub(super) readings: Vec<(&'static str, Option<serde_json::Value>)>,
    pub(super) steps: &'a [Step],
    pub(super) lines: &'a [String],
    pub(super) in_force: Option<Level>,
    pub(super) origin: Origin,
    pub(super) proposal: Proposal,
    pub(super) decision: Decision,
    pub(super) vote: Option<Vote>,
    pub(super) applied: Option<Applied>,
    pub(super) by_policy: bool,
}

/// One decision, in the shape that `--json` prints.
#[derive(Serialize)]
pub(super) struct Story {
    board: String,
    domain: String,
    policy: String,
    tick: Option<u64>,
    time_ns: Nanos,
    readings: serde_json::Map<String, serde_json::Value>,
    steps: Vec<Told>,
    by: &'static str,
    fault: Option<String>,
    proposal: Proposal,
    decision: Decision,
    vote: Option<Vote>,
    applied: Option<Applied>,
    summary: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    step: Step,
    text: String,
}

impl Story {
    pub(super) fn new(context: Context<'_>) -> Self {
        let summary = summary(&context);
        let Context { board, policy, domain, tick, now, readings, steps, lines, .. } = context;
        let text = |step: &Step| lines.get(step.line.saturating_sub(1)).cloned();
        let (by, fault) = match &context.origin {
            Origin::Policy => ("policy", None),
            Origin::Fault(fault) => ("fallback", Some(fault.to_string())),
            Origin::Aside => ("fallback", None),
            Origin::Demoted => ("demoted", None),
        };
        Self {
            board: board.id.clone(),
            domain: board.domains.get(domain).map(|d| d.name.clone()).unwrap_or_default(),
            policy,
            tick,
            time_ns: now,
            readings: readings
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.unwrap_or_default()))
                .collect(),
            steps: steps
                .iter()
                .map(|step| Told { text: text(step).unwrap_or_default(), step: step.clone() })
                .collect(),
            by,
            fault,
            proposal: context.proposal,
            decision: context.decision,
            vote: context.vote,
            applied: context.applied,
            summary,
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let tick = self.tick.map_or_else(String::new, |tick| {
            format!(", tick {tick} at {:.3} ms", self.time_ns.0 as f64 / 1e6)
        });
        let mut text = format!("{} on {}, domain {}{tick}\n", self.policy, self.board, self.domain);
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.readings.iter().partition(|(_, value)| !value.is_null());
        let rows = known.iter().map(|(name, value)| vec![format!("obs.{name}"), shown(value)]);
        text += &format!("\n{}\n", table(&["reading", "value"], &["value"], rows.collect()));
        if !unknown.is_empty() {
            let names: Vec<&str> = unknown.iter().map(|(name, _)| name.as_str()).collect();
            text += &format!(" not known: {}\n", names.join(", "));
        }
        if !self.steps.is_empty() {
            text += &format!("\n{}\n", self.steps_table());
        }
        if let Some(fault) = &self.fault {
            text += &format!("\n{fault}\n");
        }
        let rows = self.summary.iter().map(|(name, what)| vec![(*name).to_owned(), what.clone()]);
        text += &format!("\n{}\n", table(&["", ""], &[], rows.collect()).trim_start_matches('\n'));
        text.chars().map(|c| if c == '\n' { c } else { printable(c) }).collect()
    }

    fn steps_table(&self) -> String {
        let row = |told: &Told| {
            let changed: Vec<String> =
                told.step.changed.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let deeper = "  ".repeat(told.step.depth.saturating_sub(1));
            vec![told.step.line.to_string(), format!("{deeper}{}", told.text), changed.join(", ")]
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        let half = MOST_STEPS / 2;
        if self.steps.len() <= MOST_STEPS {
            rows.extend(self.steps.iter().map(row));
        } else {
            rows.extend(self.steps.iter().take(half).map(row));
            let left_out = self.steps.len() - 2 * half;
            rows.push(vec![String::new(), format!("({left_out} more)"), String::new()]);
            rows.extend(self.steps.iter().skip(half + left_out).map(row));
        }
        table(&["line", "statement", "made"], &["line"], rows)
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value.as_u64() {
        Some(n) => grouped(n),
        None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

fn kbps(kbps: Kbps) -> String {
    format!("{} kBps", grouped(kbps.0))
}

fn level(table: &OppTable, level: Level) -> String {
    format!("level {level} ({})", kbps(table.kbps_of(level)))
}

fn summary(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let Some(described) = context.board.domains.get(context.domain) else { return Vec::new() };
    let table = &described.table;
    let mut rows = Vec::new();
    let by = match &context.origin {
        Origin::Policy => "",
        Origin::Demoted => "by the native rule, since the policy is demoted: ",
        Origin::Fault(_) => "by the native rule, since the policy faulted: ",
        Origin::Aside => {
            "by the native rule, since the policy is set aside after repeated faults: "
        }
    };
    rows.push(("proposal", format!("{by}{}", proposal(&context.proposal))));
    rows.push(("guard rails", rails(context.decision.reason).to_owned()));
    rows.push((
        "decision",
        match context.decision.level {
            Some(decided) => level(table, decided),
            None => "no level".to_owned(),
        },
    ));
    rows.push((
        "vote",
        match (context.vote, context.in_force) {
            (None, _) => "none".to_owned(),
            (Some(vote), _) if !vote.change => "none needed: the level is in force".to_owned(),
            (Some(vote), None) => format!("{}, the first one", kbps(vote.peak_kbps)),
            (Some(vote), Some(before)) => {
                format!("{}, coming from {}", kbps(vote.peak_kbps), level(table, before))
            }
        },
    ));
    if let Some(applied) = &context.applied {
        let answer = serde_json::to_value(applied).unwrap_or_default();
        let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        rows.push(("the machine", answer));
    }
    if context.by_policy && context.decision.reason == Reason::Policy {
        neighbours(context, table, &mut rows);
    }
    rows
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
        rows.push(("why not more", format!("{} to spare", kbps(Kbps(carried.0 - demand.0)))));
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

fn rails(reason: Reason) -> &'static str {
    match reason {
        Reason::Policy => "changed nothing",
        Reason::MinLevel => "raised it to the lowest level allowed",
        Reason::MaxLevel => "cut it to the highest level allowed",
        Reason::StepDown => "cut the way down to the largest step",
        Reason::Dwell => "too early after the last change",
        Reason::HoldTime => "the policy's own hold time is not over",
        Reason::Rate => "too many changes in the last second",
        Reason::Unvoted => "no level was in force and none asked for: the highest",
        Reason::NoVote => "no level is in force and none was asked for",
        Reason::Manual => "somebody else changed the domain: hands off",
        Reason::Gone => "the device is gone",
    }
}
