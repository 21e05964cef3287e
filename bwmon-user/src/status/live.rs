//! The picture that the loop keeps up to date, and the words that are made of it when somebody asks.

use super::history::{Bucket, History};
use super::{CanaryNow, Counts, DomainStatus, PolicyNow, ReloadNow, Status};
use crate::board::{Board, Level};
use crate::command::{Hold, PauseAt};
use crate::decide::{Ownership, Reason};
use crate::governor::{DomainTick, Origin};
use crate::journal::{Note, PolicyRecord, ProductRecord};
use crate::policy::Ask;
use crate::ports::Ticked;
use crate::sample::Reading;
use crate::units::{Kbps, Nanos};
use crate::vote::Applied;
use serde::Serialize;
use std::sync::Arc;

/// What does not change while the agent runs.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The board.
    pub board: Arc<Board>,
    /// `govern`, `dry-run` or `shadow`.
    pub mode: &'static str,
    /// Distance of the ticks.
    pub period_us: u64,
    /// The process.
    pub pid: u32,
    /// How each domain is voted, in words, in the board's order.
    pub paths: Vec<Option<String>>,
    /// The journal's file.
    pub journal: Option<String>,
}

/// The picture. Taking a tick into it allocates nothing in the steady state.
#[derive(Clone, Debug)]
pub struct Live {
    started: Option<Nanos>,
    now: Nanos,
    policy: PolicyNow,
    product: Option<ProductRecord>,
    canary: Option<(CanaryNow, Option<ProductRecord>)>,
    /// What was counted; the loop's part is taken over with every tick.
    pub counts: Counts,
    /// What came of the last reload.
    pub last_reload: Option<ReloadNow>,
    first_fault: Option<String>,
    pause: Option<PauseAt>,
    holds: Vec<Hold>,
    monitors: Vec<Reading>,
    domains: Vec<LiveDomain>,
}

/// One domain of it.
#[derive(Clone, Debug)]
struct LiveDomain {
    tick: Option<DomainTick>,
    level: Option<Level>,
    bounds: (Level, Level),
    ownership: Ownership,
    answer: Option<Applied>,
    transitions: u64,
    refused: u64,
    faults: u64,
    history: History,
}

impl Live {
    /// Whether a client has paused the policy.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// Before the first tick.
    pub fn new(board: &Board, policy: &PolicyRecord, product: Option<ProductRecord>) -> Self {
        let domain = |domain: &crate::board::Domain| LiveDomain {
            tick: None,
            level: None,
            bounds: (Level::LOWEST, domain.table.top()),
            ownership: Ownership::Ours,
            answer: None,
            transitions: 0,
            refused: 0,
            faults: 0,
            history: History::default(),
        };
        Self {
            started: None,
            now: Nanos(0),
            policy: now(policy),
            product,
            canary: None,
            counts: Counts::default(),
            last_reload: None,
            first_fault: None,
            pause: None,
            holds: Vec::new(),
            monitors: Vec::new(),
            domains: board.domains.iter().map(domain).collect(),
        }
    }

    /// Whether a tick has been taken.
    pub fn has_begun(&self) -> bool {
        self.started.is_some()
    }

    /// Takes what was done or happened between two ticks.
    pub fn note(&mut self, note: &Note) {
        match note {
            Note::Policy { policy, terms } => {
                self.policy = now(policy);
                self.canary = None;
                if let Some(terms) = terms {
                    self.product.clone_from(&terms.product);
                }
            }
            Note::Canary { policy, ms, rule, terms } => {
                let PolicyNow { name, digest } = now(policy);
                let canary = CanaryNow { name, digest, ms: *ms, rule: rule.to_string() };
                let product = terms.as_ref().map_or(&self.product, |terms| &terms.product).clone();
                self.canary = Some((canary, product));
            }
            Note::CanaryEnd(end) => {
                let Some((canary, product)) = self.canary.take().filter(|_| end.promoted) else {
                    return;
                };
                self.policy = PolicyNow { name: canary.name, digest: canary.digest };
                self.product = product;
            }
            Note::Demoted { .. }
            | Note::Pause(_)
            | Note::Resume
            | Note::Hold(_)
            | Note::Release(_)
            | Note::Lost(_) => {}
        }
    }

    /// Takes a tick.
    pub fn take(&mut self, ticked: &Ticked<'_>) {
        let Ticked { governor, sample, applied, stats } = *ticked;
        self.now = sample.window.end_ns;
        self.started.get_or_insert(self.now);
        let tally = governor.tally();
        self.counts = Counts {
            ticks: stats.ticks,
            wakes: stats.wakes,
            missed: stats.missed,
            faults: tally.faults,
            fallbacks: tally.fallbacks,
            demoted: tally.demoted,
            transitions: stats.transitions,
            refused: stats.refused,
            journal_errors: stats.journal_errors,
            lost_events: sample.probes.lost_events,
            ..self.counts
        };
        if self.first_fault.is_none() {
            self.first_fault.clone_from(&tally.first_fault);
        }
        self.pause = governor.pause();
        if self.holds.len() != governor.holds().len() || self.holds != governor.holds() {
            self.holds = governor.holds().to_vec();
        }
        self.monitors.clone_from(&sample.monitors);
        let ticks = governor.last().iter().zip(applied);
        for (index, (domain, (tick, answer))) in self.domains.iter_mut().zip(ticks).enumerate() {
            domain.take(self.now, tick, answer.as_ref());
            domain.level = governor.level(index);
            domain.ownership = governor.ownership(index).unwrap_or_default();
            if let Some(rails) = governor.rails(index) {
                domain.bounds = (rails.min_level, rails.max_level);
            }
            if let Some(table) = governor.board().domains.get(index).map(|domain| &domain.table) {
                let level_kbps = domain.level.map(|level| table.kbps_of(level));
                let peak_kbps = tick.observation.measured.map(|measured| measured.peak_kbps);
                domain.history.take(self.now, Bucket { peak_kbps, level_kbps });
            }
        }
    }

    /// The picture in words.
    pub fn status(&self, identity: &Identity) -> Status {
        let board = &identity.board;
        let domains = board.domains.iter().enumerate().zip(&self.domains);
        Status {
            program: format!("bwmon {}", crate::version()),
            pid: identity.pid,
            board: board.id.clone(),
            mode: identity.mode.to_owned(),
            uptime_ms: self.started.map_or(0, |started| self.now.since(started).as_ms()),
            period_us: identity.period_us,
            pause: self.pause,
            policy: self.policy.clone(),
            product: self.product.clone(),
            canary: self.canary.as_ref().map(|(canary, _)| canary.clone()),
            holds: self.holds.clone(),
            counts: self.counts,
            first_fault: self.first_fault.clone(),
            journal: identity.journal.clone(),
            last_reload: self.last_reload.clone(),
            domains: domains
                .map(|((index, domain), live)| {
                    let path = identity.paths.get(index).cloned().flatten();
                    let monitor = domain.monitor.and_then(|monitor| board.monitors.get(monitor));
                    let reading = domain.monitor.and_then(|monitor| self.monitors.get(monitor));
                    let monitor = monitor.map(|monitor| monitor.name.clone());
                    live.status(domain, path, monitor, reading)
                })
                .collect(),
        }
    }
}

impl LiveDomain {
    fn take(&mut self, _now: Nanos, tick: &DomainTick, answer: Option<&Applied>) {
        match &mut self.tick {
            Some(old) => old.clone_from(tick),
            None => self.tick = Some(tick.clone()),
        }
        self.faults += u64::from(matches!(tick.origin, Origin::Fault(_)));
        let Some(answer) = answer else { return };
        self.refused += u64::from(matches!(answer, Applied::Refused { .. }));
        let changed = tick.vote.is_some_and(|vote| vote.change);
        self.transitions += u64::from(changed && answer.in_force());
        // "In force" says nothing new about how the last vote was answered.
        if *answer != Applied::InForce && self.answer.as_ref() != Some(answer) {
            self.answer = Some(answer.clone());
        }
    }

    fn status(
        &self,
        domain: &crate::board::Domain,
        path: Option<String>,
        monitor: Option<String>,
        reading: Option<&Reading>,
    ) -> DomainStatus {
        let table = &domain.table;
        let measured = self.tick.as_ref().and_then(|tick| tick.observation.measured);
        let missing = match reading {
            Some(Reading::Missing(missing)) => Some(word(missing)),
            _ => None,
        };
        let tick = self.tick.as_ref();
        DomainStatus {
            name: domain.name.clone(),
            path,
            monitor,
            peak_kbps: measured.map(|measured| measured.peak_kbps),
            mean_kbps: measured.and_then(|measured| measured.mean_kbps),
            missing,
            others_kbps: tick.and_then(|tick| tick.observation.others_kbps),
            level: self.level.map(|level| level.0),
            level_kbps: self.level.map(|level| table.kbps_of(level)),
            table_kbps: (0..table.len()).map(|level| table.kbps_of(Level(level))).collect(),
            min_level: self.bounds.0.0,
            max_level: self.bounds.1.0,
            ask: tick.map(|tick| ask(tick.proposal.ask)).unwrap_or_default(),
            why: tick.map(|tick| tick.proposal.why.to_string()).unwrap_or_default(),
            by: tick.map_or("", |tick| by(&tick.origin)).to_owned(),
            reason: tick.map(|tick| word::<Reason>(&tick.decision.reason)).unwrap_or_default(),
            owner: word(&self.ownership),
            answer: self.answer.as_ref().map(answered),
            transitions: self.transitions,
            refused: self.refused,
            faults: self.faults,
            history: self.history.buckets().collect(),
        }
    }
}

fn now(policy: &PolicyRecord) -> PolicyNow {
    PolicyNow { name: policy.name.clone(), digest: policy.digest.clone() }
}

/// As in journals.
fn word<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

fn by(origin: &Origin) -> &'static str {
    match origin {
        Origin::Policy => "policy",
        Origin::Fault(_) | Origin::Aside => "fallback",
        Origin::Demoted => "demoted",
    }
}

fn ask(ask: Ask) -> String {
    match ask {
        Ask::Demand(Kbps(kbps)) => format!("demand {kbps} kBps"),
        Ask::Opp(level) => format!("level {level}"),
        Ask::Max => "max".to_owned(),
        Ask::Min => "min".to_owned(),
        Ask::Hold => "hold".to_owned(),
    }
}

fn answered(answer: &Applied) -> String {
    match answer {
        Applied::InForce => "in force".to_owned(),
        Applied::Placed => "placed".to_owned(),
        Applied::DryRun => "dry run".to_owned(),
        Applied::Clamped { found } => format!("clamped to {found}"),
        Applied::NotHonoured { found } => format!("not honoured: it runs at {found}"),
        Applied::Refused { why } => format!("refused: {why}"),
        Applied::Foreign { what } => format!("somebody else changed it: {what}"),
        Applied::Gone { what } => format!("gone: {what}"),
    }
}
