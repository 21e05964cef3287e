//! What the engine knows: every registered function and property, packages included.

use super::types::Kinds;
use rhai::{Dynamic, Engine};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that the engine has without registering them, with their numbers of arguments.
const BUILT_IN: [(&str, usize); 4] =
    [("type_of", 1), ("is_def_var", 1), ("is_def_fn", 2), ("is_def_fn", 3)];

/// The types of one version's parameters, the object of a method first.
type Parameters = Vec<TypeId>;

/// All registered functions by name.
#[derive(Debug)]
pub(super) struct Natives {
    functions: BTreeMap<String, Vec<Parameters>>,
}

impl Natives {
    pub(super) fn of(engine: &Engine) -> Self {
        let all = engine.collect_fn_metadata(
            None,
            |info| {
                let function = info.metadata;
                // Functions of scripts come from the script itself.
                info.script.is_none().then(|| {
                    let mut types: Parameters = function.param_types.iter().copied().collect();
                    types.resize(function.num_params, TypeId::of::<Dynamic>());
                    (function.name.to_string(), types)
                })
            },
            true,
        );
        let mut functions: BTreeMap<String, Vec<Parameters>> = BTreeMap::new();
        for (name, types) in all {
            functions.entry(name).or_default().push(types);
        }
        for (name, count) in BUILT_IN {
            let types = vec![TypeId::of::<Dynamic>(); count];
            functions.entry(name.to_owned()).or_default().push(types);
        }
        Self { functions }
    }

    fn versions(&self, name: &str) -> &[Parameters] {
        self.functions.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// How many arguments its versions take.
    pub(super) fn counts(&self, name: &str) -> BTreeSet<usize> {
        self.versions(name).iter().map(Vec::len).collect()
    }

    /// Whether a version takes arguments of these kinds.
    pub(super) fn fits(&self, name: &str, arguments: &[Kinds]) -> bool {
        self.versions(name).iter().any(|types| {
            types.len() == arguments.len()
                && types.iter().zip(arguments).all(|(id, kinds)| kinds.fits(*id))
        })
    }

    /// Whether a value of one of these kinds has the property `name`.
    pub(super) fn has_property(&self, name: &str, of: Kinds) -> bool {
        self.fits(&format!("get${name}"), &[of])
    }

    /// Names that can be called, for suggestions.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str).filter(|name| rhai::is_valid_identifier(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::{EVENT, INFO};
    use super::*;
    use crate::board::builtin;
    use crate::policy::script::observation::Shared;
    use crate::policy::script::{Budget, limits, vocabulary};

    #[test]
    fn every_property_of_info_and_ev_has_a_type_and_no_other() {
        let mut engine = limits::limited_engine(&Budget::default());
        let board = builtin("sdm845").unwrap().unwrap();
        vocabulary::register(&mut engine, &Shared::new(&board));
        let natives = Natives::of(&engine);
        for (kinds, table) in [(Kinds::INFO, INFO), (Kinds::EVENT, EVENT)] {
            let known: BTreeSet<&str> = table.iter().map(|(name, _)| *name).collect();
            let all = natives.functions.keys().filter_map(|name| name.strip_prefix("get$"));
            let has: BTreeSet<&str> =
                all.filter(|name| natives.has_property(name, kinds)).collect();
            assert_eq!(has, known);
        }
        // What `init` gets is no observation.
        assert!(!natives.has_property("level", Kinds::INFO));
    }
}
