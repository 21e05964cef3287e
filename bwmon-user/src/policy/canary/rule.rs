//! What a canary is judged by: `faults<=0, below_demand_ms<=+0, transitions<=x2`.

use crate::board::{Level, OppTable};
use crate::diag::did_you_mean;
use crate::observe::Observation;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What is counted of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Faults.
    pub faults: u64,
    /// Changes of level.
    pub transitions: u64,
    /// Microseconds in which a reading was above the level that was in force for it.
    pub below_demand_us: u64,
    /// Sum of the decided levels' bandwidths times their ticks' lengths, in kBps us.
    #[serde(rename = "vote_kBps_us")]
    pub vote_kbps_us: u128,
    /// Microseconds with a decided level.
    pub decided_us: u64,
}

impl Figures {
    /// Counts whether the level that was in force carried the reading.
    pub(super) fn carried(&mut self, table: &OppTable, obs: &Observation) {
        let (Some(measured), Some(level)) = (obs.measured, obs.level) else { return };
        if measured.peak_kbps > table.kbps_of(level) {
            self.below_demand_us += obs.dt_us;
        }
    }

    /// Counts a decision.
    pub(super) fn decided(&mut self, table: &OppTable, obs: &Observation, level: Option<Level>) {
        let Some(level) = level else { return };
        self.transitions += u64::from(obs.level.is_some_and(|before| before != level));
        self.vote_kbps_us += u128::from(table.kbps_of(level).0) * u128::from(obs.dt_us);
        self.decided_us += obs.dt_us;
    }

    fn mean_vote_kbps(&self) -> u64 {
        let mean = self.vote_kbps_us.checked_div(u128::from(self.decided_us)).unwrap_or(0);
        u64::try_from(mean).unwrap_or(u64::MAX)
    }

    fn of(&self, what: What) -> u64 {
        match what {
            What::Faults => self.faults,
            What::Transitions => self.transitions,
            What::BelowDemand => self.below_demand_us.div_ceil(1_000),
            What::MeanVote => self.mean_vote_kbps(),
            What::Agree => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Faults,
    Transitions,
    BelowDemand,
    MeanVote,
    Agree,
}

const NAMES: [(&str, What); 5] = [
    ("faults", What::Faults),
    ("transitions", What::Transitions),
    ("below_demand_ms", What::BelowDemand),
    ("mean_vote_kBps", What::MeanVote),
    ("agree_pct", What::Agree),
];

/// The most (or for `agree_pct` the least) that is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// So much.
    Plain(u64),
    /// So much more than the old policy.
    More(u64),
    /// So many times as much as the old policy (and as one, where that is more).
    Times(f64),
}

/// A rule: conditions that all have to be met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    text: String,
    conditions: Vec<(What, Bound)>,
}

/// A rule that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(String);

/// The rule where none is given: in doubt the old policy stays.
const DEFAULT: &str = "faults<=0, below_demand_ms<=+0, transitions<=x2";

impl Default for Rule {
    fn default() -> Self {
        let conditions = vec![
            (What::Faults, Bound::Plain(0)),
            (What::BelowDemand, Bound::More(0)),
            (What::Transitions, Bound::Times(2.0)),
        ];
        Self { text: DEFAULT.to_owned(), conditions }
    }
}

impl Rule {
    /// The first condition that is not met, with what was counted.
    pub(super) fn failed(&self, old: &Figures, new: &Figures, agree_pct: u64) -> Option<String> {
        self.conditions.iter().find_map(|(what, bound)| {
            let name = NAMES.iter().find(|(_, known)| known == what).map_or("?", |(name, _)| name);
            if *what == What::Agree {
                let Bound::Plain(least) = bound else { return None };
                return (agree_pct < *least)
                    .then(|| format!("{name} is {agree_pct}, at least {least} was asked for"));
            }
            let (before, now) = (old.of(*what), new.of(*what));
            let most = match bound {
                Bound::Plain(most) => *most,
                Bound::More(more) => before.saturating_add(*more),
                Bound::Times(times) => (before.max(1) as f64 * times) as u64,
            };
            (now > most)
                .then(|| format!("{name} is {now}, at most {most} was allowed (old: {before})"))
        })
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let conditions: Vec<(What, Bound)> =
            text.split(',').map(str::trim).map(condition).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), conditions })
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> String {
        rule.text
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn condition(text: &str) -> Result<(What, Bound), RuleError> {
    let (name, least, bound) = match (text.split_once("<="), text.split_once(">=")) {
        (Some((name, bound)), _) => (name.trim(), false, bound.trim()),
        (None, Some((name, bound))) => (name.trim(), true, bound.trim()),
        (None, None) => {
            return Err(RuleError(format!("`{text}` is no condition; write {DEFAULT}")));
        }
    };
    let Some((_, what)) = NAMES.iter().find(|(known, _)| *known == name) else {
        let names = || NAMES.iter().map(|(known, _)| *known);
        return Err(RuleError(match did_you_mean(name, names()) {
            Some(near) => format!("nothing called `{name}` is counted; did you mean `{near}`?"),
            None => format!(
                "nothing called `{name}` is counted; there are {}",
                names().collect::<Vec<_>>().join(", ")
            ),
        }));
    };
    if least != (*what == What::Agree) {
        return Err(RuleError(format!("`{text}`: agree_pct has a least, everything else a most")));
    }
    let wrong = || {
        RuleError(format!(
            "`{bound}` is no bound: write 5, +5 (more than the old policy) or x1.5 (times the old)"
        ))
    };
    let whole = |text: &str| text.replace('_', "").parse::<u64>().map_err(|_| wrong());
    let bound = match (bound.strip_prefix('+'), bound.strip_prefix('x')) {
        _ if least => Bound::Plain(whole(bound)?.min(100)),
        (Some(more), _) => Bound::More(whole(more)?),
        (_, Some(times)) => {
            let times = times.parse::<f64>().map_err(|_| wrong())?;
            Bound::Times(Some(times).filter(|t| (0.0..=1000.0).contains(t)).ok_or_else(wrong)?)
        }
        _ => Bound::Plain(whole(bound)?),
    };
    Ok((*what, bound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_default_is_what_its_text_says() {
        assert_eq!(DEFAULT.parse::<Rule>().unwrap(), Rule::default());
    }

    #[test]
    fn bounds_are_plain_or_relative_to_the_old_policy() {
        let old = Figures { transitions: 10, below_demand_us: 4_000, ..Figures::default() };
        let failed =
            |rule: &str, new: Figures| rule.parse::<Rule>().unwrap().failed(&old, &new, 80);
        let new = Figures { transitions: 20, below_demand_us: 5_000, ..Figures::default() };
        assert_eq!(failed("transitions<=x2, below_demand_ms<=+1", new), None);
        assert!(failed("transitions<=x1.9", new).unwrap().contains("is 20, at most 19"));
        assert!(failed("below_demand_ms<=+0", new).unwrap().contains("(old: 4)"));
        assert!(failed("faults<=0, transitions<=5", new).unwrap().starts_with("transitions"));
        assert!(failed("agree_pct>=81", new).unwrap().contains("agree_pct is 80"));
        // Twice nothing is not nothing: one change more is let pass.
        let calm = Figures::default();
        let two = Figures { transitions: 2, ..calm };
        assert_eq!(Rule::default().failed(&calm, &two, 0), None);
    }

    #[test]
    fn a_rule_that_is_not_understood_says_what_would_be() {
        for (text, said) in [
            ("", "is no condition"),
            ("fault<=0", "did you mean `faults`?"),
            ("faults>=0", "everything else a most"),
            ("agree_pct<=9", "has a least"),
            ("faults<=-1", "is no bound"),
            ("transitions<=xy", "is no bound"),
            ("transitions<=x-1", "is no bound"),
        ] {
            let error = text.parse::<Rule>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_rule_or_an_error_and_a_rule_survives_its_text(text in "[a-z_<=>+x0-9, .]{0,40}") {
            if let Ok(rule) = text.parse::<Rule>() {
                prop_assert_eq!(rule.to_string().parse::<Rule>().unwrap(), rule);
            }
        }
    }
}
