//! What kind of value an expression can have, as far as it can be told without running it, and the
//! types of what is no word of the vocabulary: `info`, `ev` and Rhai's own functions.

use crate::policy::Proposal;
use crate::policy::script::event::Event;
use crate::policy::script::observation::Obs;
use crate::policy::script::vocabulary::Info;
use crate::policy::script::words::{FUNCTIONS, PROPERTIES, Type, Word};
use rhai::{Array, Dynamic, FnPtr, ImmutableString, Map};
use std::any::TypeId;
use std::ops::{Range, RangeInclusive};

/// A set of kinds of values. The empty set is "not known yet", the full one "may be anything".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u16);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const UNIT: Self = Self(1);
    pub(super) const BOOL: Self = Self(1 << 1);
    pub(super) const INT: Self = Self(1 << 2);
    pub(super) const FLOAT: Self = Self(1 << 3);
    pub(super) const TEXT: Self = Self(1 << 4);
    pub(super) const CHAR: Self = Self(1 << 5);
    pub(super) const ARRAY: Self = Self(1 << 6);
    pub(super) const MAP: Self = Self(1 << 7);
    pub(super) const RANGE: Self = Self(1 << 8);
    pub(super) const CALLABLE: Self = Self(1 << 9);
    pub(super) const OBS: Self = Self(1 << 10);
    pub(super) const INFO: Self = Self(1 << 11);
    pub(super) const PROPOSAL: Self = Self(1 << 12);
    pub(super) const EVENT: Self = Self(1 << 13);
    pub(super) const ANY: Self = Self((1 << 14) - 1);
    pub(super) const NUMBER: Self = Self(Self::INT.0 | Self::FLOAT.0);

    /// Every kind, and what people call it.
    const NAMES: [(Self, &'static str); 14] = [
        (Self::UNIT, "nothing"),
        (Self::BOOL, "true or false"),
        (Self::INT, "a whole number"),
        (Self::FLOAT, "a number with a point"),
        (Self::TEXT, "a text"),
        (Self::CHAR, "a character"),
        (Self::ARRAY, "an array"),
        (Self::MAP, "a map"),
        (Self::RANGE, "a range"),
        (Self::CALLABLE, "a function"),
        (Self::OBS, "an observation"),
        (Self::INFO, "init's info"),
        (Self::PROPOSAL, "a proposal"),
        (Self::EVENT, "an event"),
    ];

    /// What the vocabulary's type is here.
    pub(super) fn of(kind: Type) -> Self {
        match kind {
            Type::Int => Self::INT,
            Type::Bool => Self::BOOL,
            Type::Text => Self::TEXT,
            Type::Proposal => Self::PROPOSAL,
            Type::Observation => Self::OBS,
            Type::Nothing => Self::UNIT,
        }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether something is known about it: it is not yet unknown, and not anything.
    pub(super) fn is_definite(self) -> bool {
        self != Self::NONE && self != Self::ANY
    }

    /// Whether both have a kind in common.
    pub(super) fn meets(self, other: Self) -> bool {
        !self.and(other).is_none()
    }

    /// Whether it is definite, and nothing else than `other`.
    pub(super) fn is_only(self, other: Self) -> bool {
        self.is_definite() && self.without(other).is_none()
    }

    /// Whether a native parameter of type `id` takes a value of one of these kinds.
    pub(super) fn fits(self, id: TypeId) -> bool {
        if self.is_none() || self == Self::ANY || id == TypeId::of::<Dynamic>() {
            return true;
        }
        let takes: &[(Self, TypeId)] = &[
            (Self::UNIT, TypeId::of::<()>()),
            (Self::BOOL, TypeId::of::<bool>()),
            (Self::INT, TypeId::of::<i64>()),
            (Self::FLOAT, TypeId::of::<f64>()),
            (Self::TEXT, TypeId::of::<ImmutableString>()),
            (Self::TEXT, TypeId::of::<&str>()),
            (Self::TEXT, TypeId::of::<String>()),
            (Self::CHAR, TypeId::of::<char>()),
            (Self::ARRAY, TypeId::of::<Array>()),
            (Self::MAP, TypeId::of::<Map>()),
            (Self::RANGE, TypeId::of::<Range<i64>>()),
            (Self::RANGE, TypeId::of::<RangeInclusive<i64>>()),
            (Self::CALLABLE, TypeId::of::<FnPtr>()),
            (Self::OBS, TypeId::of::<Obs>()),
            (Self::INFO, TypeId::of::<Info>()),
            (Self::PROPOSAL, TypeId::of::<Proposal>()),
            (Self::EVENT, TypeId::of::<Event>()),
        ];
        takes.iter().any(|(kind, taken)| *taken == id && self.meets(*kind))
    }

    /// For messages: "a whole number", "a text or nothing".
    pub(super) fn said(self) -> String {
        let names = Self::NAMES.iter().filter(|(kind, _)| self.meets(*kind)).map(|(_, name)| *name);
        match self {
            Self::ANY => "anything".to_owned(),
            Self::NUMBER => "a number".to_owned(),
            _ => names.collect::<Vec<_>>().join(" or "),
        }
    }
}

/// The reading of `obs` called `name`.
pub(super) fn reading(name: &str) -> Option<&'static Word> {
    PROPERTIES.iter().find(|word| word.name == name)
}

/// The function or method of the vocabulary called `name`.
pub(super) fn function(name: &str) -> Option<&'static Word> {
    FUNCTIONS.iter().find(|word| word.name == name)
}

/// What `info` has.
pub(super) const INFO: &[(&str, Kinds)] = &[("domain", Kinds::TEXT), ("opp_count", Kinds::INT)];

/// What `ev` has.
pub(super) const EVENT: &[(&str, Kinds)] = &[
    ("kind", Kinds::TEXT),
    ("old_state", Kinds::MAP),
    ("old_digest", Kinds::TEXT),
    ("slept_ms", Kinds::INT),
    ("cpus", Kinds::INT),
];

/// The type of a property of `info` or `ev`.
pub(super) fn own_property(name: &str, of: Kinds) -> Kinds {
    let table = if of == Kinds::INFO { INFO } else { EVENT };
    table.iter().find(|(known, _)| *known == name).map_or(Kinds::ANY, |(_, kinds)| *kinds)
}

/// What Rhai's own functions give, those that a policy is likely to use.
pub(super) fn result(name: &str, arguments: &[Kinds]) -> Kinds {
    match name {
        "min" | "max" | "abs" => {
            let all = arguments.iter().fold(Kinds::NONE, |all, kinds| all.or(*kinds));
            if arguments.contains(&Kinds::FLOAT) && all.is_only(Kinds::NUMBER) {
                Kinds::FLOAT
            } else if all.is_only(Kinds::NUMBER) {
                all
            } else {
                Kinds::ANY
            }
        }
        "len" | "to_int" | "parse_int" | "sign" => Kinds::INT,
        "to_float" | "parse_float" | "sqrt" | "exp" | "ln" | "log" | "floor" | "ceiling"
        | "round" | "int" | "fraction" | "sin" | "cos" | "tan" => Kinds::FLOAT,
        "contains" | "starts_with" | "ends_with" | "is_empty" | "is_odd" | "is_even"
        | "is_zero" | "is_nan" | "is_finite" | "is_infinite" | "is_def_fn" | "is_def_var" => {
            Kinds::BOOL
        }
        "type_of" | "to_string" | "to_debug" | "to_upper" | "to_lower" | "sub_string" => {
            Kinds::TEXT
        }
        "range" => Kinds::RANGE,
        "split" | "keys" | "values" => Kinds::ARRAY,
        _ => Kinds::ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_kinds_are_said_in_words() {
        assert_eq!(Kinds::INT.said(), "a whole number");
        assert_eq!(Kinds::TEXT.or(Kinds::UNIT).said(), "nothing or a text");
        assert_eq!(Kinds::NUMBER.said(), "a number");
        assert_eq!(Kinds::ANY.said(), "anything");
    }

    #[test]
    fn a_parameter_takes_its_own_kind_and_dynamic_takes_all() {
        assert!(Kinds::INT.fits(TypeId::of::<i64>()));
        assert!(!Kinds::INT.fits(TypeId::of::<f64>()), "Rhai converts no argument");
        assert!(Kinds::NUMBER.fits(TypeId::of::<f64>()), "it may be one");
        assert!(Kinds::OBS.fits(TypeId::of::<Dynamic>()));
        assert!(Kinds::ANY.fits(TypeId::of::<Proposal>()));
    }

    #[test]
    fn the_larger_of_numbers_has_a_point_if_one_of_them_has() {
        assert_eq!(result("max", &[Kinds::INT, Kinds::INT]), Kinds::INT);
        assert_eq!(result("max", &[Kinds::INT, Kinds::FLOAT]), Kinds::FLOAT);
        assert_eq!(result("max", &[Kinds::INT, Kinds::ANY]), Kinds::ANY);
    }
}
