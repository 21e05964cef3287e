//! How a bundle's policies are tried beside the ones that run before they take over.

use crate::policy::canary::{Rule, RuleError};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The times that a canary may take, in milliseconds: up to a day.
const MS: RangeInclusive<u64> = 1..=86_400_000;

/// `[canary]` of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleCanary {
    /// So many milliseconds in shadow.
    pub ms: u64,
    /// What it is judged by then, as [`Rule`] reads it; the default rule if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl BundleCanary {
    /// Time in milliseconds, and rule.
    ///
    /// # Errors
    /// What is wrong with one of them, in a line.
    pub fn terms(&self) -> Result<(u64, Rule), String> {
        if !MS.contains(&self.ms) {
            return Err(format!("a canary of {} ms: write 1 to {}", self.ms, MS.end()));
        }
        let rule = match &self.rule {
            Some(rule) => rule.parse().map_err(|error: RuleError| error.to_string())?,
            None => Rule::default(),
        };
        Ok((self.ms, rule))
    }
}
