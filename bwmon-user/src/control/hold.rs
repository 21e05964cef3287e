//! A bound that a client asks for.

use crate::board::{Board, Level};
use crate::command::{Bound, Hold};
use crate::diag::{did_you_mean, printable};
use crate::units::Kbps;
use serde::{Deserialize, Serialize};

/// Characters of `by` that are kept.
const MAX_BY: usize = 120;

/// At least one bound, each as a level or as a bandwidth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldAsk {
    /// The domain; all of them without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Never below this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_level: Option<usize>,
    /// Never below the lowest level that carries this.
    #[serde(default, rename = "floor_kBps", skip_serializing_if = "Option::is_none")]
    pub floor_kbps: Option<u64>,
    /// Never above this level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling_level: Option<usize>,
    /// Never above the highest level within this.
    #[serde(default, rename = "ceiling_kBps", skip_serializing_if = "Option::is_none")]
    pub ceiling_kbps: Option<u64>,
    /// What for, in a line.
    #[serde(default)]
    pub by: String,
}

impl HoldAsk {
    /// Whether it makes sense on any board.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        if self.floor_level.is_some() && self.floor_kbps.is_some() {
            return Err("hold: one floor, as a level or as kBps".to_owned());
        }
        if self.ceiling_level.is_some() && self.ceiling_kbps.is_some() {
            return Err("hold: one ceiling, as a level or as kBps".to_owned());
        }
        if self.floor().is_none() && self.ceiling().is_none() {
            return Err("hold: there is no bound: a floor or a ceiling".to_owned());
        }
        Ok(())
    }

    fn floor(&self) -> Option<Bound> {
        bound(self.floor_level, self.floor_kbps)
    }

    fn ceiling(&self) -> Option<Bound> {
        bound(self.ceiling_level, self.ceiling_kbps)
    }

    /// The hold number `id` on `board`, asked for by `peer`.
    ///
    /// # Errors
    /// When the board has no such domain or level.
    pub fn hold(&self, id: u64, peer: &str, board: &Board) -> Result<Hold, String> {
        let named = |name: &String| board.domains.iter().position(|domain| domain.name == *name);
        if let Some(name) = self.domain.as_ref().filter(|name| named(name).is_none()) {
            let names = || board.domains.iter().map(|domain| domain.name.as_str());
            let shown: String = name.chars().take(40).map(printable).collect();
            return Err(match did_you_mean(name, names()) {
                Some(near) => format!("there is no domain {shown}; did you mean {near}?"),
                None => format!(
                    "there is no domain {shown}; {} has {}",
                    board.id,
                    names().collect::<Vec<_>>().join(", ")
                ),
            });
        }
        let covered = board
            .domains
            .iter()
            .filter(|d| self.domain.as_ref().is_none_or(|name| d.name == *name));
        for level in [self.floor_level, self.ceiling_level].into_iter().flatten() {
            if let Some(domain) = covered.clone().find(|d| level > d.table.top().0) {
                return Err(format!(
                    "domain {} has no level {level}: its highest is {}",
                    domain.name,
                    domain.table.top().0
                ));
            }
        }
        let what: String = self.by.chars().take(MAX_BY).map(printable).collect();
        let by = if what.is_empty() { peer.to_owned() } else { format!("{peer}: {what}") };
        let (floor, ceiling) = (self.floor(), self.ceiling());
        Ok(Hold { id, domain: self.domain.clone(), floor, ceiling, by })
    }
}

fn bound(level: Option<usize>, kbps: Option<u64>) -> Option<Bound> {
    level.map(|level| Bound::Level(Level(level))).or(kbps.map(|kbps| Bound::Kbps(Kbps(kbps))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    #[test]
    fn a_hold_is_of_a_domain_and_a_level_that_are_there() {
        let board = builtin("sdm845").unwrap().unwrap();
        let hold = |domain: Option<&str>, floor_level| {
            let domain = domain.map(str::to_owned);
            HoldAsk { domain, floor_level, ..HoldAsk::default() }.hold(3, "pid 7", &board)
        };
        let made = hold(Some("ddr"), Some(4)).unwrap();
        assert_eq!((made.id, made.floor), (3, Some(Bound::Level(Level(4)))));
        assert_eq!(made.by, "pid 7");
        assert_eq!(
            hold(Some("drr"), Some(1)).unwrap_err(),
            "there is no domain drr; did you mean ddr?"
        );
        // Five rows: the highest level is 4.
        assert_eq!(
            hold(Some("ddr"), Some(5)).unwrap_err(),
            "domain ddr has no level 5: its highest is 4"
        );
    }
}
