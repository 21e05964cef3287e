//! The guard rails: a proposal becomes a decision.
//!
//! They act on coming down only, never on going up: a bound that is in doubt costs power, not
//! performance. A script cannot switch them off.

use crate::board::{Level, OppTable};
use crate::command::PauseAt;
use crate::policy::{Ask, Proposal};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The rails of one domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rails {
    /// Never below this level.
    pub min_level: Level,
    /// Never above this level.
    pub max_level: Level,
    /// Levels that one decision may come down; 0 for no bound.
    pub max_step_down: usize,
    /// Time at a level before coming down from it.
    pub min_dwell_ms: u32,
    /// Changes per second after which the level no longer comes down; 0 for no bound.
    pub max_transitions_per_s: u32,
    /// What to do while no level is in force and the policy holds.
    pub unvoted: Unvoted,
}

/// What stands in for a level that nobody has voted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unvoted {
    /// Vote the highest level: the kernel's own vote is gone, and a path without a voter starves.
    Top,
    /// Vote nothing: the kernel's driver is bound and votes.
    Nothing,
}

impl Rails {
    /// Rails that bind nothing on `table`.
    pub fn open(table: &OppTable, unvoted: Unvoted) -> Self {
        Self {
            min_level: Level::LOWEST,
            max_level: table.top(),
            max_step_down: 0,
            min_dwell_ms: 0,
            max_transitions_per_s: 0,
            unvoted,
        }
    }
}

/// Who has the say over a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ownership {
    /// The governor.
    #[default]
    Ours,
    /// Somebody else wrote to it: hands off until told.
    Manual,
    /// Its device vanished.
    Gone,
}

/// What made a decision what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The policy's wish, unchanged.
    Policy,
    /// Raised to the lowest level allowed.
    MinLevel,
    /// Cut to the highest level allowed.
    MaxLevel,
    /// Coming down was cut to the largest step.
    StepDown,
    /// Too early after the last change.
    Dwell,
    /// The policy asked to hold for a time that is not over.
    HoldTime,
    /// Too many changes in the last second.
    Rate,
    /// No level was in force and none was asked for: the highest.
    Unvoted,
    /// No level is in force and none was asked for: none.
    NoVote,
    /// The domain is manual.
    Manual,
    /// The domain is gone.
    Gone,
    /// The governor is paused.
    Paused,
}

/// The proposal after the guard rails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The level; `None` for no vote.
    pub level: Option<Level>,
    /// What made it so.
    pub reason: Reason,
}

/// What the rails remember about a domain.
#[derive(Clone, Debug, Default)]
pub struct RailState {
    /// When the level in force last changed.
    pub changed_at: Option<Nanos>,
    /// Who has the say.
    pub ownership: Ownership,
    /// The policy is not to have its way.
    pub pause: Option<PauseAt>,
    hold_until: Nanos,
    changes: VecDeque<Nanos>,
}

impl RailState {
    /// Notes that the level changed at `now`.
    pub fn changed(&mut self, now: Nanos, rails: &Rails) {
        self.changed_at = Some(now);
        if rails.max_transitions_per_s > 0 {
            self.changes.push_back(now);
            while self.changes.len() > rails.max_transitions_per_s as usize {
                self.changes.pop_front();
            }
        }
    }

    fn rate_reached(&self, now: Nanos, rails: &Rails) -> bool {
        let limit = rails.max_transitions_per_s as usize;
        limit > 0
            && self.changes.len() >= limit
            && self.changes.front().is_some_and(|oldest| now.since(*oldest).0 < Nanos::PER_S)
    }
}

/// Decides for one domain. `proposal` has been checked against `table`: an `Opp` beyond it is a
/// policy fault and does not come here.
pub fn decide(
    table: &OppTable,
    rails: &Rails,
    state: &mut RailState,
    current: Option<Level>,
    now: Nanos,
    proposal: &Proposal,
) -> Decision {
    match state.ownership {
        Ownership::Ours => {}
        Ownership::Manual => return Decision { level: None, reason: Reason::Manual },
        Ownership::Gone => return Decision { level: None, reason: Reason::Gone },
    }
    if let Some(pause) = state.pause {
        return paused(table, rails, current, pause);
    }
    let wanted = match (proposal.ask, current, rails.unvoted) {
        (Ask::Demand(kbps), ..) => table.ceil(kbps),
        (Ask::Opp(level), ..) => level.min(table.top()),
        (Ask::Max, ..) => table.top(),
        (Ask::Min, ..) => Level::LOWEST,
        (Ask::Hold, Some(level), _) => level,
        (Ask::Hold, None, Unvoted::Top) => {
            let level = table.top().min(rails.max_level);
            return Decision { level: Some(level), reason: Reason::Unvoted };
        }
        (Ask::Hold, None, Unvoted::Nothing) => {
            return Decision { level: None, reason: Reason::NoVote };
        }
    };
    let decision = bound(rails, state, current, now, wanted);
    // The time runs from the last wish for at least the level in force: a policy that says the
    // same on every tick still comes down.
    if current.is_none_or(|current| wanted >= current) {
        let hold = Nanos(u64::from(proposal.hold_ms) * Nanos::PER_MS);
        state.hold_until = state.hold_until.max(now.plus(hold));
    }
    decision
}

/// The rails hold in a pause too; where no level is in force, what stands in for one does.
fn paused(table: &OppTable, rails: &Rails, current: Option<Level>, pause: PauseAt) -> Decision {
    let top = table.top().min(rails.max_level);
    let level = match (pause, current, rails.unvoted) {
        (PauseAt::Top, ..) | (PauseAt::Keep, None, Unvoted::Top) => Some(top),
        (PauseAt::Keep, None, Unvoted::Nothing) => None,
        (PauseAt::Keep, Some(level), _) => Some(level.max(rails.min_level).min(top)),
    };
    Decision { level, reason: Reason::Paused }
}

fn bound(
    rails: &Rails,
    state: &RailState,
    current: Option<Level>,
    now: Nanos,
    wanted: Level,
) -> Decision {
    let (mut level, mut reason) = (wanted, Reason::Policy);
    if level < rails.min_level {
        (level, reason) = (rails.min_level, Reason::MinLevel);
    }
    if level > rails.max_level {
        (level, reason) = (rails.max_level, Reason::MaxLevel);
    }
    // A level in force above the bound has to come down whatever the time says.
    let Some(current) = current.filter(|current| level < *current && *current <= rails.max_level)
    else {
        return Decision { level: Some(level), reason };
    };
    let dwelt = |at: Nanos| now.since(at).0 >= u64::from(rails.min_dwell_ms) * Nanos::PER_MS;
    if now < state.hold_until {
        (level, reason) = (current, Reason::HoldTime);
    } else if !state.changed_at.is_none_or(dwelt) {
        (level, reason) = (current, Reason::Dwell);
    } else if state.rate_reached(now, rails) {
        (level, reason) = (current, Reason::Rate);
    } else if rails.max_step_down > 0 && current.0 - level.0 > rails.max_step_down {
        (level, reason) = (Level(current.0 - rails.max_step_down), Reason::StepDown);
    }
    Decision { level: Some(level), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::units::Kbps;
    use proptest::prelude::*;

    fn table() -> OppTable {
        // 800000, 1804000, 3072000, 5412000, 7216000.
        builtin("sdm845").unwrap().unwrap().domains[1].table.clone()
    }

    fn rails() -> Rails {
        Rails::open(&table(), Unvoted::Top)
    }

    fn go(rails: Rails, state: &mut RailState, current: usize, now_ms: u64, ask: Ask) -> Decision {
        let now = Nanos(now_ms * Nanos::PER_MS);
        let proposal = Proposal::new(ask, "");
        let decision = decide(&table(), &rails, state, Some(Level(current)), now, &proposal);
        if decision.level != Some(Level(current)) {
            state.changed(now, &rails);
        }
        decision
    }

    fn decision(level: usize, reason: Reason) -> Decision {
        Decision { level: Some(Level(level)), reason }
    }

    #[test]
    fn a_demand_takes_the_level_that_carries_it() {
        let got = go(rails(), &mut RailState::default(), 0, 0, Ask::Demand(Kbps(1_804_001)));
        assert_eq!(got, decision(2, Reason::Policy));
    }

    #[test]
    fn bounds_cut_and_say_so() {
        let bounded = Rails { min_level: Level(1), max_level: Level(3), ..rails() };
        let mut state = RailState::default();
        assert_eq!(go(bounded, &mut state, 2, 0, Ask::Min), decision(1, Reason::MinLevel));
        assert_eq!(go(bounded, &mut state, 2, 0, Ask::Max), decision(3, Reason::MaxLevel));
    }

    #[test]
    fn coming_down_waits_for_dwell_hold_and_rate_and_going_up_never_does() {
        let slow = Rails { min_dwell_ms: 20, max_transitions_per_s: 2, ..rails() };
        let mut state = RailState::default();
        assert_eq!(go(slow, &mut state, 0, 0, Ask::Max), decision(4, Reason::Policy));
        assert_eq!(go(slow, &mut state, 4, 10, Ask::Min), decision(4, Reason::Dwell));
        assert_eq!(go(slow, &mut state, 4, 20, Ask::Min), decision(0, Reason::Policy));
        assert_eq!(go(slow, &mut state, 0, 24, Ask::Max), decision(4, Reason::Policy));
        // Changes at 20 and 24 ms: the third within a second only goes up.
        assert_eq!(go(slow, &mut state, 4, 60, Ask::Min), decision(4, Reason::Rate));
        assert_eq!(go(slow, &mut state, 4, 1_020, Ask::Min), decision(0, Reason::Policy));
    }

    #[test]
    fn a_policys_hold_time_keeps_the_level_until_it_is_over() {
        let mut state = RailState::default();
        let mut proposal = Proposal::new(Ask::Max, "");
        proposal.hold_ms = 100;
        decide(&table(), &rails(), &mut state, Some(Level(0)), Nanos(0), &proposal);
        assert_eq!(go(rails(), &mut state, 4, 99, Ask::Min), decision(4, Reason::HoldTime));
        assert_eq!(go(rails(), &mut state, 4, 100, Ask::Min), decision(0, Reason::Policy));
    }

    #[test]
    fn a_hold_time_given_on_every_tick_runs_from_the_last_wish_for_the_level() {
        let mut state = RailState::default();
        let mut ask = |ms: u64, level: usize| {
            let mut proposal = Proposal::new(Ask::Opp(Level(level)), "");
            proposal.hold_ms = 50;
            let now = Nanos(ms * Nanos::PER_MS);
            decide(&table(), &rails(), &mut state, Some(Level(4)), now, &proposal)
        };
        assert_eq!(ask(0, 4), decision(4, Reason::Policy));
        assert_eq!(ask(40, 1), decision(4, Reason::HoldTime));
        assert_eq!(ask(50, 1), decision(1, Reason::Policy));
    }

    #[test]
    fn a_large_step_down_is_taken_in_pieces() {
        let stepwise = Rails { max_step_down: 1, ..rails() };
        let mut state = RailState::default();
        assert_eq!(go(stepwise, &mut state, 4, 0, Ask::Min), decision(3, Reason::StepDown));
    }

    #[test]
    fn doubt_before_the_first_vote_is_the_highest_level_unless_the_kernel_votes() {
        let hold = Proposal::new(Ask::Hold, "");
        let mut state = RailState::default();
        let got = decide(&table(), &rails(), &mut state, None, Nanos(0), &hold);
        assert_eq!(got, decision(4, Reason::Unvoted));
        let shadow = Rails { unvoted: Unvoted::Nothing, ..rails() };
        let got = decide(&table(), &shadow, &mut state, None, Nanos(0), &hold);
        assert_eq!(got, Decision { level: None, reason: Reason::NoVote });
    }

    #[test]
    fn a_manual_or_vanished_domain_is_left_alone() {
        for (ownership, reason) in
            [(Ownership::Manual, Reason::Manual), (Ownership::Gone, Reason::Gone)]
        {
            let mut state = RailState { ownership, ..RailState::default() };
            let got = go(rails(), &mut state, 0, 0, Ask::Max);
            assert_eq!(got, Decision { level: None, reason });
        }
    }

    fn any_ask() -> impl Strategy<Value = Ask> {
        prop_oneof![
            (0u64..10_000_000).prop_map(|k| Ask::Demand(Kbps(k))),
            (0usize..5).prop_map(|l| Ask::Opp(Level(l))),
            Just(Ask::Max),
            Just(Ask::Min),
            Just(Ask::Hold),
        ]
    }

    proptest! {
        #[test]
        fn every_decision_is_within_the_bounds_and_up_is_never_delayed(
            asks in prop::collection::vec((any_ask(), 0u64..50), 1..200),
            min in 0usize..3, span in 0usize..3,
            step in 0usize..3, dwell in 0u32..100, rate in 0u32..5,
        ) {
            let rails = Rails {
                min_level: Level(min), max_level: Level((min + span).min(4)),
                max_step_down: step, min_dwell_ms: dwell, max_transitions_per_s: rate,
                unvoted: Unvoted::Top,
            };
            let (table, mut state) = (table(), RailState::default());
            let (mut now, mut current) = (0, None);
            for (ask, later) in asks {
                now += later * Nanos::PER_MS;
                let proposal = Proposal::new(ask, "");
                let got = decide(&table, &rails, &mut state, current, Nanos(now), &proposal);
                let level = got.level.unwrap();
                prop_assert!(level >= rails.min_level && level <= rails.max_level);
                if let Ask::Demand(kbps) = ask {
                    let wanted = table.ceil(kbps).clamp(rails.min_level, rails.max_level);
                    prop_assert!(level >= wanted, "a demand is met at once");
                }
                if current != Some(level) {
                    state.changed(Nanos(now), &rails);
                    current = Some(level);
                }
            }
        }
    }
}
