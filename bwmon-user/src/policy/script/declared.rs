//! Tunables and presets of a script, without compiling it: what products need.

use super::error::Source;
use super::params::{self, Param, Value};
use super::presets::{self, Preset};
use crate::diag::Diagnostic;

/// What a script declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its tunables, in its order.
    pub params: Vec<Param>,
    /// Its presets, in its order.
    pub presets: Vec<Preset>,
}

impl Declared {
    /// Reads the declarations of `source`.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn read(source: &Source) -> Result<Self, Diagnostic> {
        let (params, presets) = outline(source)?;
        Ok(Self { params, presets })
    }

    /// The settings of the preset `name`; `source` is the script, for errors.
    ///
    /// # Errors
    /// When there is no such preset.
    pub fn preset(&self, source: &Source, name: &str) -> Result<Vec<(String, String)>, Diagnostic> {
        presets::find(source, &self.presets, name)
    }

    /// The tunable `name` with the value `text`; `source` is the script, for errors.
    ///
    /// # Errors
    /// When there is no such tunable, or the value does not fit it.
    pub fn value(&self, source: &Source, name: &str, text: &str) -> Result<Value, Diagnostic> {
        let set = [(name.to_owned(), text.to_owned())];
        let mut values = params::values(source, &self.params, &set)?;
        values.remove(name).ok_or_else(|| source.fault(format!("no tunable {name}")))
    }
}

/// The tunables and presets that `source` declares, without compiling it.
///
/// # Errors
/// A line of its head that is wrong.
pub fn outline(source: &Source) -> Result<(Vec<Param>, Vec<Preset>), Diagnostic> {
    let params = params::declared(source)?;
    let presets = presets::declared(source, &params)?;
    Ok((params, presets))
}
