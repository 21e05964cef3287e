//! One decision, told.

use super::summary::summary;
use super::watched::Told;
use crate::board::{Board, Level};
use crate::cli::output::{clean, grouped, table};
use crate::decide::{Decision, Rails};
use crate::governor::Origin;
use crate::observe::Observation;
use crate::policy::Proposal;
use crate::policy::script::trace::Step;
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use serde::{Serialize, Serializer};

/// Steps that are printed; of more, the first and the last ones.
const MOST_STEPS: usize = 60;

/// What a story is made of.
pub(super) struct Context<'a> {
    pub(super) board: &'a Board,
    pub(super) domain: usize,
    pub(super) tick: Option<u64>,
    pub(super) observation: &'a Observation,
    pub(super) readings: Readings,
    pub(super) told: Told,
    /// The tick that brought the level in force.
    pub(super) since: Option<u64>,
    pub(super) origin: Origin,
    pub(super) proposal: Proposal,
    pub(super) rails: &'a Rails,
    pub(super) decision: Decision,
    pub(super) vote: Option<Vote>,
    pub(super) applied: Option<Applied>,
    /// Whether the journal says the same; `None` without one.
    pub(super) as_recorded: Option<bool>,
}

/// Readings by name in the order of the vocabulary; `None` for those not known.
pub(super) type Readings = Vec<(&'static str, Option<serde_json::Value>)>;

/// One decision, in the shape that `--json` prints.
#[derive(Serialize)]
pub(super) struct Story {
    board: String,
    domain: String,
    policy: String,
    tick: Option<u64>,
    time_ns: Nanos,
    #[serde(serialize_with = "as_map")]
    readings: Readings,
    in_force: Option<Level>,
    since_tick: Option<u64>,
    /// `None` where they cannot be told, or there are none.
    steps: Option<Vec<Step>>,
    by: &'static str,
    fault: Option<String>,
    proposal: Proposal,
    decision: Decision,
    vote: Option<Vote>,
    applied: Option<Applied>,
    summary: Vec<(&'static str, String)>,
    as_recorded: Option<bool>,
    #[serde(skip)]
    is_script: bool,
}

fn as_map<S: Serializer>(readings: &Readings, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(readings.iter().map(|(name, value)| (name, value)))
}

impl Story {
    pub(super) fn new(context: Context<'_>) -> Self {
        let summary = summary(&context);
        let (by, fault) = match &context.origin {
            Origin::Policy => ("policy", None),
            Origin::Fault(fault) => ("fallback", Some(fault.to_string())),
            Origin::Aside => ("fallback", None),
            Origin::Demoted => ("demoted", None),
        };
        let described = context.board.domains.get(context.domain);
        Self {
            board: context.board.id.clone(),
            domain: described.map(|domain| domain.name.clone()).unwrap_or_default(),
            policy: context.told.name,
            tick: context.tick,
            time_ns: context.observation.now,
            readings: context.readings,
            in_force: context.observation.level,
            since_tick: context.since,
            steps: context.told.steps,
            by,
            fault,
            proposal: context.proposal,
            decision: context.decision,
            vote: context.vote,
            applied: context.applied,
            summary,
            as_recorded: context.as_recorded,
            is_script: context.told.is_script,
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let tick = self.tick.map_or_else(String::new, |tick| {
            format!(", tick {tick} at {:.3} ms", self.time_ns.0 as f64 / 1e6)
        });
        let mut text = format!("{} on {}, domain {}{tick}\n", self.policy, self.board, self.domain);
        let row = |(name, value): &(&str, Option<serde_json::Value>)| {
            value.as_ref().map(|value| vec![format!("obs.{name}"), shown(value)])
        };
        let rows = self.readings.iter().filter_map(row).collect();
        text += &format!("\n{}\n", table(&["reading", "value"], &["value"], rows));
        let unknown = self.readings.iter().filter(|(_, value)| value.is_none());
        let unknown: Vec<&str> = unknown.map(|(name, _)| *name).collect();
        if !unknown.is_empty() {
            text += &format!(" not known: {}\n", unknown.join(", "));
        }
        match &self.steps {
            Some(steps) if !steps.is_empty() => text += &format!("\n{}\n", steps_table(steps)),
            None if self.is_script => text += "\n the statements that ran cannot be told\n",
            _ => {}
        }
        if let Some(fault) = &self.fault {
            text += &format!("\n{fault}\n");
        }
        let rows = self.summary.iter().map(|(name, what)| vec![(*name).to_owned(), what.clone()]);
        text += &format!("\n{}\n", table(&["", ""], &[], rows.collect()).trim_start_matches('\n'));
        if self.as_recorded == Some(false) {
            text += "\nThe journal tells this tick otherwise: another version of bwmon may have \
                     written it, or it was changed. `bwmon replay --verify` shows where they part.\n";
        }
        clean(&text)
    }
}

fn steps_table(steps: &[Step]) -> String {
    let row = |step: &Step| {
        let pairs = |pairs: &[(String, String)]| {
            let pair = |(name, value): &(String, String)| format!("{name} = {}", number(value));
            pairs.iter().map(pair).collect::<Vec<_>>().join(", ")
        };
        let mut values = pairs(&step.changed);
        if !step.given.is_empty() {
            let given = format!("given {}", pairs(&step.given));
            values = if values.is_empty() { given } else { format!("{given}; {values}") };
        }
        let deeper = "  ".repeat(step.depth.saturating_sub(1));
        vec![step.line.to_string(), format!("{deeper}{}", step.text), values]
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let half = MOST_STEPS / 2;
    if steps.len() <= MOST_STEPS {
        rows.extend(steps.iter().map(row));
    } else {
        rows.extend(steps.iter().take(half).map(row));
        let left_out = steps.len() - 2 * half;
        rows.push(vec![String::new(), format!("({left_out} more)"), String::new()]);
        rows.extend(steps.iter().skip(half + left_out).map(row));
    }
    table(&["line", "statement", "made"], &["line"], rows)
}

/// A whole number in groups of three, like the readings; anything else as it is.
fn number(value: &str) -> String {
    match value.strip_prefix('-').unwrap_or(value).parse::<u64>() {
        Ok(n) if value.starts_with('-') => format!("-{}", grouped(n)),
        Ok(n) => grouped(n),
        Err(_) => value.to_owned(),
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => number(&other.to_string()),
    }
}
