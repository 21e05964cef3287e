//! The policy that is explained, watched where it is a script.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::script::trace::{Step, Traced};
use crate::policy::{Policy, PolicyFault, PolicySpec, Proposal};
use std::cell::RefCell;
use std::rc::Rc;

/// The steps of the last call for each domain.
pub(super) type Steps = Rc<RefCell<Vec<Vec<Step>>>>;

enum Inner {
    Script(Box<Traced>),
    Other(Box<dyn Policy>),
}

/// A policy whose steps can be looked at after a tick.
pub(super) struct Watched {
    inner: Inner,
    steps: Steps,
}

impl Watched {
    /// The policy of `spec` for `board`; its source's lines, and where its steps will be.
    pub(super) fn new(
        spec: PolicySpec,
        board: &Board,
    ) -> Result<(Self, Vec<String>, Steps), Diagnostic> {
        let steps: Steps = Rc::new(RefCell::new(vec![Vec::new(); board.domains.len()]));
        let (inner, lines) = match spec {
            PolicySpec::Script { source, set } => {
                let lines = source.text.lines().map(|line| line.trim().to_owned()).collect();
                (Inner::Script(Box::new(Traced::new(source, board, &set)?)), lines)
            }
            other => (Inner::Other(other.build(board)?.0), Vec::new()),
        };
        Ok((Self { inner, steps: steps.clone() }, lines, steps))
    }
}

impl Policy for Watched {
    fn name(&self) -> &str {
        match &self.inner {
            Inner::Script(policy) => policy.name(),
            Inner::Other(policy) => policy.name(),
        }
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let policy = match &mut self.inner {
            Inner::Script(policy) => policy,
            Inner::Other(policy) => return policy.decide(all, domain),
        };
        let answer = policy.decide(all, domain);
        if let Some(place) = self.steps.borrow_mut().get_mut(domain) {
            *place = policy.steps();
        }
        answer
    }

    fn reset(&mut self, domain: usize) {
        match &mut self.inner {
            Inner::Script(policy) => policy.reset(domain),
            Inner::Other(policy) => policy.reset(domain),
        }
    }
}
