//! Printing: tables, JSON, and the end of a pipe.

use serde::Serialize;
use std::io::{self, IsTerminal, Write};

pub(super) use crate::text_table::{grouped, table};

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

/// A number that may be unknown.
pub(super) fn or_unknown(n: Option<u64>) -> String {
    n.map_or_else(|| "unknown".to_owned(), grouped)
}
