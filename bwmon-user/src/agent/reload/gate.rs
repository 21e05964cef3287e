//! What a policy has to pass before it may decide: the check on this board, and its spec.

use crate::board::Board;
use crate::live::{SpecFolder, text_of};
use crate::policy::PolicySpec;
use crate::policy::script::{Source, check};
use crate::spec::{self, Options};
use anyhow::anyhow;
use std::path::Path;

/// Passes `source`, or says what is wrong with it. The answer is for the operator.
///
/// # Errors
/// The first fault of the check, or the first expectation of its spec that does not hold.
pub(super) fn pass(
    source: &Source,
    board: &Board,
    set: &[(String, String)],
) -> anyhow::Result<String> {
    let checked = check(source.clone(), board, set)?;
    let file = Path::new(&source.name).with_extension("spec.toml");
    if !file.exists() {
        return Ok(format!("passed its check ({} calls); it has no spec", checked.calls));
    }
    let name = file.to_string_lossy().into_owned();
    let text = text_of(&name)?;
    let mut subject = PolicySpec::Script { source: source.clone(), set: set.to_vec() };
    let mut files = SpecFolder::of(&file);
    let report = spec::run(&name, &text, &mut subject, &Options::default(), &mut files)?;
    match report.first_failure() {
        None if report.ok => Ok(format!(
            "passed its check ({} calls) and its spec ({} scenarios)",
            checked.calls,
            report.scenarios.len()
        )),
        None => Err(anyhow!("its spec {name} does not hold")),
        Some((scenario, failure)) => Err(anyhow!(
            "its spec {name} does not hold: \"{}\", {} (line {}): {}, {}",
            scenario.name,
            failure.expectation,
            failure.line,
            failure.expected,
            failure.seen
        )),
    }
}
