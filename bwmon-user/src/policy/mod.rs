//! Policies: what turns observations into proposals.

pub mod canary;
mod event;
mod fault;
mod ladder;
pub mod library;
mod native;
mod none;
mod per_domain;
mod proposal;
pub mod script;
pub mod stage;
#[cfg(test)]
pub(crate) mod testing;

pub use event::PolicyEvent;
pub use fault::{FaultKind, PolicyFault};
pub use ladder::{Fall, Ladder};
pub use native::Mainline;
pub use none::NoGovernor;
pub use per_domain::{Part, PerDomain};
pub use proposal::{Ask, MAX_WHY, Proposal, Why};

use crate::board::Board;
use crate::diag::Diagnostic;
use crate::journal::{PartRecord, PolicyRecord};
use crate::observe::Observation;
use script::{ScriptPolicy, Source};
use stage::Chain;

/// The name under which the native rule is known wherever a policy file may stand.
pub const NATIVE: &str = "native";

/// A rule. It proposes; it never decides, and it sees nothing but the observations.
pub trait Policy {
    /// Name for journals and reports.
    fn name(&self) -> &str;

    /// The name of what decides for `domain`; another one only where domains have their own.
    fn name_for(&self, _domain: usize) -> &str {
        self.name()
    }

    /// What `domain` should have, given the observations of all domains of this tick.
    ///
    /// # Errors
    /// A fault; the state for `domain` is then as after [`Policy::reset`].
    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault>;

    /// Forgets what it remembers about `domain`.
    fn reset(&mut self, domain: usize);

    /// Tells it that something happened, before the tick that follows.
    ///
    /// # Errors
    /// A fault; the state for `domain` is then as after [`Policy::reset`].
    fn event(&mut self, _domain: usize, _event: &PolicyEvent) -> Result<(), PolicyFault> {
        Ok(())
    }

    /// What it remembers about `domain`, as plain data, for a policy that takes its place.
    fn state(&self, _domain: usize) -> Option<serde_json::Value> {
        None
    }

    /// The digest of its text; empty for one that is compiled in.
    fn digest(&self) -> &str {
        ""
    }

    /// The digest of what decides for `domain`; another one only where domains have their own.
    fn digest_for(&self, _domain: usize) -> &str {
        self.digest()
    }
}

/// Which policy, before it is made for a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySpec {
    /// The native rule.
    Native,
    /// A chain of native stages, by its text.
    Chain(String),
    /// A script, with values (name and text) over the defaults of its tunables.
    Script {
        /// Its name and text.
        source: Source,
        /// `name=value` pairs.
        set: Vec<(String, String)>,
    },
    /// Domains with policies of their own; every domain of the board is in one of them.
    PerDomain(Vec<Part>),
}

impl PolicySpec {
    /// The policy of a journal, with the tunables that it ran with.
    pub fn from_record(record: &PolicyRecord) -> Self {
        if !record.policies.is_empty() {
            let part = |part: &PartRecord| Part {
                domains: part.domains.clone(),
                spec: Self::from_record(&part.policy),
            };
            return Self::PerDomain(record.policies.iter().map(part).collect());
        }
        if record.name == NATIVE {
            return Self::Native;
        }
        if record.name.starts_with(stage::PREFIX) {
            return Self::Chain(record.name.clone());
        }
        let set = record.params.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let source = Source { name: record.name.clone(), text: record.source.clone() };
        Self::Script { source, set: set.collect() }
    }

    /// What reports call it: a file, a shipped policy, `native` or a chain.
    pub fn title(&self) -> &str {
        match self {
            Self::Native => NATIVE,
            Self::Chain(text) => text,
            Self::Script { source, .. } => &source.name,
            Self::PerDomain(_) => "one per domain",
        }
    }

    /// Makes the policy for `board`, and its record for the journal.
    ///
    /// # Errors
    /// What is wrong with the script or with a value.
    pub fn build(self, board: &Board) -> Result<(Box<dyn Policy>, PolicyRecord), Diagnostic> {
        match self {
            Self::Native => Ok((Box::new(Mainline::new(board)), compiled_in(NATIVE))),
            Self::Chain(text) => {
                let chain = Chain::new(&text, board).map_err(|error| {
                    Diagnostic::new(&text, error.to_string())
                        .help("`bwmon policy docs` lists the stages")
                })?;
                Ok((Box::new(chain), compiled_in(&text)))
            }
            Self::Script { source, set } => {
                let policy = ScriptPolicy::new(source, board, &set)?;
                let record = policy.record();
                Ok((Box::new(policy), record))
            }
            Self::PerDomain(parts) => {
                let (policy, record) = PerDomain::new(parts, board)?;
                Ok((Box::new(policy), record))
            }
        }
    }
}

/// Whether `name` is a policy without a script: the native rule or a chain.
pub fn is_compiled_in(name: &str) -> bool {
    name == NATIVE || name.starts_with(stage::PREFIX)
}

/// The record of a policy that has no script.
fn compiled_in(name: &str) -> PolicyRecord {
    PolicyRecord { name: name.to_owned(), ..PolicyRecord::default() }
}
