//! What the tests of this module need.

use super::{NoFiles, Options, ScenarioReport, SpecError, SpecReport};
use crate::diag::Diagnostic;
use crate::policy::PolicySpec;
use crate::policy::script::Source;

/// Follows the busiest window, up and down at once.
pub(super) const FOLLOWS: &str =
    "fn decide(obs) { if !obs.valid { return hold(); } demand_kBps(obs.peak_kBps).why(\"peak\") }";

pub(super) fn script(text: &str) -> PolicySpec {
    let source = Source { name: "p.rhai".into(), text: text.into() };
    PolicySpec::Script { source, set: Vec::new() }
}

pub(super) fn run(policy: &mut PolicySpec, spec: &str) -> Result<SpecReport, SpecError> {
    super::run("p.spec.toml", spec, policy, &Options::default(), &mut NoFiles)
}

/// The report of the one scenario of `body`, on the seed's board, which has one domain with the
/// levels 800000, 1804000, 2188000, 3072000, 4068000, 5412000, 6220000, 7216000.
pub(super) fn one(policy: &mut PolicySpec, body: &str) -> ScenarioReport {
    let spec = scenario(body);
    let mut report = run(policy, &spec).unwrap_or_else(|error| panic!("{spec}\n{error}"));
    report.scenarios.remove(0)
}

/// A spec with one scenario.
pub(super) fn scenario(body: &str) -> String {
    format!("schema = 1\nboard = \"sdm845-seed\"\n[[scenario]]\nname = \"s\"\n{body}\n")
}

/// The failures, one line each.
pub(super) fn failures(policy: &mut PolicySpec, body: &str) -> Vec<String> {
    one(policy, body).failures.iter().map(ToString::to_string).collect()
}

/// What is wrong with a spec, for a policy that follows the busiest window.
pub(super) fn wrong(spec: &str) -> Diagnostic {
    match run(&mut script(FOLLOWS), spec) {
        Err(SpecError::Spec(fault)) => fault,
        other => panic!("{spec}\n{other:?}"),
    }
}
