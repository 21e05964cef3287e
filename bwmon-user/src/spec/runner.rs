//! Scenarios run through the road: the policy under test, and those that are wrong on purpose.

use super::SpecError;
use super::adversary::{Adversary, Wrong};
use super::check::{Check, What};
use super::history::History;
use super::input::Input;
use super::judge::{Verdict, judge};
use super::parse::{Scenario, SetValue, Spec};
use super::report::{Failure, ScenarioReport, SpecReport};
use super::series::{SeriesSource, TakesAll};
use super::subject::Subject;
use super::text::Text;
use crate::decide::{Rails, Unvoted};
use crate::diag::Diagnostic;
use crate::governor::Governor;
use crate::policy::Policy;
use crate::ports::{Actuator, CounterSource, SourceError};
use crate::run::{Doors, Pace, run};
use crate::sim::{Setup, Simulation, VirtualClock};
use crate::units::{Kbps, Nanos};
use crate::vote::Vote;
use std::sync::atomic::AtomicBool;

impl Spec {
    /// Runs the scenarios whose names contain `filter` against `subject`.
    ///
    /// # Errors
    /// A policy that cannot be made, or a spec that is wrong for it or that cannot fail.
    pub fn run(
        &self,
        subject: &mut dyn Subject,
        filter: Option<&str>,
    ) -> Result<SpecReport, SpecError> {
        let wanted = |scenario: &&Scenario| filter.is_none_or(|part| scenario.name.contains(part));
        let mut scenarios = Vec::new();
        for scenario in self.scenarios.iter().filter(wanted) {
            let trial = Trial { text: Text { file: &self.file, text: &self.text }, scenario };
            scenarios.push(trial.run(subject)?);
        }
        Ok(SpecReport {
            policy: subject.name(),
            spec: self.file.clone(),
            ok: scenarios.iter().all(|scenario| scenario.ok),
            scenarios,
        })
    }
}

/// One scenario of one spec.
struct Trial<'a> {
    text: Text<'a>,
    scenario: &'a Scenario,
}

/// A check and what came of it.
struct Tried<'a> {
    check: &'a Check,
    /// The run of the policy that it compares with.
    other: Option<History>,
    verdict: Verdict,
    /// A policy was seen that breaks it.
    can_fail: bool,
    /// What it is about occurred in some run.
    occurs: bool,
}

impl Trial<'_> {
    fn run(&self, subject: &mut dyn Subject) -> Result<ScenarioReport, SpecError> {
        let policy = self.make(subject)?;
        let history = self.play(policy).map_err(SpecError::Spec)?;
        let mut tried = Vec::with_capacity(self.scenario.checks.len());
        for check in &self.scenario.checks {
            let other = self.other(check).map_err(SpecError::Spec)?;
            let verdict = judge(check, &history, other.as_ref());
            let can_fail = !verdict.misses.is_empty();
            let occurs = verdict.occurred;
            tried.push(Tried { check, other, verdict, can_fail, occurs });
        }
        self.prove(&mut tried).map_err(SpecError::Spec)?;
        Ok(self.report(&history, &tried))
    }

    /// Shows that every check can fail, by policies that break it.
    fn prove(&self, tried: &mut [Tried<'_>]) -> Result<(), Diagnostic> {
        for wrong in Wrong::ALL {
            if tried.iter().all(|tried| tried.can_fail) {
                return Ok(());
            }
            let history = self.play(Box::new(Adversary::new(wrong, &self.scenario.board)))?;
            for tried in tried.iter_mut().filter(|tried| !tried.can_fail) {
                let verdict = judge(tried.check, &history, tried.other.as_ref());
                tried.can_fail = !verdict.misses.is_empty();
                tried.occurs |= verdict.occurred;
            }
        }
        let Some(idle) = tried.iter().find(|tried| !tried.can_fail) else { return Ok(()) };
        let (name, key) = (&self.scenario.name, &idle.check.key);
        if !idle.occurs {
            let message = format!("{key} in \"{name}\" judges nothing: its span has no such event");
            let help = format!("it needs {}", idle.check.what.event());
            return Err(self.text.fault(&idle.check.at, message).help(help));
        }
        let message = format!("{key} in \"{name}\" cannot fail: every wrong policy keeps it");
        let wrong: Vec<&str> = Wrong::ALL.iter().map(|wrong| wrong.name()).collect();
        Err(self
            .text
            .fault(&idle.check.at, message)
            .help(format!("make it tighter, or leave it out; tried were {}", wrong.join(", "))))
    }

    /// The run of the policy that `check` compares with, if it does.
    fn other(&self, check: &Check) -> Result<Option<History>, Diagnostic> {
        let What::SameAs { policy, .. } = &check.what else { return Ok(None) };
        let (policy, _) = policy.clone().build(&self.scenario.board).map_err(|fault| {
            let message = format!("{}: {}", check.key, fault.message);
            Diagnostic { help: fault.help, ..self.text.fault(&check.at, message) }
        })?;
        self.play(policy).map(Some)
    }

    fn make(&self, subject: &mut dyn Subject) -> Result<Box<dyn Policy>, SpecError> {
        let Scenario { board, preset, set, .. } = self.scenario;
        let pairs = |set: &[SetValue]| -> Vec<(String, String)> {
            set.iter().map(|value| (value.name.clone(), value.value.clone())).collect()
        };
        let named = preset.as_ref().map(|(name, _)| name.as_str());
        let fault = match subject.make(board, named, &pairs(set)) {
            Ok(policy) => return Ok(policy),
            Err(fault) => fault,
        };
        // Whose fault is it? The policy's, if it cannot be made as it is either.
        subject.make(board, None, &[]).map_err(SpecError::Policy)?;
        let at_spec = |fault: Diagnostic, at| {
            SpecError::Spec(Diagnostic { help: fault.help, ..self.text.fault(at, fault.message) })
        };
        if let Some((name, at)) = preset
            && let Err(fault) = subject.make(board, Some(name), &[])
        {
            return Err(at_spec(fault, at));
        }
        for value in set {
            let one = std::slice::from_ref(value);
            if let Err(fault) = subject.make(board, named, &pairs(one)) {
                return Err(at_spec(fault, &value.at));
            }
        }
        Err(SpecError::Policy(fault))
    }

    fn report(&self, history: &History, tried: &[Tried<'_>]) -> ScenarioReport {
        let scenario = self.scenario;
        let mut failures: Vec<Failure> =
            tried.iter().flat_map(|tried| self.failures(tried)).collect();
        failures.sort_by_key(|failure| failure.line);
        failures.extend(self.faults(history));
        ScenarioReport {
            name: scenario.name.clone(),
            what: scenario.what.clone(),
            line: self.text.line(&scenario.at),
            board: scenario.board.id.clone(),
            ok: failures.is_empty(),
            simulated_ms: scenario.ticks * scenario.period_ms,
            ticks: scenario.ticks,
            expectations: scenario.checks.len(),
            failures,
        }
    }

    fn failures(&self, tried: &Tried<'_>) -> Vec<Failure> {
        let check = tried.check;
        let failure = |domain: Option<usize>, at_ms, expected, seen| Failure {
            line: self.text.line(&check.at),
            expectation: check.key.clone(),
            domain: domain
                .and_then(|index| self.scenario.board.domains.get(index))
                .map(|domain| domain.name.clone()),
            at_ms,
            expected,
            seen,
        };
        if !tried.verdict.occurred {
            let expected = format!("{} was to be judged", check.what.event());
            let seen = "there was none in the run of this policy".to_owned();
            return vec![failure(None, None, expected, seen)];
        }
        let misses = tried.verdict.misses.iter().cloned();
        misses
            .map(|miss| failure(Some(miss.domain), Some(miss.at_ms), miss.expected, miss.seen))
            .collect()
    }

    fn faults(&self, history: &History) -> Option<Failure> {
        let max = self.scenario.faults_max;
        let first = history.first_fault.as_ref().filter(|_| history.faults > max)?;
        Some(Failure {
            line: self.text.line(&self.scenario.at),
            expectation: format!("faults_max = {max}"),
            domain: Some(first.domain.clone()),
            at_ms: Some(first.at_ms),
            expected: format!("at most {max} faults of the policy were expected"),
            seen: format!(
                "there were {}, the first at {} ms: {}",
                history.faults, first.at_ms, first.line
            ),
        })
    }

    /// The scenario under `policy`.
    fn play(&self, policy: Box<dyn Policy>) -> Result<History, Diagnostic> {
        let Scenario { board, period_ms, ticks, start, input, .. } = self.scenario;
        let rails: Vec<Rails> =
            board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
        let mut governor = Governor::new(board.clone(), policy, rails, start);
        let walk = Walk { period: Nanos(period_ms * Nanos::PER_MS), ticks: *ticks };
        let played = match input {
            Input::Series(series) => {
                let mut history = History::new(board.clone(), *period_ms, Some(series.clone()));
                let mut clock = VirtualClock::default();
                let source = &mut SeriesSource::new(board.clone(), series.clone(), clock.clone());
                let doors = (source, &mut TakesAll, &mut clock);
                walk.run(&mut governor, doors, &mut history).map(|()| history)
            }
            Input::Workload { workload, votes } => {
                let mut history = History::new(board.clone(), *period_ms, None);
                let setup = Setup { votes: *votes, ..Setup::of(board)? };
                let mut sim = Simulation::new(board, workload.clone(), setup);
                for (domain, level) in start.iter().enumerate() {
                    let Some(level) = *level else { continue };
                    sim.actuator.apply(&Vote { domain, level, peak_kbps: Kbps(0), change: true });
                }
                let doors = (&mut sim.source, &mut sim.actuator, &mut sim.clock);
                let walked = walk.run(&mut governor, doors, &mut history);
                let totals = sim.plant().totals();
                history.held_back_ms = totals.iter().map(|t| t.below_demand.as_ms()).collect();
                walked.map(|()| history)
            }
        };
        played.map_err(|error| Diagnostic::new(self.text.file, error.to_string()))
    }
}

/// How far to go.
#[derive(Clone, Copy)]
struct Walk {
    period: Nanos,
    ticks: u64,
}

impl Walk {
    fn run<S: CounterSource, A: Actuator>(
        self,
        governor: &mut Governor,
        (source, actuator, clock): (&mut S, &mut A, &mut VirtualClock),
        journal: &mut History,
    ) -> Result<(), SourceError> {
        let stop = AtomicBool::new(false);
        let pace = Pace { period: self.period, ticks: Some(self.ticks), stop: &stop };
        run(governor, Doors { source, actuator, clock, journal }, pace).map(|_| ())
    }
}
