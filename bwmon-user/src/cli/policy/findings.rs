//! Findings on a terminal, as JSON, and as annotations for GitHub.

use crate::cli::output::{line, say, table};
use crate::diag::{did_you_mean, printable};
use crate::policy::script::lint::{Code, Finding, LINTS, Severity};
use anyhow::bail;
use serde::Serialize;

/// A finding as JSON.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    code: &'static str,
    severity: &'static str,
    message: String,
    line: Option<usize>,
    column: Option<usize>,
    help: Option<String>,
    board: Option<String>,
    domain: Option<String>,
}

impl From<&Finding> for Row {
    fn from(finding: &Finding) -> Self {
        let place = finding.diagnostic.place.as_ref();
        Self {
            code: finding.code.name(),
            severity: finding.severity().name(),
            message: finding.diagnostic.message.clone(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            help: finding.diagnostic.help.clone(),
            board: finding.board.clone(),
            domain: finding.domain.clone(),
        }
    }
}

/// Tells the operator about a finding.
pub(super) fn tell(finding: &Finding) {
    say(&format!("{}[{}]: {}", finding.severity().name(), finding.code, finding.diagnostic));
}

/// A finding as an annotation of GitHub's workflows.
pub(super) fn annotate(finding: &Finding) -> anyhow::Result<()> {
    let fault = &finding.diagnostic;
    let mut place = format!("file={}", property(&fault.file));
    if let Some(at) = &fault.place {
        place.push_str(&format!(",line={},col={}", at.line, at.column));
    }
    let help = fault.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    line(&format!(
        "::{} {place},title={}::{}",
        finding.severity().name(),
        finding.code,
        data(&format!("{}{help}", fault.message))
    ))
}

/// Escapes as GitHub's runner undoes it.
fn data(text: &str) -> String {
    let text: String = text.chars().map(|c| if c == '\n' { c } else { printable(c) }).collect();
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The codes that `--allow` names.
pub(super) fn codes(names: &[String]) -> anyhow::Result<Vec<Code>> {
    let mut codes = Vec::new();
    for name in names {
        let Some(code) = Code::from_name(name) else {
            let known = LINTS.iter().map(|lint| lint.code.name());
            match did_you_mean(name, known) {
                Some(near) => bail!("there is no lint {name}; did you mean {near}?"),
                None => bail!("there is no lint {name}; --list-codes lists them"),
            }
        };
        if !code.can_be_allowed() {
            bail!("{code} cannot be allowed: the policy does not run");
        }
        codes.push(code);
    }
    Ok(codes)
}

/// One row of the list of codes, as JSON.
#[derive(Serialize)]
struct CodeRow {
    code: &'static str,
    severity: &'static str,
    what: &'static str,
}

/// Prints all codes.
pub(super) fn list(json: bool) -> anyhow::Result<()> {
    let rows = LINTS.iter().map(|lint| CodeRow {
        code: lint.code.name(),
        severity: lint.severity.name(),
        what: lint.what,
    });
    if json {
        return crate::cli::output::json(&rows.collect::<Vec<_>>());
    }
    let cells = rows.map(|row| vec![row.code.into(), row.severity.into(), row.what.into()]);
    line(&table(&["code", "severity", "what it finds"], &[], cells.collect()))
}

/// All codes, for the long help.
pub(super) fn help() -> String {
    let mut text = String::new();
    for (head, severity) in [("Errors:\n", Severity::Error), ("\nWarnings:\n", Severity::Warning)] {
        text.push_str(head);
        for lint in LINTS.iter().filter(|lint| lint.severity == severity) {
            text.push_str(&format!("  {:<20} {}\n", lint.code.name(), lint.what));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_cannot_be_broken_by_a_file_name_or_a_message() {
        assert_eq!(property("a,b:c%d"), "a%2Cb%3Ac%25d");
        assert_eq!(data("one\ntwo"), "one%0Atwo");
    }

    #[test]
    fn codes_are_looked_up_and_what_does_not_run_cannot_be_allowed() {
        let names = |name: &str| codes(&[name.to_owned()]);
        assert_eq!(names("flapping").unwrap(), [Code::Flapping]);
        assert!(names("flaping").unwrap_err().to_string().contains("did you mean flapping?"));
        assert!(names("fault").unwrap_err().to_string().contains("cannot be allowed"));
    }
}
