//! All faults of a board file, for whoever writes one.
//!
//! [`parse`] stops at the first fault, which is right where a board is wanted. Here the place of each
//! fault is blanked, as narrowly as the rest still makes sense, and the file is parsed again: the same
//! checks, with the lines where they were.

use super::parse::parse;
use crate::diag::{Diagnostic, Place};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Faults that are listed.
const MOST: usize = 50;

/// Keys that may be missing, so that one that is wrong is blanked alone.
const OPTIONAL: &[&str] = &[
    "bus_dcvs",
    "devfreq",
    "doubt",
    "force_clear",
    "icc",
    "icc_nodes",
    "icc_tags",
    "irq_shared",
    "irq_spi",
    "monitor",
    "nonposted_mmio",
    "path",
    "through",
    "window_us",
];

/// The faults of the board file `text`, by line; none if [`parse`] takes it. What is no TOML hides what
/// else may be wrong.
pub fn faults(file: &str, text: &str) -> Vec<Diagnostic> {
    let (_, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let all = errors.iter().take(MOST).map(|error| Diagnostic::from_toml(file, text, error));
        return sorted(all.collect());
    }
    let mut work = Work { text: text.to_owned(), without: Vec::new() };
    let mut found: Vec<Diagnostic> = Vec::new();
    // Each round blanks something, so it ends; the bound is for what was not thought of.
    for _ in 0..4 * MOST {
        let Err(fault) = parse(file, &work.text) else { break };
        let fault = Diagnostic {
            place: fault.place.map(|place| Place::at(text, place.line, place.column)),
            ..fault
        };
        if !work.follows(&fault) && !found.contains(&fault) {
            found.push(fault.clone());
        }
        if found.len() >= MOST || !work.blank(&fault) {
            break;
        }
    }
    sorted(found)
}

fn sorted(mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    faults.sort_by_key(|fault| fault.place.as_ref().map(|place| (place.line, place.column)));
    faults.dedup();
    faults
}

struct Work {
    text: String,
    /// Headers of the sections that were blanked.
    without: Vec<String>,
}

/// A key with its value: where they stand.
struct Entry {
    key: String,
    span: Range<usize>,
}

impl Work {
    /// Whether the fault is there only because something was blanked.
    fn follows(&self, fault: &Diagnostic) -> bool {
        let lost = |header: &str| self.without.iter().any(|other| other.contains(header));
        match &fault.place {
            None => lost("domain"),
            Some(_) => fault.message.starts_with("no [[monitor]]") && lost("monitor"),
        }
    }

    /// Blanks what is wrong; `false` if that cannot be told.
    fn blank(&mut self, fault: &Diagnostic) -> bool {
        let Some(place) = &fault.place else { return false };
        let Some(offset) = self.offset(place) else { return false };
        let Ok(table) = DeTable::parse(&self.text) else { return false };
        let mut entries = Vec::new();
        entries_at(table.get_ref(), offset, &mut entries);
        let unknown = fault.message.starts_with("unknown field");
        let optional = |entry: &&Entry| unknown || OPTIONAL.contains(&entry.key.as_str());
        if let Some(entry) = entries.iter().rev().find(optional) {
            let span = entry.span.clone();
            self.erase(span, "");
            return true;
        }
        if let Some((header, span)) = self.section(offset) {
            self.without.push(header);
            self.erase(span, "");
            return true;
        }
        // Before the first section: something that is right takes its place.
        let Some(entry) = entries.last() else { return false };
        let right = match entry.key.as_str() {
            "compatible" => "compatible=[]",
            "schema" => "schema=1",
            "id" => "id=\"x\"",
            "name" => "name=\"\"",
            "source" => "source=\"\"",
            _ => return false,
        };
        let span = entry.span.clone();
        let before = self.text.clone();
        self.erase(span, right);
        self.text != before
    }

    fn offset(&self, place: &Place) -> Option<usize> {
        let line = self.text.split_inclusive('\n').take(place.line.checked_sub(1)?);
        let start: usize = line.map(str::len).sum();
        let rest = self.text.get(start..)?;
        let column = rest.char_indices().nth(place.column.checked_sub(1)?);
        Some(start + column.map_or(rest.len(), |(at, _)| at))
    }

    /// The header and the lines of the section around `offset`.
    fn section(&self, offset: usize) -> Option<(String, Range<usize>)> {
        let mut found = None;
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if line.trim_start().starts_with("[[") && line.contains("]]") {
                if at > offset {
                    break;
                }
                found = Some((line.trim().to_owned(), at));
            }
            at += line.len();
        }
        let (header, start) = found?;
        let later = self.text.get(start + 1..)?.split_inclusive('\n');
        let mut end = start + 1;
        for line in later {
            if line.trim_start().starts_with("[[") && end > start + 1 && line.contains("]]") {
                break;
            }
            end += line.len();
        }
        Some((header, start..end))
    }

    /// Writes `instead` over the span and blanks the rest of it; lines stay where they are. A comma
    /// that would be left alone goes too.
    fn erase(&mut self, span: Range<usize>, instead: &str) {
        let (Some(before), Some(own), Some(after)) =
            (self.text.get(..span.start), self.text.get(span.clone()), self.text.get(span.end..))
        else {
            return;
        };
        let blank = |text: &str| -> String {
            text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
        };
        let after = match after.trim_start_matches([' ', '\t']).strip_prefix(',') {
            Some(rest) => format!(" {rest}"),
            None => after.to_owned(),
        };
        let rest: String = blank(own).chars().skip(instead.len()).collect();
        self.text = format!("{before}{instead}{rest}{after}");
    }
}

/// The entries around `offset`, the outermost first.
fn entries_at(table: &DeTable<'_>, offset: usize, found: &mut Vec<Entry>) {
    for (key, value) in table {
        let span = key.span().start..value.span().end.max(key.span().end);
        let leaf = key.get_ref() == "icc" || !is_sections(value);
        if leaf && span.contains(&offset) {
            found.push(Entry { key: key.get_ref().to_string(), span });
        }
        match value.get_ref() {
            DeValue::Table(inner) => entries_at(inner, offset, found),
            DeValue::Array(all) if !leaf => {
                for inner in all.iter().filter_map(|value| value.get_ref().as_table()) {
                    entries_at(inner, offset, found);
                }
            }
            _ => {}
        }
    }
}

/// Whether the value is `[[sections]]`; `icc` is a list that looks like them.
fn is_sections(value: &Spanned<DeValue<'_>>) -> bool {
    let all = value.get_ref().as_array();
    all.is_some_and(|all| all.iter().any(|value| value.get_ref().as_table().is_some()))
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
