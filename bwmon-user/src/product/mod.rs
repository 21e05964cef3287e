//! Products: which policy, tunables and limits a machine gets, from files that are matched with what
//! the machine says about itself. Format and rules: docs/products.md.

mod at;
mod catalog;
mod effective;
mod given;
mod glob;
mod guess;
mod inherit;
mod kernel;
mod limits;
mod machine;
mod matching;
mod parse;
mod reader;
mod resolve;
mod shipped;

pub use at::{At, Sourced};
pub use catalog::{Catalog, Hidden, Layer, LayerFile, MAX_BASES, Place};
pub use effective::{EffectiveDomain, Loader, Origin, Setting, effective, plan};
pub use given::{Given, GivenLimit, domain_limits};
pub use glob::Glob;
pub use guess::guessed_board;
pub use kernel::KernelRange;
pub use limits::{LimitKey, Limits};
pub use machine::MachineFacts;
pub(crate) use machine::clean;
pub use matching::{Fit, Match, MatchKey, Rank, Test};
pub use parse::{PERIOD_US, parse};
pub use resolve::{Candidate, Resolution, resolve, stands};
pub use shipped::shipped;

use std::collections::BTreeMap;
use std::sync::Arc;

/// The policy of a product, or of a machine, for which nothing else is said.
pub const DEFAULT_POLICY: &str = "bwmon";

/// A product file, on its own or with its bases merged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Its name, that of its file without the ending.
    pub name: Sourced<String>,
    /// Its file.
    pub file: Arc<str>,
    /// Its version, in the words of whoever looks after it.
    pub version: Option<Sourced<String>>,
    /// What it is for, in a line.
    pub what: Option<Sourced<String>>,
    /// The product that it is based on.
    pub extends: Option<Sourced<String>>,
    /// It is only a base for others and fits no machine.
    pub is_abstract: bool,
    /// The files of the bases that were merged in, nearest first.
    pub bases: Vec<Arc<str>>,
    /// The machines that it is for.
    pub matching: Match,
    /// The board: a built-in one or a board file, relative to the file that names it.
    pub board: Option<Sourced<String>>,
    /// Distance of the ticks.
    pub period_us: Option<Sourced<i64>>,
    /// What holds for every domain.
    pub settings: Settings,
    /// What holds for single domains, over that.
    pub domains: BTreeMap<String, Sourced<Settings>>,
}

impl Product {
    fn empty(name: Sourced<String>, file: &str) -> Self {
        Self {
            name,
            file: file.into(),
            version: None,
            what: None,
            extends: None,
            is_abstract: false,
            bases: Vec::new(),
            matching: Match::default(),
            board: None,
            period_us: None,
            settings: Settings::default(),
            domains: BTreeMap::new(),
        }
    }

    /// What holds for the domain called `name`.
    pub fn settings_of(&self, name: &str) -> Settings {
        match self.domains.get(name) {
            Some(domain) => self.settings.under(&domain.value, self.settings.policy_name()),
            None => self.settings.clone(),
        }
    }

    /// Its name and version.
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {}", self.name.value, version.value),
            None => self.name.value.clone(),
        }
    }
}

/// Policy, tunables and limits, as far as they are said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The policy: a shipped one, `native`, a chain, or a script relative to the file.
    pub policy: Option<Sourced<String>>,
    /// A preset of that policy.
    pub preset: Option<Sourced<String>>,
    /// Tunables of that policy, by name, over the preset.
    pub params: BTreeMap<String, Sourced<String>>,
    /// Limits.
    pub limits: Limits,
}

impl Settings {
    fn policy_name(&self) -> &str {
        self.policy.as_ref().map_or(DEFAULT_POLICY, |policy| &policy.value)
    }

    /// These settings with those of `over` on top, key by key. Preset and tunables belong to the
    /// policy that they were written for, `policy`: another one starts without them.
    fn under(&self, over: &Self, policy: &str) -> Self {
        let limits = self.limits.under(&over.limits);
        if over.policy.as_ref().is_some_and(|other| other.value != policy) {
            return Self { limits, ..over.clone() };
        }
        let mut params = self.params.clone();
        params.extend(over.params.clone());
        Self {
            policy: over.policy.clone().or_else(|| self.policy.clone()),
            preset: over.preset.clone().or_else(|| self.preset.clone()),
            params,
            limits,
        }
    }
}
