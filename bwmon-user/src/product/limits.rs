//! Limits as operators write them, in kBps or levels, and the guard rails that they make on a
//! domain's table.

use super::at::{At, Sourced};
use crate::board::{Domain, Level};
use crate::decide::{Rails, Unvoted};
use crate::diag::{Diagnostic, did_you_mean};
use crate::units::Kbps;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitKey {
    /// Never below the lowest level that carries this much.
    MinKbps,
    /// Never below this level.
    MinLevel,
    /// Never above the highest level that stays within this much.
    MaxKbps,
    /// Never above this level.
    MaxLevel,
    /// Levels that one decision may come down.
    MaxStepDown,
    /// Milliseconds at a level before coming down from it.
    MinDwellMs,
    /// Changes per second after which the level no longer comes down.
    MaxTransitionsPerS,
}

impl LimitKey {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::MinKbps,
        Self::MinLevel,
        Self::MaxKbps,
        Self::MaxLevel,
        Self::MaxStepDown,
        Self::MinDwellMs,
        Self::MaxTransitionsPerS,
    ];

    /// As in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinKbps => "min_kBps",
            Self::MinLevel => "min_level",
            Self::MaxKbps => "max_kBps",
            Self::MaxLevel => "max_level",
            Self::MaxStepDown => "max_step_down",
            Self::MinDwellMs => "min_dwell_ms",
            Self::MaxTransitionsPerS => "max_transitions_per_s",
        }
    }

    /// The key called `name`.
    ///
    /// # Errors
    /// What is said about an unknown one.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some(key) = Self::ALL.into_iter().find(|key| key.name() == name) {
            return Ok(key);
        }
        let names = Self::ALL.map(Self::name);
        Err(match did_you_mean(name, names) {
            Some(near) => format!("there is no limit {name}; did you mean {near}?"),
            None => format!("there is no limit {name}; there are {}", names.join(", ")),
        })
    }

    /// Values that make sense on any board.
    pub fn range(self) -> RangeInclusive<i64> {
        match self {
            Self::MinKbps | Self::MaxKbps => 0..=1_000_000_000,
            Self::MinLevel | Self::MaxLevel => 0..=63,
            Self::MaxStepDown => 1..=63,
            Self::MinDwellMs => 0..=60_000,
            Self::MaxTransitionsPerS => 1..=1_000,
        }
    }

    /// Whether `new` allows more than `old`.
    fn looser(self, new: i64, old: i64) -> bool {
        match self {
            Self::MinKbps | Self::MinLevel | Self::MinDwellMs => new < old,
            _ => new > old,
        }
    }
}

/// Limits, each with the place where it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub BTreeMap<LimitKey, Sourced<i64>>);

impl Limits {
    /// These limits, with those of `over` in the place of the same keys.
    #[must_use]
    pub fn under(&self, over: &Self) -> Self {
        let mut all = self.0.clone();
        all.extend(over.0.iter().map(|(key, limit)| (*key, limit.clone())));
        Self(all)
    }

    /// Whether every limit of `new` allows no more than the same one here.
    ///
    /// # Errors
    /// The first that does, with both places.
    pub fn tightened_by(&self, new: &Self) -> Result<(), Diagnostic> {
        for (key, limit) in &new.0 {
            if let Some(old) = self.0.get(key)
                && key.looser(limit.value, old.value)
            {
                let message = format!(
                    "{} = {} is looser than {} at {}",
                    key.name(),
                    limit.value,
                    old.value,
                    old.at
                );
                return Err(limit.at.fault(message).help(
                    "a limit may only be tightened; change it where it was first written, or leave \
                     it out here",
                ));
            }
        }
        Ok(())
    }

    /// The rails that these limits make on `domain`. Where kBps and level both bind, the tighter
    /// counts.
    ///
    /// # Errors
    /// A limit that the domain's table cannot keep.
    pub fn rails(&self, domain: &Domain, unvoted: Unvoted) -> Result<Rails, Diagnostic> {
        let table = &domain.table;
        let mut rails = Rails::open(table, unvoted);
        let (mut least, mut most): (Option<&At>, Option<&At>) = (None, None);
        for (key, limit) in &self.0 {
            let number = u64::try_from(limit.value).unwrap_or_default();
            let small = u32::try_from(limit.value).unwrap_or_default();
            match key {
                LimitKey::MinKbps | LimitKey::MinLevel => {
                    let level = level(*key, limit, domain)?;
                    if level >= rails.min_level {
                        (rails.min_level, least) = (level, Some(&limit.at));
                    }
                }
                LimitKey::MaxKbps | LimitKey::MaxLevel => {
                    let level = level(*key, limit, domain)?;
                    if level <= rails.max_level {
                        (rails.max_level, most) = (level, Some(&limit.at));
                    }
                }
                LimitKey::MaxStepDown => rails.max_step_down = number as usize,
                LimitKey::MinDwellMs => rails.min_dwell_ms = small,
                LimitKey::MaxTransitionsPerS => rails.max_transitions_per_s = small,
            }
        }
        match (least, most) {
            (Some(least), Some(most)) if rails.min_level > rails.max_level => {
                Err(least.fault(format!(
                    "domain {}: the lowest level allowed, {}, is above the highest, {}, which {most} \
                     sets",
                    domain.name, rails.min_level, rails.max_level
                )))
            }
            _ => Ok(rails),
        }
    }
}

/// The level that a bound names on `domain`.
fn level(key: LimitKey, limit: &Sourced<i64>, domain: &Domain) -> Result<Level, Diagnostic> {
    let (table, value) = (&domain.table, limit.value);
    let wrong = |what: String| {
        let message = format!("{} = {value} {what}", key.name());
        Err(limit.at.fault(message))
    };
    let kbps = Kbps(u64::try_from(value).unwrap_or_default());
    let (lowest, top) = (table.kbps_of(Level::LOWEST), table.kbps_of(table.top()));
    match key {
        LimitKey::MinKbps if kbps > top => {
            wrong(format!("is above the highest level of domain {}, {top} kBps", domain.name))
        }
        LimitKey::MinKbps => Ok(table.ceil(kbps)),
        LimitKey::MaxKbps if kbps < lowest => {
            wrong(format!("is below the lowest level of domain {}, {lowest} kBps", domain.name))
        }
        LimitKey::MaxKbps => Ok(table.floor(kbps)),
        _ => {
            let level = Level(usize::try_from(value).unwrap_or(usize::MAX));
            if table.has(level) {
                return Ok(level);
            }
            let name = &domain.name;
            wrong(format!(
                "is no level of domain {name}, whose levels go from 0 to {}",
                table.top()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use proptest::prelude::*;

    fn ddr() -> Domain {
        // 800000, 1804000, 3072000, 5412000, 7216000.
        builtin("sdm845").unwrap().unwrap().domains[1].clone()
    }

    fn limits(pairs: &[(LimitKey, i64)]) -> Limits {
        let sourced = |(key, value): &(LimitKey, i64)| {
            let at = At::Given(format!("--limit {}={value}", key.name()));
            (*key, Sourced { value: *value, at })
        };
        Limits(pairs.iter().map(sourced).collect())
    }

    #[test]
    fn a_minimum_takes_the_level_that_carries_it_and_a_maximum_the_one_within_it() {
        let rails = |pairs| limits(pairs).rails(&ddr(), Unvoted::Top).unwrap();
        let both = rails(&[(LimitKey::MinKbps, 1_804_001), (LimitKey::MaxKbps, 7_215_999)]);
        assert_eq!((both.min_level, both.max_level), (Level(2), Level(3)));
        // The tighter of level and kBps counts, whichever it is.
        let levels = rails(&[(LimitKey::MinKbps, 800_000), (LimitKey::MinLevel, 1)]);
        assert_eq!(levels.min_level, Level(1));
        let levels = rails(&[(LimitKey::MinKbps, 5_000_000), (LimitKey::MinLevel, 1)]);
        assert_eq!(levels.min_level, Level(3));
        let times = rails(&[
            (LimitKey::MaxStepDown, 1),
            (LimitKey::MinDwellMs, 8),
            (LimitKey::MaxTransitionsPerS, 50),
        ]);
        let wanted = Rails {
            max_step_down: 1,
            min_dwell_ms: 8,
            max_transitions_per_s: 50,
            ..Rails::open(&ddr().table, Unvoted::Top)
        };
        assert_eq!(times, wanted);
    }

    #[test]
    fn a_limit_that_the_table_cannot_keep_is_an_error() {
        for (pairs, said) in [
            (&[(LimitKey::MinKbps, 7_216_001)][..], "above the highest level of domain ddr"),
            (&[(LimitKey::MaxKbps, 799_999)], "below the lowest level of domain ddr, 800000"),
            (&[(LimitKey::MinLevel, 5)], "levels go from 0 to 4"),
            (&[(LimitKey::MaxLevel, 5)], "no level of domain ddr"),
            (&[(LimitKey::MinLevel, 3), (LimitKey::MaxKbps, 1_804_000)], "--limit max_kBps"),
        ] {
            let fault = limits(pairs).rails(&ddr(), Unvoted::Top).unwrap_err().to_string();
            assert!(fault.contains(said), "{pairs:?}: {fault}");
        }
    }

    #[test]
    fn a_looser_limit_is_an_error_that_names_both_places() {
        for (key, old, looser, tighter) in [
            (LimitKey::MinKbps, 800_000, 799_999, 800_001),
            (LimitKey::MaxLevel, 3, 4, 2),
            (LimitKey::MaxStepDown, 2, 3, 1),
            (LimitKey::MinDwellMs, 8, 7, 9),
            (LimitKey::MaxTransitionsPerS, 50, 51, 49),
        ] {
            let base = limits(&[(key, old)]);
            assert!(base.tightened_by(&limits(&[(key, tighter)])).is_ok());
            assert!(base.tightened_by(&base).is_ok());
            let fault = base.tightened_by(&limits(&[(key, looser)])).unwrap_err();
            let shown = fault.to_string();
            assert!(shown.contains(&format!("at --limit {}={old}", key.name())), "{shown}");
            assert!(shown.contains(&format!("--> --limit {}={looser}", key.name())), "{shown}");
        }
    }

    #[test]
    fn a_misspelt_limit_is_suggested() {
        let said = LimitKey::named("min_kbps").unwrap_err();
        assert_eq!(said, "there is no limit min_kbps; did you mean min_kBps?");
    }

    fn any_limits() -> impl Strategy<Value = Limits> {
        prop::collection::vec((0usize..7, 0i64..5), 0..7).prop_map(|pairs| {
            let scale = |(at, n): (usize, i64)| {
                let key = LimitKey::ALL[at];
                let value = match key {
                    LimitKey::MinKbps | LimitKey::MaxKbps => 800_000 + n * 1_600_000,
                    LimitKey::MinLevel | LimitKey::MaxLevel | LimitKey::MinDwellMs => n,
                    LimitKey::MaxStepDown | LimitKey::MaxTransitionsPerS => n + 1,
                };
                (key, value)
            };
            limits(&pairs.into_iter().map(scale).collect::<Vec<_>>())
        })
    }

    proptest! {
        /// 0 stands for "no bound" in rails, so it is compared as the largest.
        #[test]
        fn limits_that_were_tightened_allow_nothing_that_was_forbidden(
            base in any_limits(), child in any_limits(),
        ) {
            prop_assume!(base.tightened_by(&child).is_ok());
            let (Ok(old), Ok(new)) =
                (base.rails(&ddr(), Unvoted::Top), base.under(&child).rails(&ddr(), Unvoted::Top))
            else { return Ok(()) };
            let bound = |n: u32| if n == 0 { u32::MAX } else { n };
            prop_assert!(new.min_level >= old.min_level && new.max_level <= old.max_level);
            prop_assert!(new.min_dwell_ms >= old.min_dwell_ms);
            prop_assert!(bound(new.max_step_down as u32) <= bound(old.max_step_down as u32));
            prop_assert!(bound(new.max_transitions_per_s) <= bound(old.max_transitions_per_s));
        }
    }
}
