//! Agendas by name: a file, or one that ships.

use crate::cli::common::text_of;
use crate::diag::{Diagnostic, Place, did_you_mean};
use crate::experiment::Agenda;
use crate::experiment::library::{SHIPPED_AGENDAS, shipped_agenda};
use crate::lab::{Prepared, Unprepared};
use anyhow::bail;
use std::path::Path;

/// The text of the agenda `name`, and what to call it in errors.
pub(super) fn agenda_text(name: &str) -> anyhow::Result<(String, String)> {
    if let Some(shipped) = shipped_agenda(name) {
        return Ok((format!("<built-in {name}.toml>"), shipped.text.to_owned()));
    }
    if name.ends_with(".toml") || Path::new(name).exists() {
        return Ok((name.to_owned(), text_of(name)?));
    }
    let known = || SHIPPED_AGENDAS.iter().map(|shipped| shipped.name);
    match did_you_mean(name, known()) {
        Some(near) => bail!("there is no agenda {name}; did you mean {near}?"),
        None => bail!(
            "there is no agenda {name}; give a file (.toml) or one of {}",
            known().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The agenda with all that it names; what is not there is shown where the agenda asks for it.
pub(super) fn prepare(file: &str, text: &str, agenda: &Agenda) -> anyhow::Result<Prepared> {
    Prepared::new(agenda, &super::sources::Files).map_err(|error| {
        let place = match &error {
            Unprepared::Subject { at, .. } => place_of(text, &["[[subject]]", "[[sweep]]"], *at),
            Unprepared::Workload { at, .. } => place_of(text, &["[[workload]]"], *at),
            Unprepared::Board(_) => None,
        };
        let fault = Diagnostic::new(file, error.to_string());
        match place {
            Some(place) => fault.at(place).into(),
            None => fault.into(),
        }
    })
}

/// The table number `at`; of tables that make many, the last.
fn place_of(text: &str, heads: &[&str], at: usize) -> Option<Place> {
    let heads = |line: &str| heads.iter().any(|head| line.trim().starts_with(head));
    let lines: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| heads(line)).map(|(n, _)| n + 1).collect();
    lines.get(at).or(lines.last()).map(|line| Place::at(text, *line, 1))
}
