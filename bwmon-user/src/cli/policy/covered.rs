//! A policy under test whose lines are noted.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::script::preset;
use crate::policy::script::trace::{Coverage, Traced};
use crate::policy::{Policy, PolicyEvent, PolicyFault, PolicySpec, Proposal};
use crate::spec::Subject;
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;

/// Makes the policy of a spec, and keeps what was reached by all that it made.
pub(super) struct Covered {
    spec: PolicySpec,
    wanted: bool,
    made: Vec<Rc<RefCell<Traced>>>,
}

/// Lines that scenarios reached.
#[derive(Serialize)]
pub(super) struct CoverageReport {
    /// Percent of the lines on which a statement begins; `None` where it cannot be told.
    pub(super) percent: Option<f64>,
    lines: usize,
    reached: usize,
    missed: Vec<usize>,
}

impl CoverageReport {
    pub(super) fn text(&self) -> String {
        let Some(percent) = self.percent else {
            return "coverage unknown: not a script, or one whose lines cannot be told".to_owned();
        };
        let missed: Vec<String> = self.missed.iter().map(usize::to_string).collect();
        let missed = match missed.is_empty() {
            true => String::new(),
            false => format!("; never reached: line {}", missed.join(", ")),
        };
        format!("coverage {percent:.0} %: {} of {} lines{missed}", self.reached, self.lines)
    }
}

impl Covered {
    pub(super) fn new(spec: PolicySpec, wanted: bool) -> Self {
        Self { spec, wanted, made: Vec::new() }
    }

    pub(super) fn report(&self) -> CoverageReport {
        let mut all = Coverage::default();
        let mut known = false;
        for policy in &self.made {
            if let Some(coverage) = policy.borrow().coverage() {
                all.add(&coverage);
                known = true;
            }
        }
        let (lines, reached) = all.counts();
        let percent = all.percent().filter(|_| known).map(|p| (p * 10.0).round() / 10.0);
        CoverageReport { percent, lines, reached, missed: all.missed().collect() }
    }
}

impl Subject for Covered {
    fn name(&self) -> String {
        self.spec.name()
    }

    fn make(
        &mut self,
        board: &Board,
        chosen: Option<&str>,
        set: &[(String, String)],
    ) -> Result<Box<dyn Policy>, Diagnostic> {
        let (PolicySpec::Script { source, set: over }, true) = (&self.spec, self.wanted) else {
            return self.spec.make(board, chosen, set);
        };
        // In the order in which the spec's own policies get theirs: preset, spec, command line.
        let mut all = match chosen {
            Some(name) => preset(source, name)?,
            None => Vec::new(),
        };
        all.extend(set.iter().chain(over).cloned());
        let mut traced = Traced::new(source.clone(), board, &all)?;
        traced.note_steps(false);
        let traced = Rc::new(RefCell::new(traced));
        self.made.push(traced.clone());
        Ok(Box::new(Noted(traced)))
    }
}

struct Noted(Rc<RefCell<Traced>>);

impl Policy for Noted {
    fn name(&self) -> &str {
        // A borrowed name cannot leave the cell; reports take it from the spec.
        "policy under test"
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        self.0.borrow_mut().decide(all, domain)
    }

    fn reset(&mut self, domain: usize) {
        self.0.borrow_mut().reset(domain);
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.0.borrow_mut().event(domain, event)
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.0.borrow().state(domain)
    }
}
