//! The policies of a bundle: the check that `bwmon policy check` makes, on the products' boards.

use super::{Bundle, Checked, Ready, Role, fault, parts};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::policy::PolicySpec;
use crate::policy::script::lint::{Finding, Severity, closed_loop, lint};
use crate::policy::script::{Source, check as dry_run};
use std::sync::Arc;

pub(super) fn check(
    bundle: &Bundle,
    ready: &[Ready],
    checked: &mut Checked,
) -> Result<(), Diagnostic> {
    let mut done: Vec<(&PolicySpec, &str)> = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    for Ready { board, plan, .. } in ready {
        for policy in parts(plan) {
            if let PolicySpec::Script { source, .. } = policy {
                used.push(&source.name);
            }
            if !done.contains(&(policy, &board.id)) {
                done.push((policy, &board.id));
                one(policy, board, checked)?;
            }
        }
    }
    for file in bundle.of(Role::Policy).filter(|file| !used.contains(&file.path.as_str())) {
        checked.notes.push(format!("{}: no product of the bundle uses it", file.path));
        let text = bundle.text(&file.path).map_err(|why| fault(bundle, why))?;
        let source = Source { name: file.path.clone(), text: text.to_owned() };
        if let Some(Ready { board, .. }) = ready.first() {
            one(&PolicySpec::Script { source, set: Vec::new() }, board, checked)?;
        }
    }
    Ok(())
}

/// Lints, a call from every level with every kind of reading, and demands to govern.
fn one(policy: &PolicySpec, board: &Arc<Board>, checked: &mut Checked) -> Result<(), Diagnostic> {
    let mut found = Vec::new();
    let mut follows = true;
    match policy {
        PolicySpec::Script { source, set } => {
            let lints = lint(source, board);
            follows = lints.reads_demand;
            found.extend(lints.findings);
            refuse(&found)?;
            dry_run(source.clone(), board, set)?;
        }
        PolicySpec::Chain(_) => {}
        // Its own tests check it on every board.
        PolicySpec::Native | PolicySpec::PerDomain(_) => return Ok(()),
    }
    found.extend(closed_loop(policy, board, follows));
    refuse(&found)?;
    checked.policies += 1;
    let title = policy.title();
    for Finding { diagnostic, code, .. } in found {
        let line = diagnostic.place.as_ref().map(|place| format!(":{}", place.line));
        let line = line.unwrap_or_default();
        let note =
            format!("{title}{line} on {}: {} ({})", board.id, diagnostic.message, code.name());
        if !checked.notes.contains(&note) {
            checked.notes.push(note);
        }
    }
    Ok(())
}

fn refuse(found: &[Finding]) -> Result<(), Diagnostic> {
    match found.iter().find(|finding| finding.severity() == Severity::Error) {
        Some(finding) => Err(finding.diagnostic.clone()),
        None => Ok(()),
    }
}
