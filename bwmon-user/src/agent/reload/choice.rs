//! What is to run, as the files say now.

use super::stamp::Stamp;
use crate::command::Terms;
use crate::decide::Rails;
use crate::journal::ProductRecord;
use crate::live::bundles::Id;
use crate::policy::PolicySpec;
use crate::policy::canary::Rule;
use crate::policy::script::Source;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// One answer to the question what is to run.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The policy.
    pub policy: PolicySpec,
    /// The rails, one entry per domain.
    pub rails: Vec<Rails>,
    /// The product that chose them, if one did.
    pub product: Option<ProductRecord>,
    /// Milliseconds for which a changed policy is a canary, and what it is judged by.
    pub canary: Option<(u64, Rule)>,
    /// A client brought the policy: it is none of a bundle's, and the files are not followed.
    pub by_client: bool,
    /// A part of it, such as the period, is taken by a new start alone.
    pub waits_for_start: bool,
    /// The files and folders on which the answer depends: a change of one is a reason to ask again.
    pub watched: Vec<PathBuf>,
    /// What the operator should know.
    pub notes: Vec<String>,
}

impl Choice {
    /// Whether the same would run.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.policy == other.policy && self.has_same_terms(other)
    }

    pub(super) fn has_same_terms(&self, other: &Self) -> bool {
        self.rails == other.rails && self.product == other.product
    }

    pub(super) fn terms(&self) -> Terms {
        Terms { rails: self.rails.clone(), product: self.product.clone() }
    }

    /// The bundle that its product came in.
    pub(in crate::agent) fn bundle(&self) -> Option<Id> {
        self.product.as_ref()?.bundle.clone().map(Id::from)
    }

    /// What the policy is called.
    pub(super) fn title(&self) -> String {
        match &self.policy {
            PolicySpec::PerDomain(_) => self
                .product
                .as_ref()
                .map_or_else(|| "the policy".to_owned(), |product| product.name.clone()),
            spec => spec.title().to_owned(),
        }
    }

    /// Its scripts, each once, with the tunables that are set.
    pub(super) fn scripts(&self) -> Vec<(&Source, &[(String, String)])> {
        let mut all = Vec::new();
        collect(&self.policy, &mut all);
        all
    }

    pub(super) fn stamps(&self) -> Vec<Option<Stamp>> {
        self.watched.iter().map(|path| Stamp::of(path)).collect()
    }
}

type Script<'a> = (&'a Source, &'a [(String, String)]);

fn collect<'a>(spec: &'a PolicySpec, all: &mut Vec<Script<'a>>) {
    match spec {
        PolicySpec::Native | PolicySpec::Chain(_) => {}
        PolicySpec::Script { source, set } => {
            if !all.iter().any(|(other, settings)| *other == source && *settings == set.as_slice())
            {
                all.push((source, set));
            }
        }
        PolicySpec::PerDomain(parts) => parts.iter().for_each(|part| collect(&part.spec, all)),
    }
}

/// Asks the files again.
#[derive(Clone)]
pub struct Choose(Arc<dyn Fn() -> anyhow::Result<Choice> + Send + Sync>);

impl Choose {
    /// `choose` reads what there is to read, and answers what is to run or why that cannot be told.
    pub fn new(choose: impl Fn() -> anyhow::Result<Choice> + Send + Sync + 'static) -> Self {
        Self(Arc::new(choose))
    }

    pub(super) fn again(&self) -> anyhow::Result<Choice> {
        (self.0)()
    }
}

impl fmt::Debug for Choose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choose")
    }
}
