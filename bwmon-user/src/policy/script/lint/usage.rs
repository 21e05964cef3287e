//! What a script uses: tunables, functions, keys of its state, slots.

use rhai::{ImmutableString, Position};
use std::collections::{BTreeMap, BTreeSet};

/// A use of a slot: its name and the helper that uses it.
#[derive(Clone, Debug)]
pub(super) struct SlotUse {
    pub(super) slot: ImmutableString,
    pub(super) helper: &'static str,
}

/// What a script uses.
#[derive(Debug, Default)]
pub(super) struct Usage {
    calls: BTreeMap<usize, BTreeSet<usize>>,
    tunables: BTreeSet<ImmutableString>,
    keys_read: BTreeSet<ImmutableString>,
    keys_made: BTreeSet<ImmutableString>,
    /// Uses of slots by place.
    pub(super) slots: BTreeMap<Position, SlotUse>,
    /// The state is handed on as a whole: any key may be read.
    pub(super) state_escapes: bool,
    /// It reads what the monitor says about the demand.
    pub(super) demand: bool,
}

impl Usage {
    pub(super) fn call(&mut self, caller: usize, callee: usize) {
        self.calls.entry(caller).or_default().insert(callee);
    }

    pub(super) fn calls_of(&self, caller: usize) -> impl Iterator<Item = usize> {
        self.calls.get(&caller).into_iter().flatten().copied()
    }

    pub(super) fn tunable(&mut self, name: &ImmutableString) {
        self.tunables.insert(name.clone());
    }

    pub(super) fn has_tunable(&self, name: &str) -> bool {
        self.tunables.contains(name)
    }

    pub(super) fn key_read(&mut self, name: &ImmutableString) {
        self.keys_read.insert(name.clone());
    }

    pub(super) fn is_read(&self, name: &str) -> bool {
        self.state_escapes || self.keys_read.contains(name)
    }

    /// A key of some map literal.
    pub(super) fn key_made(&mut self, name: &ImmutableString) {
        self.keys_made.insert(name.clone());
    }

    pub(super) fn is_key(&self, name: &str) -> bool {
        self.keys_made.contains(name)
    }

    pub(super) fn slot(&mut self, slot: &str, helper: &'static str, at: Position) {
        self.slots.insert(at, SlotUse { slot: slot.into(), helper });
    }
}
