//! Reading what operators write: policies, specs, boards.

use crate::diag::Diagnostic;
use anyhow::{Context, bail};
use std::fs::File;
use std::io::Read;

/// Bytes of a file that are read.
const MOST: u64 = 1024 * 1024;

/// The text of the file `name`.
///
/// # Errors
/// When it cannot be read, is no regular file, too large, or no UTF-8.
pub fn text_of(name: &str) -> anyhow::Result<String> {
    let file = File::open(name).with_context(|| format!("cannot read {name}"))?;
    let kind = file.metadata().with_context(|| format!("cannot read {name}"))?;
    if !kind.is_file() {
        bail!("{name} is not a regular file");
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MOST {
        bail!("{name} is larger than {MOST} bytes");
    }
    Ok(String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = line.filter(|byte| **byte == b'\n').count() + 1;
        Diagnostic::new(name, format!("line {line} is no UTF-8 text"))
    })?)
}
