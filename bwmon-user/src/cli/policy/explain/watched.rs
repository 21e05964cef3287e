//! The policy that is explained, watched where it is a script.

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::script::trace::{Step, Traced};
use crate::policy::{Ask, Part, Policy, PolicyEvent, PolicyFault, PolicySpec, Proposal};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What there is to tell of a domain's policy.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    /// What it is called.
    pub(super) name: String,
    /// The statements of its last call that was noted; `None` for a policy without any, or where
    /// they cannot be told.
    pub(super) steps: Option<Vec<Step>>,
    /// Whether it is a script.
    pub(super) is_script: bool,
}

/// What there is to tell, per domain; filled while the policy is called.
pub(super) type Telling = Rc<RefCell<Vec<Told>>>;

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
    telling: Telling,
    noting: Rc<Cell<bool>>,
}

impl Watched {
    /// The policy of `spec` for `board`, and what there will be to tell of it. Steps are noted while
    /// `noting` says so: it costs much, and only the last tick is told.
    pub(super) fn new(
        spec: PolicySpec,
        board: &Board,
        noting: Rc<Cell<bool>>,
    ) -> Result<(Self, Telling), Diagnostic> {
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
        let mut told = vec![Told::default(); board.domains.len()];
        let mut parts = Vec::new();
        for (index, Part { domains, spec }) in specs.into_iter().enumerate() {
            let name = spec.title().to_owned();
            let is_script = matches!(spec, PolicySpec::Script { .. });
            parts.push(match spec {
                PolicySpec::Script { source, set } => {
                    Inner::Script(Box::new(Traced::new(source, board, &set)?))
                }
                other => Inner::Other(other.build(board)?.0),
            });
            for at in domains.iter().filter_map(|domain| board.domain_index(domain)) {
                if let (Some(of), Some(told)) = (of.get_mut(at), told.get_mut(at)) {
                    *of = index;
                    *told = Told { name: name.clone(), steps: None, is_script };
                }
            }
        }
        let telling: Telling = Rc::new(RefCell::new(told));
        Ok((Self { name, parts, of, telling: telling.clone(), noting }, telling))
    }

    fn part(&self, domain: usize) -> Option<&Inner> {
        self.of.get(domain).and_then(|index| self.parts.get(*index))
    }

    fn part_mut(&mut self, domain: usize) -> Option<&mut Inner> {
        self.of.get(domain).and_then(|index| self.parts.get_mut(*index))
    }
}

impl Policy for Watched {
    fn name(&self) -> &str {
        &self.name
    }

    fn name_for(&self, domain: usize) -> &str {
        self.part(domain).map_or(&self.name, |part| part.policy().name())
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let noting = self.noting.get();
        let (answer, steps) = match self.part_mut(domain) {
            Some(Inner::Script(policy)) => {
                policy.note_steps(noting);
                let answer = policy.decide(all, domain);
                (answer, noting.then(|| policy.steps()).flatten())
            }
            Some(Inner::Other(policy)) => (policy.decide(all, domain), None),
            None => (Ok(Proposal::new(Ask::Max, "no policy")), None),
        };
        if let Some(told) = self.telling.borrow_mut().get_mut(domain) {
            told.steps = steps;
        }
        answer
    }

    fn reset(&mut self, domain: usize) {
        if let Some(part) = self.part_mut(domain) {
            part.policy_mut().reset(domain);
        }
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.part_mut(domain).map_or(Ok(()), |part| part.policy_mut().event(domain, event))
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.part(domain)?.policy().state(domain)
    }

    fn digest(&self) -> &str {
        match self.parts.as_slice() {
            [one] => one.policy().digest(),
            _ => "",
        }
    }

    fn digest_for(&self, domain: usize) -> &str {
        self.part(domain).map_or("", |part| part.policy().digest())
    }
}
