//! Agendas by name: a file, or one that ships.

use crate::cli::common::text_of;
use crate::diag::did_you_mean;
use crate::experiment::library::{SHIPPED_AGENDAS, shipped_agenda};
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
