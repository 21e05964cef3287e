//! The policy that is explained, watched where it is a script.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::script::trace::{Step, Traced};
use crate::policy::{Part, Policy, PolicyEvent, PolicyFault, PolicySpec, Proposal};
use std::cell::RefCell;
use std::rc::Rc;

/// The steps of the last call for each domain.
pub(super) type Steps = Rc<RefCell<Vec<Vec<Step>>>>;

enum Inner {
    Script(Box<Traced>),
    Other(Box<dyn Policy>),
}

impl Inner {
    fn policy(&self) -> &dyn Policy {
        match self {
            Self::Script(policy) => &**policy,
            Self::Other(policy) => &**policy,
        }
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        match self {
            Self::Script(policy) => &mut **policy,
            Self::Other(policy) => &mut **policy,
        }
    }
}

/// A policy whose steps can be looked at after a tick.
pub(super) struct Watched {
    name: String,
    parts: Vec<Inner>,
    /// For each domain, the index of its part.
    of: Vec<usize>,
    steps: Steps,
}

/// What a domain's policy is called, and the lines of its source.
#[derive(Clone, Default)]
pub(super) struct Text {
    pub(super) name: String,
    pub(super) lines: Vec<String>,
}

impl Watched {
    /// The policy of `spec` for `board`; for each domain its source, and where its steps will be.
    pub(super) fn new(
        spec: PolicySpec,
        board: &Board,
    ) -> Result<(Self, Vec<Text>, Steps), Diagnostic> {
        let steps: Steps = Rc::new(RefCell::new(vec![Vec::new(); board.domains.len()]));
        let name = spec.title().to_owned();
        let domains = board.domains.iter().map(|domain| domain.name.clone()).collect();
        let specs = match spec {
            PolicySpec::PerDomain(parts) => {
                // Every domain has one, and no more.
                PolicySpec::PerDomain(parts.clone()).build(board)?;
                parts
            }
            spec => vec![Part { domains, spec }],
        };
        let mut of = vec![0; board.domains.len()];
        let mut texts = vec![Text::default(); board.domains.len()];
        let mut parts = Vec::new();
        for (index, Part { domains, spec }) in specs.into_iter().enumerate() {
            let mut text = Text { name: spec.title().to_owned(), lines: Vec::new() };
            parts.push(match spec {
                PolicySpec::Script { source, set } => {
                    text.lines = source.text.lines().map(|line| line.trim().to_owned()).collect();
                    Inner::Script(Box::new(Traced::new(source, board, &set)?))
                }
                other => Inner::Other(other.build(board)?.0),
            });
            for at in domains.iter().filter_map(|domain| board.domain_index(domain)) {
                if let (Some(of), Some(place)) = (of.get_mut(at), texts.get_mut(at)) {
                    *of = index;
                    *place = text.clone();
                }
            }
        }
        Ok((Self { name, parts, of, steps: steps.clone() }, texts, steps))
    }

    fn part(&mut self, domain: usize) -> Option<&mut Inner> {
        self.of.get(domain).and_then(|index| self.parts.get_mut(*index))
    }
}

impl Policy for Watched {
    fn name(&self) -> &str {
        &self.name
    }

    fn name_for(&self, domain: usize) -> &str {
        let part = self.of.get(domain).and_then(|index| self.parts.get(*index));
        part.map_or(&self.name, |part| part.policy().name())
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let Some(part) = self.part(domain) else {
            return Ok(Proposal::new(crate::policy::Ask::Max, "no policy"));
        };
        let answer = part.policy_mut().decide(all, domain);
        let found = match part {
            Inner::Script(policy) => policy.steps().unwrap_or_default(),
            Inner::Other(_) => return answer,
        };
        if let Some(place) = self.steps.borrow_mut().get_mut(domain) {
            *place = found;
        }
        answer
    }

    fn reset(&mut self, domain: usize) {
        if let Some(part) = self.part(domain) {
            part.policy_mut().reset(domain);
        }
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.part(domain).map_or(Ok(()), |part| part.policy_mut().event(domain, event))
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        let part = self.of.get(domain).and_then(|index| self.parts.get(*index))?;
        part.policy().state(domain)
    }

    fn digest_for(&self, domain: usize) -> &str {
        let part = self.of.get(domain).and_then(|index| self.parts.get(*index));
        part.map_or("", |part| part.policy().digest())
    }
}
