//! Printing: tables, JSON, and the end of a pipe.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Prints `text` and a line end on stdout.
///
/// # Errors
/// When stdout cannot be written; a closed pipe is told apart by [`is_broken_pipe`].
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

/// Tells the operator something on stderr. A stderr that is gone is no reason to stop.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints `value` as JSON for people and scripts.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Whether the reader of our stdout has gone, which is its right.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// `text` of a file for a terminal: control characters do not reach it.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { crate::diag::printable(c) }).collect()
}

/// Whether a person reads our stdout.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A table with a header and no frame; columns named in `right` stand to the right.
pub(super) fn table(header: &[&str], right: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for (column, name) in table.column_iter_mut().zip(header) {
        if right.contains(name) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows);
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// A number with thin groups of three, for reading.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number that may be unknown.
pub(super) fn or_unknown(n: Option<u64>) -> String {
    n.map_or_else(|| "unknown".to_owned(), grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_from_the_right() {
        let shown: Vec<String> = [0, 999, 1_000, 25_497_600].map(grouped).into();
        assert_eq!(shown, ["0", "999", "1 000", "25 497 600"]);
    }
}
