//! The specs of a bundle: every scenario holds, with the values that its products give.

use super::{Bundle, Checked, Ready, Role, fault, parts};
use crate::bundle::path;
use crate::diag::Diagnostic;
use crate::policy::PolicySpec;
use crate::policy::script::Source;
use crate::spec::{self, Files, Options};

const ENDING: &str = ".spec.toml";

pub(super) fn check(
    bundle: &Bundle,
    ready: &[Ready],
    checked: &mut Checked,
) -> Result<(), Diagnostic> {
    for file in bundle.of(Role::Spec) {
        let script = format!("{}.rhai", file.path.strip_suffix(ENDING).unwrap_or(&file.path));
        let text = bundle.text(&script).map_err(|_| {
            fault(bundle, format!("the spec {} has no policy {script} beside it", file.path))
                .help("list the policy, or leave the spec out")
        })?;
        let mut sets: Vec<Vec<(String, String)>> = Vec::new();
        for policy in ready.iter().flat_map(|ready| parts(&ready.plan)) {
            if let PolicySpec::Script { source, set } = policy
                && source.name == script
                && !sets.contains(set)
            {
                sets.push(set.clone());
            }
        }
        if sets.is_empty() {
            sets.push(Vec::new());
        }
        for set in sets {
            let source = Source { name: script.clone(), text: text.to_owned() };
            checked.scenarios += holds(bundle, &file.path, source, set)?;
        }
    }
    for file in bundle.of(Role::Policy) {
        let stem = file.path.strip_suffix(".rhai").unwrap_or(&file.path);
        if !bundle.files.contains_key(&format!("{stem}{ENDING}")) {
            checked.notes.push(format!("{}: it has no spec", file.path));
        }
    }
    Ok(())
}

/// How many scenarios of the spec `name` hold; all, or an error.
fn holds(
    bundle: &Bundle,
    name: &str,
    source: Source,
    set: Vec<(String, String)>,
) -> Result<usize, Diagnostic> {
    let text = bundle.text(name).map_err(|why| fault(bundle, why))?;
    let values: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut subject = PolicySpec::Script { source, set };
    let mut files = Beside { bundle, spec: name };
    let report =
        spec::run(name, text, &mut subject, &Options::default(), &mut files).map_err(|error| {
            match error {
                spec::SpecError::Spec(fault) | spec::SpecError::Policy(fault) => fault,
            }
        })?;
    if report.ok {
        return Ok(report.scenarios.len());
    }
    let with =
        if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
    Err(match report.first_failure() {
        Some((scenario, failure)) => Diagnostic::new(
            format!("{name}:{}", failure.line),
            format!(
                "the spec does not hold{with}: \"{}\", {}: {}, {}",
                scenario.name, failure.expectation, failure.expected, failure.seen
            ),
        ),
        None => Diagnostic::new(name, format!("the spec does not hold{with}")),
    })
}

/// The files of the bundle that a spec names.
struct Beside<'a> {
    bundle: &'a Bundle,
    spec: &'a str,
}

impl Files for Beside<'_> {
    fn read(&mut self, name: &str) -> Result<String, String> {
        if path::beside(self.spec, name).is_none() {
            return Err(format!("{name} leads out of the bundle"));
        }
        self.bundle.beside(self.spec, name).map(|(_, text)| text.to_owned())
    }
}
