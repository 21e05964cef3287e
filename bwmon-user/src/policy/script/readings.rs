//! The readings of an observation by name, as a script would see them.

use super::error::Source;
use super::limits::{Budget, limited_engine};
use super::observation::{Obs, Shared};
use super::runtime::Runtime;
use super::vocabulary;
use super::words::PROPERTIES;
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use rhai::{Dynamic, Engine};
use std::rc::Rc;

/// Reads every property of `obs` through the very getters that scripts use, so that what is shown
/// cannot differ from what a policy sees.
pub struct Readings {
    engine: Engine,
    runtime: Runtime,
    shared: Rc<Shared>,
}

impl Readings {
    /// For the observations of `board`.
    ///
    /// # Errors
    /// Never in practice: the script is made of the vocabulary.
    pub fn new(board: &Board) -> Result<Self, Diagnostic> {
        let shared = Shared::new(board);
        let mut engine = limited_engine(&Budget::default());
        vocabulary::register(&mut engine, &shared);
        let functions = PROPERTIES.iter().map(|word| {
            let name = word.name;
            format!("fn read_{name}(obs) {{ if obs.has(\"{name}\") {{ obs.{name} }} }}\n")
        });
        let source = Source { name: "readings".to_owned(), text: functions.collect() };
        let ast = engine.compile(&source.text).map_err(|error| source.parse_error(&error))?;
        let runtime = Runtime::new(&engine, &ast);
        Ok(Self { engine, runtime, shared })
    }

    /// Every reading of `domain` in the order of the vocabulary; `None` for those not known.
    pub fn of(
        &mut self,
        all: &[Observation],
        domain: usize,
    ) -> Vec<(&'static str, Option<serde_json::Value>)> {
        self.shared.set(all, domain);
        let shared = self.shared.clone();
        let mut read = |name: &str| {
            let mut obs = Dynamic::from(Obs { shared: shared.clone(), domain });
            let function = format!("read_{name}");
            let mut this = Dynamic::UNIT;
            let value = self.runtime.call(&self.engine, &function, &mut this, &mut obs);
            json(&value.ok()?)
        };
        PROPERTIES.iter().map(|word| (word.name, read(word.name))).collect()
    }
}

fn json(value: &Dynamic) -> Option<serde_json::Value> {
    if let Ok(n) = value.as_int() {
        return Some(n.into());
    }
    if let Ok(yes) = value.as_bool() {
        return Some(yes.into());
    }
    value.as_immutable_string_ref().ok().map(|text| text.as_str().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Level, builtin};
    use crate::policy::testing::observation;

    #[test]
    fn known_readings_have_a_value_and_unknown_ones_none() {
        let board = builtin("sdm845").unwrap().unwrap();
        let mut readings = Readings::new(&board).unwrap();
        let all = vec![Observation { level: Some(Level(1)), ..observation() }; 3];
        let seen = readings.of(&all, 1);
        let value = |name: &str| seen.iter().find(|(n, _)| *n == name).unwrap().1.clone();
        assert_eq!(value("domain"), Some("ddr".into()));
        // ddr's level 1 carries 1804000 kBps, level 0 800000.
        assert_eq!(value("level_kBps"), Some(1_804_000.into()));
        assert_eq!(value("lower_kBps"), Some(800_000.into()));
        assert_eq!((value("valid"), value("peak_kBps")), (Some(false.into()), None));
        assert_eq!(seen.len(), PROPERTIES.len());
    }
}
