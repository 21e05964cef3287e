//! The values of a spec that TOML has no type for: levels by name, one value for all domains or one
//! for each, a value that may be a ramp.

use crate::board::{Level, OppTable};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A whole number, 0 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole(pub(super) u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, 0 or more")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Whole, E> {
                u64::try_from(n).map(Whole).map_err(|_| {
                    E::custom(format!("{n} is negative; give a whole number, 0 or more"))
                })
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Whole, E> {
                Ok(Whole(n))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// A level: its number, or its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelName {
    /// Counted from the lowest, which is 0.
    Number(usize),
    /// So many below the highest.
    BelowTop(usize),
}

impl LevelName {
    /// The level in `table`, if it has it.
    pub(super) fn of(self, table: &OppTable) -> Option<Level> {
        match self {
            Self::Number(n) => Some(Level(n)).filter(|level| table.has(*level)),
            Self::BelowTop(n) => table.top().0.checked_sub(n).map(Level),
        }
    }
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::BelowTop(0) => f.write_str("\"top\""),
            Self::BelowTop(n) => write!(f, "\"top-{n}\""),
        }
    }
}

impl<'de> Deserialize<'de> for LevelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = LevelName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a level: its number from 0, \"lowest\", \"top\" or \"top-1\"")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<LevelName, E> {
                let level = usize::try_from(n).ok().map(LevelName::Number);
                level.ok_or_else(|| E::custom(format!("{n} is no level; the lowest is 0")))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<LevelName, E> {
                let below = |rest: &str| rest.strip_prefix('-').and_then(|n| n.parse().ok());
                match (text, text.strip_prefix("top")) {
                    ("lowest", _) => Ok(LevelName::Number(0)),
                    (_, Some("")) => Ok(LevelName::BelowTop(0)),
                    (_, Some(rest)) if below(rest).is_some() => {
                        Ok(LevelName::BelowTop(below(rest).unwrap_or(0)))
                    }
                    _ => Err(E::custom(format!(
                        "\"{text}\" is no level; give its number from 0, \"lowest\", \"top\" or \
                         \"top-1\""
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Name)
    }
}

/// A step, by its number from 1 or by its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "write a step's number from 1, or its name")]
pub(super) enum StepName {
    Number(usize),
    Name(String),
}

/// Bandwidth over a step: the same all the time, or in a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Constant(u64),
    Ramp(u64, u64),
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Line;
        impl<'de> Visitor<'de> for Line {
            type Value = Profile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of kBps, or a ramp [from, to]")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Profile, E> {
                Whole::deserialize(n.into_deserializer()).map(|Whole(n)| Profile::Constant(n))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Profile, A::Error> {
                let wrong = || A::Error::custom("a ramp has two values: [from, to]");
                let Whole(from) = seq.next_element()?.ok_or_else(wrong)?;
                let Whole(to) = seq.next_element()?.ok_or_else(wrong)?;
                match seq.next_element::<Whole>()? {
                    None => Ok(Profile::Ramp(from, to)),
                    Some(_) => Err(wrong()),
                }
            }
        }
        deserializer.deserialize_any(Line)
    }
}

/// One value for all domains, or one for each that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PerDomain<T> {
    All(T),
    Each(BTreeMap<String, T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerDomain<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = PerDomain<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or one for each domain: { domain = number }")
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Self::Value, E> {
                T::deserialize(n.into_deserializer()).map(PerDomain::All)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                T::deserialize(SeqAccessDeserializer::new(seq)).map(PerDomain::All)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(PerDomain::Each)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}

impl<T> PerDomain<T> {
    /// The value for the domain called `name`.
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        match self {
            Self::All(value) => Some(value),
            Self::Each(values) => values.get(name),
        }
    }

    /// The domains that are named.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let each = match self {
            Self::All(_) => None,
            Self::Each(values) => Some(values.keys().map(String::as_str)),
        };
        each.into_iter().flatten()
    }
}

/// What is true for all domains, or for those that are named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "write true, or the names of domains: [\"ddr\"]")]
pub(super) enum Flag {
    All(bool),
    Of(Vec<String>),
}

impl Flag {
    /// Whether it is true for the domain called `name`.
    pub(super) fn is_set(&self, name: &str) -> bool {
        match self {
            Self::All(all) => *all,
            Self::Of(names) => names.iter().any(|other| other == name),
        }
    }

    /// The domains that are named.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::All(_) => &[],
            Self::Of(names) => names,
        }
    }
}
