//! Specs: what must hold for a policy, as data beside its script (`<name>.spec.toml`).
//!
//! A scenario feeds a series of readings, or a workload of the simulator, through the road that a
//! live run walks, and expectations judge the levels that come of it. A spec that cannot fail is an
//! error: every expectation has to be broken by at least one policy that is wrong on purpose.
//! docs/policy-spec.md is the reference of the format.

mod adversary;
mod check;
mod expect;
mod history;
mod input;
mod judge;
mod judge_demand;
mod parse;
mod raw;
mod report;
mod runner;
mod series;
mod steps;
mod subject;
mod text;
mod value;

#[cfg(test)]
mod bad_tests;
#[cfg(test)]
mod holds_tests;
#[cfg(test)]
mod mutant_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod testing;

pub use parse::{MAX_SPEC, Spec, parse};
pub use report::{Failure, ScenarioReport, SpecReport};
pub use subject::Subject;

use crate::board::Board;
use crate::diag::Diagnostic;
use std::sync::Arc;

/// Texts that a spec names besides itself: boards, scenarios of the simulator, other policies. This
/// module reads no files.
pub trait Files {
    /// The text of `name`, a path as it stands in the spec, taken from the spec's folder.
    ///
    /// # Errors
    /// Why it cannot be had, in one line.
    fn read(&mut self, name: &str) -> Result<String, String>;
}

/// For specs that name only what is built in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&mut self, name: &str) -> Result<String, String> {
        Err(format!("cannot read {name}: this spec may name only what is built in"))
    }
}

/// How a spec is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A board in the place of those that the spec names.
    pub board: Option<Arc<Board>>,
    /// Run only the scenarios whose name contains this.
    pub filter: Option<String>,
}

/// Why a spec could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The spec is wrong.
    #[error("{0}")]
    Spec(Diagnostic),
    /// The policy cannot be made: it does not compile, or its `init` faults.
    #[error("{0}")]
    Policy(Diagnostic),
}

/// Parses the spec `text` (called `file` in errors) and runs it against `subject`.
///
/// # Errors
/// What is wrong with the spec or with the policy. Expectations that do not hold are no error: they
/// stand in the report.
pub fn run(
    file: &str,
    text: &str,
    subject: &mut dyn Subject,
    options: &Options,
    files: &mut dyn Files,
) -> Result<SpecReport, SpecError> {
    let spec = parse(file, text, options.board.as_ref(), files).map_err(SpecError::Spec)?;
    spec.run(subject, options.filter.as_deref())
}
