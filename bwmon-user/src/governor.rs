//! The road, walked once per tick: sample, observation, proposal, decision, vote.

use crate::board::{Board, Level};
use crate::command::{Hold, PauseAt, under_holds};
use crate::decide::{Decision, Ownership, RailState, Rails, decide};
use crate::journal::Note;
use crate::observe::{Observation, Observer, Standing};
use crate::policy::canary::Canary;
use crate::policy::{Ask, Fall, Ladder, Mainline, Policy, PolicyEvent, PolicyFault, Proposal};
use crate::sample::Sample;
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use std::sync::Arc;

/// Whose proposal it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The policy's.
    Policy,
    /// The native rule's, because the policy faulted on this tick.
    Fault(PolicyFault),
    /// The native rule's, because the policy is set aside after repeated faults.
    Aside,
    /// The native rule's, because the policy is demoted until it is replaced.
    Demoted,
}

/// One domain's part of a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainTick {
    /// What was known.
    pub observation: Observation,
    /// What was wished.
    pub proposal: Proposal,
    /// By whom.
    pub origin: Origin,
    /// What the rails made of it.
    pub decision: Decision,
    /// What is to be written, if anything.
    pub vote: Option<Vote>,
}

/// A domain's standing between ticks.
struct DomainState {
    /// The operator's rails.
    own_rails: Rails,
    /// These under the holds.
    rails: Rails,
    state: RailState,
    /// The level of our vote.
    level: Option<Level>,
    /// What somebody's limit makes of it, where that is another level.
    clamped: Option<Level>,
    ladder: Ladder,
}

/// Walks the road. Pure: the same samples and answers give the same ticks.
pub struct Governor {
    board: Arc<Board>,
    observer: Observer,
    policy: Box<dyn Policy>,
    fallback: Mainline,
    domains: Vec<DomainState>,
    ticks: Vec<DomainTick>,
    tally: Tally,
    canary: Option<Canary>,
    /// The rails that hold once the canary takes over.
    canary_rails: Option<Vec<Rails>>,
    holds: Vec<Hold>,
    pause: Option<PauseAt>,
    cpus_online: Option<u32>,
    notes: Vec<Note>,
}

/// How often the policy did not have its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Faults of the policy.
    pub faults: u64,
    /// Decisions that were the native rule's, because of a fault or while the policy was aside.
    pub fallbacks: u64,
    /// Domains for which the policy is demoted.
    pub demoted: u64,
    /// The first fault, in one line.
    pub first_fault: Option<String>,
}

impl Governor {
    /// A governor for `board`; `rails` has one entry per domain, `levels` what is in force at the
    /// start (a shorter list means "unknown" for the rest).
    pub fn new(
        board: Arc<Board>,
        policy: Box<dyn Policy>,
        rails: Vec<Rails>,
        levels: &[Option<Level>],
    ) -> Self {
        let domains = rails
            .into_iter()
            .enumerate()
            .map(|(index, rails)| DomainState {
                own_rails: rails,
                rails,
                state: RailState::default(),
                level: levels.get(index).copied().flatten(),
                clamped: None,
                ladder: Ladder::default(),
            })
            .collect();
        Self {
            observer: Observer::new(&board),
            fallback: Mainline::new(&board),
            policy,
            domains,
            ticks: Vec::with_capacity(board.domains.len()),
            tally: Tally::default(),
            canary: None,
            canary_rails: None,
            holds: Vec::new(),
            pause: None,
            cpus_online: None,
            notes: Vec::new(),
            board,
        }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// How often the policy did not have its way so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The level of our vote on `domain`, which somebody's limit may clamp.
    pub fn level(&self, domain: usize) -> Option<Level> {
        self.domains.get(domain).and_then(|state| state.level)
    }

    /// Lets `policy` decide from the next tick on. Levels, hold times and rails stay; what counted
    /// against the old policy does not count against this one, and it is offered the old one's state.
    pub fn replace(&mut self, policy: Box<dyn Policy>) {
        let old = std::mem::replace(&mut self.policy, policy);
        self.canary = None;
        self.canary_rails = None;
        self.forgive();
        for domain in 0..self.domains.len() {
            let event = PolicyEvent::Reload {
                old_state: old.state(domain),
                old_digest: old.digest_for(domain).to_owned(),
            };
            self.tell(domain, &event, Nanos(0));
        }
    }

    /// Lets `canary` run in shadow from the next tick on; one that runs already is dropped. Where it
    /// takes over, `rails` hold from then on, if there are any.
    pub fn start_canary(&mut self, canary: Canary, rails: Option<Vec<Rails>>) {
        self.canary = Some(canary);
        self.canary_rails = rails;
    }

    /// From the next tick on `rails` hold, one entry per domain.
    pub fn set_rails(&mut self, rails: &[Rails]) {
        for (domain, rails) in self.domains.iter_mut().zip(rails) {
            domain.own_rails = *rails;
        }
        self.bounds_changed();
    }

    /// A bound more.
    pub fn hold(&mut self, hold: Hold) {
        self.holds.push(hold);
        self.bounds_changed();
    }

    /// The hold with this number ends, if there is one.
    pub fn release_hold(&mut self, id: u64) {
        self.holds.retain(|hold| hold.id != id);
        self.bounds_changed();
    }

    /// The holds in force, oldest first.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// Whether the policy is not to have its way, and where the levels stand then.
    pub fn pause(&self) -> Option<PauseAt> {
        self.pause
    }

    /// Pauses, or ends the pause.
    pub fn set_pause(&mut self, pause: Option<PauseAt>) {
        self.pause = pause;
        for domain in &mut self.domains {
            domain.state.pause = pause;
        }
    }

    /// The rails of `domain` as they are now, under the holds.
    pub fn rails(&self, domain: usize) -> Option<&Rails> {
        self.domains.get(domain).map(|state| &state.rails)
    }

    /// Who has the say over `domain`.
    pub fn ownership(&self, domain: usize) -> Option<Ownership> {
        self.domains.get(domain).map(|state| state.state.ownership)
    }

    fn bounds_changed(&mut self) {
        let board = self.board.clone();
        for (index, domain) in board.domains.iter().enumerate() {
            let Some(state) = self.domains.get_mut(index) else { continue };
            let rails = under_holds(&state.own_rails, &domain.table, &domain.name, &self.holds);
            if std::mem::replace(&mut state.rails, rails) != rails {
                self.tell(index, &PolicyEvent::LimitsChanged, Nanos(0));
            }
        }
    }

    /// What happened in the last tick besides its decisions.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn forgive(&mut self) {
        self.tally.demoted = 0;
        for domain in &mut self.domains {
            domain.ladder = Ladder::default();
        }
    }

    /// Tells the policy of `event`. A fault is counted and costs it its state, no more.
    fn tell(&mut self, domain: usize, event: &PolicyEvent, now: Nanos) {
        let Some(state) = self.domains.get_mut(domain) else { return };
        if state.ladder.is_demoted() {
            return;
        }
        if let Err(fault) = self.policy.event(domain, event) {
            self.tally.faults += 1;
            self.tally.first_fault.get_or_insert_with(|| fault.line());
            state.ladder.fault(now);
        }
    }

    /// What the sample says besides the monitors.
    fn events(&mut self, sample: &Sample) {
        let now = sample.window.end_ns;
        let probes = &sample.probes;
        if probes.slept_ns.0 > 0 {
            let event = PolicyEvent::Resumed { slept_ms: probes.slept_ns.as_ms() };
            (0..self.domains.len()).for_each(|domain| self.tell(domain, &event, now));
        }
        let Some(cpus) = probes.cpus_online else { return };
        if self.cpus_online.replace(cpus).is_some_and(|before| before != cpus) {
            let event = PolicyEvent::CpusChanged { cpus };
            (0..self.domains.len()).for_each(|domain| self.tell(domain, &event, now));
        }
    }

    /// Walks the road for `sample`; the answer has one entry per domain.
    pub fn tick(&mut self, sample: &Sample) -> &[DomainTick] {
        self.events(sample);
        self.decide_all(sample);
        // A level that no policy chose is nothing to judge a canary by.
        if self.pause.is_none() {
            self.watch_canary(sample.window.end_ns);
        }
        &self.ticks
    }

    /// The canary's tick, and its end.
    fn watch_canary(&mut self, now: Nanos) {
        let Some(mut canary) = self.canary.take() else { return };
        let tables = self.board.domains.iter().map(|domain| &domain.table);
        let rails = self.domains.iter().map(|domain| &domain.rails);
        let levels = self.ticks.iter().map(|tick| tick.decision.level);
        let decided =
            tables.zip(rails).zip(levels).map(|((table, rails), level)| (table, rails, level));
        canary.tick(self.observer.last(), decided);
        if !canary.is_over(now) {
            self.canary = Some(canary);
            return;
        }
        let (end, policy) = canary.end();
        let rails = self.canary_rails.take();
        if end.promoted {
            self.policy = policy;
            self.forgive();
            if let Some(rails) = rails {
                self.set_rails(&rails);
            }
        }
        self.notes.push(Note::CanaryEnd(end));
    }

    fn decide_all(&mut self, sample: &Sample) {
        let standings = self.domains.iter().map(|domain| Standing {
            level: domain.clamped.or(domain.level),
            changed_at: domain.state.changed_at,
            min_level: domain.rails.min_level,
            max_level: domain.rails.max_level,
        });
        let observations = self.observer.observe(&self.board, sample, standings);
        self.ticks.clear();
        let now = sample.window.end_ns;
        let described = self.board.domains.iter().map(|domain| (&domain.name, &domain.table));
        for (index, ((state, (name, table)), observation)) in
            self.domains.iter_mut().zip(described).zip(observations).enumerate()
        {
            // The native rule sees every sample, so that it is warm when it has to stand in.
            let native = self.fallback.decide(observations, index);
            let wish = if state.ladder.may_ask(now) {
                match self.policy.decide(observations, index) {
                    Ok(Proposal { ask: Ask::Opp(level), .. }) if !table.has(level) => {
                        let name = self.policy.name_for(index);
                        Err(Origin::Fault(PolicyFault::unknown_level(name, level, table.len())))
                    }
                    Ok(proposal) => Ok(proposal),
                    Err(fault) => Err(Origin::Fault(fault)),
                }
            } else if state.ladder.is_demoted() {
                Err(Origin::Demoted)
            } else {
                Err(Origin::Aside)
            };
            let (proposal, origin) = match wish {
                Ok(proposal) => (proposal, Origin::Policy),
                Err(origin) => {
                    self.tally.fallbacks += 1;
                    if let Origin::Fault(fault) = &origin {
                        self.tally.faults += 1;
                        self.tally.first_fault.get_or_insert_with(|| fault.line());
                        if state.ladder.fault(now) == Fall::Demoted {
                            self.tally.demoted += 1;
                            let domain = name.clone();
                            self.notes.push(Note::Demoted { domain, fault: fault.line() });
                        }
                        self.policy.reset(index);
                    }
                    (native.unwrap_or_else(|_| Proposal::new(Ask::Max, "no rule")), origin)
                }
            };
            let decision =
                decide(table, &state.rails, &mut state.state, state.level, now, &proposal);
            let vote = Vote::from_decision(index, table, decision, state.level);
            self.ticks.push(DomainTick {
                observation: *observation,
                proposal,
                origin,
                decision,
                vote,
            });
        }
    }

    /// The last tick.
    pub fn last(&self) -> &[DomainTick] {
        &self.ticks
    }

    /// Takes the machine's answer to `vote`, given at `now` (the end of the sample's window). A clamped
    /// vote is kept as it is, so that it counts when the limit is lifted; what policies see as the
    /// level in force is what was read back.
    pub fn answer(&mut self, vote: &Vote, applied: &Applied, now: Nanos) {
        let Some(domain) = self.domains.get_mut(vote.domain) else { return };
        match applied {
            Applied::Foreign { .. } => domain.state.ownership = Ownership::Manual,
            Applied::Gone { .. } => domain.state.ownership = Ownership::Gone,
            answer if answer.in_force() => {
                domain.clamped = match answer {
                    Applied::Clamped { found } => {
                        self.board.domains.get(vote.domain).and_then(|d| d.level_of(*found))
                    }
                    _ => None,
                };
                if domain.level != Some(vote.level) {
                    domain.level = Some(vote.level);
                    domain.state.changed(now, &domain.rails);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "governor_tests.rs"]
mod tests;
