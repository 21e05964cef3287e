//! Judged results with their cells found by name, and with names that are one line of text.

use super::number;
use crate::experiment::{Effect, Judged, JudgedCell, MeasureInfo, Said};
use std::collections::BTreeMap;

/// Judged results, ready to be shown.
pub(super) struct View<'a> {
    pub(super) judged: &'a Judged,
    cells: BTreeMap<(&'a str, &'a str, &'a str), &'a JudgedCell>,
}

impl<'a> View<'a> {
    pub(super) fn new(judged: &'a Judged) -> Self {
        let key = |cell: &'a JudgedCell| {
            ((cell.workload.as_str(), cell.measure.as_str(), cell.subject.as_str()), cell)
        };
        Self { judged, cells: judged.cells.iter().map(key).collect() }
    }

    pub(super) fn cell(
        &self,
        workload: &str,
        measure: &str,
        subject: &str,
    ) -> Option<&'a JudgedCell> {
        self.cells.get(&(workload, measure, subject)).copied()
    }

    /// The subjects that are compared with the baseline.
    pub(super) fn others(&self) -> Vec<&'a str> {
        let names = self.judged.subjects.iter().map(String::as_str);
        names.filter(|name| *name != self.judged.baseline).collect()
    }

    pub(super) fn measures(&self, primary: bool) -> impl Iterator<Item = &'a MeasureInfo> {
        self.judged.measures.iter().filter(move |measure| measure.primary == primary)
    }

    /// What stands in a cell that has no values.
    pub(super) fn absent(&self, workload: &str, subject: &str) -> &'static str {
        let said = |list: &[Said]| {
            let about = |said: &Said| {
                said.subject == subject && (said.workload.is_empty() || said.workload == workload)
            };
            list.iter().any(about)
        };
        match () {
            () if said(&self.judged.skipped) => "skipped",
            () if said(&self.judged.failed) => "failed",
            () => number::UNKNOWN,
        }
    }

    /// The unit of a measure's effects.
    pub(super) fn effect_unit(measure: &'a MeasureInfo) -> &'a str {
        if measure.by_ratio { "%" } else { &measure.unit }
    }

    pub(super) fn effect(
        &self,
        workload: &str,
        measure: &str,
        subject: &str,
    ) -> Option<&'a Effect> {
        self.cell(workload, measure, subject)?.effect.as_ref()
    }
}

/// `text` as one line without control characters: names come from operators.
pub(super) fn one_line(text: &str) -> String {
    let shown = text.chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}'));
    let shown = shown.map(|c| if c.is_whitespace() { ' ' } else { crate::diag::printable(c) });
    shown.collect()
}

/// The same results with every text as one line.
pub(super) fn cleaned(judged: &Judged) -> Judged {
    let mut judged = judged.clone();
    for text in texts(&mut judged) {
        *text = one_line(text);
    }
    judged
}

/// Every text that an operator may have written.
pub(super) fn texts(judged: &mut Judged) -> impl Iterator<Item = &mut String> {
    let texts = [&mut judged.name, &mut judged.what, &mut judged.place, &mut judged.baseline];
    let lists = [&mut judged.subjects, &mut judged.workloads, &mut judged.notes];
    let measures = judged.measures.iter_mut().flat_map(|m| [&mut m.name, &mut m.unit]);
    let cells =
        judged.cells.iter_mut().flat_map(|c| [&mut c.workload, &mut c.measure, &mut c.subject]);
    let said = [&mut judged.skipped, &mut judged.failed, &mut judged.void].into_iter().flatten();
    let said = said.flat_map(|s| [&mut s.subject, &mut s.workload, &mut s.what]);
    let lists = lists.into_iter().flatten();
    texts.into_iter().chain(lists).chain(measures).chain(cells).chain(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{said, two_workloads};

    #[test]
    fn a_name_of_several_lines_becomes_one_and_control_characters_are_shown() {
        assert_eq!(one_line("a\nb\tc\u{1b}[31m\u{ffff}"), "a b c\u{fffd}[31m");
    }

    #[test]
    fn a_cell_without_values_says_why() {
        let mut judged = two_workloads();
        judged.skipped = vec![said("kernel", "", "no driver")];
        judged.failed = vec![said("adaptive", "idle", "exit 1")];
        let view = View::new(&judged);
        assert_eq!(view.absent("idle", "kernel"), "skipped");
        assert_eq!(view.absent("idle", "adaptive"), "failed");
        assert_eq!(view.absent("burst", "adaptive"), "unknown");
    }
}
