//! A script's state for one domain: a map whose keys and types are frozen after `init`.

use rhai::{Dynamic, Map};
use std::any::TypeId;

/// Bytes of all keys and texts in a state.
const MAX_BYTES: usize = 4_096;

/// The state, and what it was after `init`.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// `this`.
    pub(super) value: Dynamic,
    initial: Option<Map>,
}

impl State {
    /// For scripts without `init`: `this` is unit and stays it.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The state that `init` returned.
    pub(super) fn new(value: Dynamic) -> Result<Self, String> {
        let kind = value.type_name();
        let Some(map) = value.clone().try_cast::<Map>() else {
            return Err(format!("init() answered {kind}, not a map"));
        };
        let state = Self { value, initial: Some(map) };
        state.check()?;
        Ok(state)
    }

    /// Back to what it was after `init`.
    pub(super) fn reset(&mut self) {
        self.value = match &self.initial {
            Some(map) => Dynamic::from_map(map.clone()),
            None => Dynamic::UNIT,
        };
    }

    /// Whether keys, types and size are still those allowed.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(initial) = &self.initial else {
            return Ok(());
        };
        let Ok(map) = self.value.as_map_ref() else {
            return Err("the state is no longer a map".into());
        };
        let mut bytes = 0;
        let mut known = initial.iter();
        for (key, value) in map.iter() {
            // Both are sorted: the first key that is not in its place is new, or one is missing.
            let Some((_, before)) = known.next().filter(|(name, _)| *name == key) else {
                return Err(if initial.contains_key(key) {
                    "a key of the state was removed".into()
                } else {
                    format!("`this.{key}` is no key of the state")
                });
            };
            if value.type_id() != before.type_id() {
                return Err(format!(
                    "`this.{key}` was {} and became {}",
                    before.type_name(),
                    value.type_name()
                ));
            }
            bytes += size(value).ok_or_else(|| {
                format!(
                    "`this.{key}` holds a {}; a state holds numbers, true or false, texts, and \
                     arrays and maps of them",
                    value.type_name()
                )
            })?;
        }
        if map.len() != initial.len() {
            return Err("a key of the state was removed".into());
        }
        if bytes > MAX_BYTES {
            return Err(format!("the state holds more than {MAX_BYTES} bytes"));
        }
        Ok(())
    }
}

/// Bytes of a value; nested values are counted as deep as they go. `None` if it, or something in it,
/// is no plain value: an observation would be of another tick, a function could not be written down.
fn size(value: &Dynamic) -> Option<usize> {
    let id = value.type_id();
    if id == TypeId::of::<i64>() || id == TypeId::of::<bool>() || id == TypeId::of::<f64>() {
        return Some(8);
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return Some(text.len());
    }
    if let Ok(array) = value.as_array_ref() {
        return array.iter().try_fold(16, |sum, item| Some(sum + size(item)?));
    }
    if let Ok(map) = value.as_map_ref() {
        return map.iter().try_fold(16, |sum, (key, item)| Some(sum + key.len() + size(item)?));
    }
    value.is_unit().then_some(8)
}
