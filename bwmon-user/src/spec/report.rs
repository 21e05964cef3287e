//! What came of a spec.

use serde::Serialize;
use std::fmt;

/// The result of all scenarios that were run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecReport {
    /// The policy.
    pub policy: String,
    /// The spec's file.
    pub spec: String,
    /// Every scenario holds.
    pub ok: bool,
    /// In the order of the spec.
    pub scenarios: Vec<ScenarioReport>,
}

impl SpecReport {
    /// The first expectation that does not hold, with its scenario.
    pub fn first_failure(&self) -> Option<(&ScenarioReport, &Failure)> {
        self.scenarios.iter().find_map(|s| s.failures.first().map(|failure| (s, failure)))
    }

    /// Simulated time of all scenarios.
    pub fn simulated_ms(&self) -> u64 {
        self.scenarios.iter().map(|scenario| scenario.simulated_ms).sum()
    }
}

/// The result of one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScenarioReport {
    /// Its name.
    pub name: String,
    /// What it stands for; empty if the spec does not say.
    pub what: String,
    /// Its line in the spec.
    pub line: usize,
    /// The board that it ran on.
    pub board: String,
    /// Every expectation holds.
    pub ok: bool,
    /// Simulated time.
    pub simulated_ms: u64,
    /// Ticks.
    pub ticks: u64,
    /// Expectations that were judged.
    pub expectations: usize,
    /// Those that do not hold, each with the first time at which it does not.
    pub failures: Vec<Failure>,
}

/// An expectation that does not hold on a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its line in the spec.
    pub line: usize,
    /// As it is written there: `rise_ms = 4`.
    pub expectation: String,
    /// The domain; `None` for the policy's faults.
    pub domain: Option<String>,
    /// When, in simulated time; `None` for what did not occur.
    pub at_ms: Option<u64>,
    /// What was expected.
    pub expected: String,
    /// What was seen instead.
    pub seen: String,
}

/// One line: the expectation, the domain, what was expected and what was seen.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.expectation, self.line)?;
        if let Some(domain) = &self.domain {
            write!(f, " on {domain}")?;
        }
        write!(f, ": {}, {}", self.expected, self.seen)
    }
}
