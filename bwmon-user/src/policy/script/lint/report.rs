//! Findings, and the list that collects them.

use super::codes::{Code, Severity};
use crate::diag::{Diagnostic, Place};
use crate::policy::script::Source;
use rhai::Position;
use std::collections::BTreeSet;

/// One thing that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which lint.
    pub code: Code,
    /// Where, what, and what to do. Findings of the closed loop have no place.
    pub diagnostic: Diagnostic,
    /// The board on which it shows, if it is a matter of the board.
    pub board: Option<String>,
    /// The domain on which it shows.
    pub domain: Option<String>,
}

impl Finding {
    /// A finding about the script alone.
    pub fn new(code: Code, diagnostic: Diagnostic) -> Self {
        Self { code, diagnostic, board: None, domain: None }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// By place, then by code; those without a place come last.
    fn key(&self) -> (bool, usize, usize, Code, &Option<String>, &Option<String>, &str) {
        let (line, column) = self.diagnostic.place.as_ref().map_or((0, 0), |p| (p.line, p.column));
        let message = self.diagnostic.message.as_str();
        (line == 0, line, column, self.code, &self.board, &self.domain, message)
    }
}

/// Puts `findings` into the order in which they are shown, each once.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| a.key().cmp(&b.key()));
    findings.dedup_by(|a, b| a.key() == b.key());
}

/// Collects findings about one script.
#[derive(Debug)]
pub(super) struct Report<'a> {
    source: &'a Source,
    /// While types are still being worked out nothing is reported.
    pub(super) quiet: bool,
    seen: BTreeSet<(usize, usize, Code)>,
    findings: Vec<Finding>,
}

impl<'a> Report<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, quiet: false, seen: BTreeSet::new(), findings: Vec::new() }
    }

    /// The script's text.
    pub(super) fn text(&self) -> &'a str {
        &self.source.text
    }

    /// Notes a finding at `position`, once per place and code.
    pub(super) fn add(
        &mut self,
        code: Code,
        position: Position,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (line, column) = (position.line().unwrap_or(0), position.position().unwrap_or(1));
        self.add_at(code, line, column, message, help);
    }

    /// The same for a line and a column from 1; line 0 is no place.
    pub(super) fn add_at(
        &mut self,
        code: Code,
        line: usize,
        column: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.quiet || !self.seen.insert((line, column, code)) {
            return;
        }
        let mut diagnostic = Diagnostic::new(&self.source.name, message);
        if line > 0 {
            diagnostic = diagnostic.at(Place::at(&self.source.text, line, column));
        }
        let help = help.into();
        if !help.is_empty() {
            diagnostic = diagnostic.help(help);
        }
        self.findings.push(Finding::new(code, diagnostic));
    }

    /// What was found, in order.
    pub(super) fn finish(self) -> Vec<Finding> {
        let mut findings = self.findings;
        sort(&mut findings);
        findings
    }
}
