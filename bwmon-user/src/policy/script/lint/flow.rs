//! What is known at one point of a script: variables, facts, and whether it is ever reached.

use super::facts::{Facts, Subject};
use super::types::Kinds;
use rhai::{ImmutableString, Position};
use std::rc::Rc;

/// The keys of a map literal, where they stand, and what they hold.
pub(super) type Shape = Vec<(ImmutableString, Position, Kinds)>;

/// What is known about a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) kinds: Kinds,
    /// Which observation it is.
    pub(super) subject: Option<Subject>,
    /// The text, if it is a literal one.
    pub(super) text: Option<ImmutableString>,
    /// The keys, if it is a map literal.
    pub(super) shape: Option<Rc<Shape>>,
    /// The function of the script that answered it.
    pub(super) from: Option<usize>,
}

impl Value {
    pub(super) const ANY: Self = Self::of(Kinds::ANY);
    pub(super) const UNIT: Self = Self::of(Kinds::UNIT);

    pub(super) const fn of(kinds: Kinds) -> Self {
        Self { kinds, subject: None, text: None, shape: None, from: None }
    }

    pub(super) fn about(subject: Subject) -> Self {
        Self { subject: Some(subject), ..Self::of(Kinds::OBS) }
    }

    pub(super) fn join(self, other: Self) -> Self {
        if self.kinds.is_none() {
            return other;
        }
        if other.kinds.is_none() {
            return self;
        }
        fn same<T: PartialEq>(a: Option<T>, b: Option<T>) -> Option<T> {
            if a == b { a } else { None }
        }
        Self {
            kinds: self.kinds.or(other.kinds),
            subject: same(self.subject, other.subject),
            text: same(self.text, other.text),
            shape: join_shapes(self.shape, other.shape),
            from: same(self.from, other.from),
        }
    }
}

/// Maps of the same keys keep them; what these hold may be either.
fn join_shapes(a: Option<Rc<Shape>>, b: Option<Rc<Shape>>) -> Option<Rc<Shape>> {
    let (a, b) = (a?, b?);
    if a == b {
        return Some(a);
    }
    let find = |name: &ImmutableString| b.iter().find(|(other, ..)| other == name);
    let joined: Option<Shape> = a
        .iter()
        .map(|(name, at, kinds)| {
            find(name).map(|(_, _, other)| (name.clone(), *at, kinds.or(*other)))
        })
        .collect();
    joined.filter(|_| a.len() == b.len()).map(Rc::new)
}

/// One point of a script.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Whether a run ever comes here.
    pub(super) reachable: bool,
    /// Alive variables, innermost last.
    pub(super) variables: Vec<(ImmutableString, Value)>,
    pub(super) facts: Facts,
}

impl Flow {
    pub(super) fn new(variables: Vec<(ImmutableString, Value)>, facts: Facts) -> Self {
        Self { reachable: true, variables, facts }
    }

    /// What no run reaches.
    pub(super) fn nowhere(&self) -> Self {
        Self { reachable: false, ..self.clone() }
    }

    pub(super) fn variable(&self, name: &str) -> Option<&Value> {
        self.variables.iter().rev().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub(super) fn variable_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.variables.iter_mut().rev().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Where two paths meet.
    pub(super) fn join(self, other: Self) -> Self {
        if !self.reachable {
            return other;
        }
        if !other.reachable {
            return self;
        }
        let mut facts = self.facts;
        facts.join(&other.facts);
        let pairs = self.variables.into_iter().zip(other.variables);
        let variables = pairs.map(|((name, a), (_, b))| (name, a.join(b))).collect();
        Self { reachable: true, variables, facts }
    }

    /// Forgets what is known about these variables: a loop sets them, or a part that may end early.
    pub(super) fn forget(&mut self, names: &[ImmutableString]) {
        for (name, value) in &mut self.variables {
            value.shape = None;
            if names.contains(name) {
                *value = Value::ANY;
            }
        }
    }
}
