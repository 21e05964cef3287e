//! What the governing loop is asked to do between two ticks.

use crate::board::{Level, OppTable};
use crate::decide::Rails;
use crate::journal::ProductRecord;
use crate::policy::PolicySpec;
use crate::policy::canary::Rule;
use crate::units::Kbps;
use serde::{Deserialize, Serialize};

/// One request. What is done of it becomes a note of the journal, so that a replay does it again.
#[derive(Clone, Debug)]
pub enum Command {
    /// Another policy is to decide.
    Replace(Box<Replacement>),
    /// No policy is to have its way until `Resume`.
    Pause(PauseAt),
    /// The policy is to have its way again.
    Resume,
    /// A bound for a time.
    Hold(Hold),
    /// The end of the hold with this number.
    Release(u64),
}

/// A policy for the place of the one that decides.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The policy; it has been checked.
    pub policy: PolicySpec,
    /// For so many milliseconds in shadow first, judged by the rule.
    pub canary: Option<(u64, Rule)>,
    /// What comes with it, if it is a product that changes.
    pub terms: Option<Terms>,
}

impl Replacement {
    /// `policy` at once, and nothing else.
    pub fn at_once(policy: PolicySpec) -> Self {
        Self { policy, canary: None, terms: None }
    }
}

/// What a product says besides the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The rails, one entry per domain.
    pub rails: Vec<Rails>,
    /// The product; `None` where none chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<ProductRecord>,
}

/// Where the levels stand during a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseAt {
    /// At the highest level allowed: nothing starves.
    #[default]
    Top,
    /// Where they are.
    Keep,
}

/// A bound for as long as somebody wants it. Several count together: the highest floor, the lowest
/// ceiling, and where they contradict each other the floor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its number in this run, from 1.
    pub id: u64,
    /// The domain; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Never below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Bound>,
    /// Never above this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Bound>,
    /// Who asked for it and what for, in a line.
    pub by: String,
}

/// One side of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bound {
    /// A level; beyond the table, its highest.
    #[serde(rename = "level")]
    Level(Level),
    /// A bandwidth: as a floor the lowest level that carries it, as a ceiling the highest within it.
    #[serde(rename = "kBps")]
    Kbps(Kbps),
}

impl Bound {
    /// The level that this is as a floor of `table`.
    pub fn as_floor(self, table: &OppTable) -> Level {
        match self {
            Self::Level(level) => level.min(table.top()),
            Self::Kbps(kbps) => table.ceil(kbps),
        }
    }

    /// The level that this is as a ceiling of `table`; its lowest where none is within.
    pub fn as_ceiling(self, table: &OppTable) -> Level {
        match self {
            Self::Level(level) => level.min(table.top()),
            Self::Kbps(kbps) => table.floor(kbps),
        }
    }
}

impl Hold {
    /// Whether it is about the domain called `name`.
    pub fn covers(&self, name: &str) -> bool {
        self.domain.as_deref().is_none_or(|domain| domain == name)
    }
}

/// `rails` with the holds of `holds` for the domain called `name`. A hold may only tighten: the
/// operator's own limits stay.
pub fn under_holds(rails: &Rails, table: &OppTable, name: &str, holds: &[Hold]) -> Rails {
    let these = || holds.iter().filter(|hold| hold.covers(name));
    let floors = these().filter_map(|hold| hold.floor).map(|bound| bound.as_floor(table));
    let ceilings = these().filter_map(|hold| hold.ceiling).map(|bound| bound.as_ceiling(table));
    let within = |level: Level| level.clamp(rails.min_level, rails.max_level.max(rails.min_level));
    let min_level = floors.map(within).max().unwrap_or(rails.min_level);
    let ceiling = ceilings.map(within).min().unwrap_or(rails.max_level);
    Rails { min_level, max_level: ceiling.max(min_level), ..*rails }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::decide::Unvoted;
    use proptest::prelude::*;

    /// 800000, 1804000, 3072000, 5412000, 7216000 kBps.
    fn table() -> OppTable {
        builtin("sdm845").unwrap().unwrap().domains[1].table.clone()
    }

    fn hold(floor: Option<Bound>, ceiling: Option<Bound>) -> Hold {
        Hold { id: 1, domain: None, floor, ceiling, by: "a test".into() }
    }

    fn levels(rails: &Rails, holds: &[Hold]) -> (usize, usize) {
        let under = under_holds(rails, &table(), "ddr", holds);
        (under.min_level.0, under.max_level.0)
    }

    #[test]
    fn the_highest_floor_and_the_lowest_ceiling_count() {
        let rails = Rails::open(&table(), Unvoted::Top);
        let kbps = |n| Some(Bound::Kbps(Kbps(n)));
        assert_eq!(levels(&rails, &[]), (0, 4));
        // 1 000 000 needs level 1; 6 000 000 leaves at most level 3.
        assert_eq!(levels(&rails, &[hold(kbps(1_000_000), kbps(6_000_000))]), (1, 3));
        let more =
            [hold(kbps(1_000_000), None), hold(Some(Bound::Level(Level(2))), kbps(6_000_000))];
        assert_eq!(levels(&rails, &more), (2, 3));
        // Below the lowest row there is no level within: the lowest stands for it.
        assert_eq!(levels(&rails, &[hold(None, kbps(1))]), (0, 0));
    }

    #[test]
    fn where_holds_contradict_each_other_the_floor_counts() {
        let rails = Rails::open(&table(), Unvoted::Top);
        let level = |n| Some(Bound::Level(Level(n)));
        assert_eq!(levels(&rails, &[hold(level(3), None), hold(None, level(1))]), (3, 3));
    }

    #[test]
    fn a_hold_of_another_domain_does_not_count() {
        let rails = Rails::open(&table(), Unvoted::Top);
        let other =
            Hold { domain: Some("llcc".into()), ..hold(Some(Bound::Level(Level(3))), None) };
        assert_eq!(levels(&rails, &[other]), (0, 4));
    }

    proptest! {
        #[test]
        fn a_hold_never_leaves_the_operators_limits(
            min in 0usize..5, more in 0usize..5,
            holds in proptest::collection::vec((proptest::option::of(0usize..9), proptest::option::of(0u64..9_000_000)), 0..4),
        ) {
            let max = (min + more).min(4);
            let rails = Rails { min_level: Level(min), max_level: Level(max), ..Rails::open(&table(), Unvoted::Top) };
            let holds: Vec<Hold> = holds.into_iter().map(|(floor, ceiling)| {
                hold(floor.map(|n| Bound::Level(Level(n))), ceiling.map(|n| Bound::Kbps(Kbps(n))))
            }).collect();
            let (low, high) = levels(&rails, &holds);
            prop_assert!(min <= low && low <= high && high <= max, "{min} {low} {high} {max}");
        }
    }
}
