//! A policy that runs in shadow before it may decide: on the same observations, with its own votes
//! taken for granted, for a time; then a rule says whether it takes over.

mod rule;

pub use rule::{Figures, Rule, RuleError};

use super::{Ladder, Mainline, Policy};
use crate::board::{Board, Level, OppTable};
use crate::decide::{RailState, Rails, decide};
use crate::observe::Observation;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// How a canary ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CanaryEnd {
    /// It decides from the next entry on.
    pub promoted: bool,
    /// The condition that it did not meet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
    /// What was counted, of the one that decides and of the canary.
    pub old: Figures,
    /// See `old`.
    pub new: Figures,
    /// Share of the decisions on which both chose the same level, in percent, rounded down.
    pub agree_pct: u64,
}

/// One domain as the canary would have it.
struct Shadow {
    level: Option<Level>,
    rails: RailState,
    ladder: Ladder,
}

/// A policy in shadow.
pub struct Canary {
    policy: Box<dyn Policy>,
    fallback: Mainline,
    rule: Rule,
    length: Nanos,
    until: Option<Nanos>,
    shadows: Vec<Shadow>,
    seen: Vec<Observation>,
    old: Figures,
    new: Figures,
    decisions: u64,
    same: u64,
}

impl Canary {
    /// `policy` on `board`, judged by `rule` after `ms` milliseconds of samples.
    pub fn new(policy: Box<dyn Policy>, board: &Board, ms: u64, rule: Rule) -> Self {
        let shadow =
            |_| Shadow { level: None, rails: RailState::default(), ladder: Ladder::default() };
        Self {
            policy,
            fallback: Mainline::new(board),
            rule,
            length: Nanos(ms.saturating_mul(Nanos::PER_MS)),
            until: None,
            shadows: board.domains.iter().map(shadow).collect(),
            seen: Vec::with_capacity(board.domains.len()),
            old: Figures::default(),
            new: Figures::default(),
            decisions: 0,
            same: 0,
        }
    }

    /// One tick: what was known, and what the policy that decides made of it (`None` where the
    /// domain is not the governor's). The canary sees its own level as the one in force.
    pub fn tick<'a>(
        &mut self,
        observations: &[Observation],
        decided: impl Iterator<Item = (&'a OppTable, &'a Rails, Option<Level>)>,
    ) {
        self.seen.clear();
        for (obs, shadow) in observations.iter().zip(&mut self.shadows) {
            // It begins where the machine is.
            let level = *shadow.level.get_or_insert(obs.level.unwrap_or(obs.max_level));
            let since = shadow.rails.changed_at.map(|at| obs.now.since(at).as_us());
            self.seen.push(Observation { level: Some(level), since_change_us: since, ..*obs });
        }
        for (domain, (table, rails, level)) in decided.enumerate() {
            let (Some(obs), Some(own)) = (observations.get(domain), self.seen.get(domain)) else {
                continue;
            };
            self.old.carried(table, obs);
            self.new.carried(table, own);
            let decision = self.ask(domain, table, rails);
            let Some(level) = level else { continue };
            self.decisions += 1;
            self.same += u64::from(decision == Some(level));
            self.old.decided(table, obs, Some(level));
        }
    }

    fn ask(&mut self, domain: usize, table: &OppTable, rails: &Rails) -> Option<Level> {
        let (obs, shadow) = (self.seen.get(domain).copied()?, self.shadows.get_mut(domain)?);
        let native = self.fallback.decide(&self.seen, domain);
        let proposal = match self.policy.decide(&self.seen, domain) {
            Ok(proposal) => proposal,
            Err(_) => {
                self.new.faults += 1;
                self.policy.reset(domain);
                shadow.ladder.fault(obs.now);
                native.ok()?
            }
        };
        let decided =
            decide(table, rails, &mut shadow.rails, shadow.level, obs.now, &proposal).level;
        self.new.decided(table, &obs, decided);
        if decided != shadow.level {
            shadow.level = decided;
            shadow.rails.changed(obs.now, rails);
        }
        decided
    }

    /// Whether its time is over at `now`; begins with the first call.
    pub fn is_over(&mut self, now: Nanos) -> bool {
        now >= *self.until.get_or_insert(now.plus(self.length))
    }

    /// The verdict, and the policy with what it has learned.
    pub fn end(self) -> (CanaryEnd, Box<dyn Policy>) {
        let agree_pct = (self.same * 100).checked_div(self.decisions).unwrap_or(0);
        let failed = self.rule.failed(&self.old, &self.new, agree_pct);
        let (old, new) = (self.old, self.new);
        (CanaryEnd { promoted: failed.is_none(), failed, old, new, agree_pct }, self.policy)
    }
}

#[cfg(test)]
mod tests;
