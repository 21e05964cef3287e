//! Does the bandwidth that was reached fit the level in force?
//!
//! A level's kBps is a clock times the width of one channel, and machines have one to eight channels.
//! So what is reached says little within that range, and much outside of it: less than half of one
//! channel under full load means that the clock is not what was voted, more than eight that the level
//! is not what is in force.

use crate::units::Kbps;
use serde::Serialize;

/// Channels that a machine may have: sa8775p and the laptops have eight.
const CHANNELS: u64 = 8;

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// The CPUs moved as much as they could.
    Full,
    /// Whatever ran: it may have wanted no more.
    Unknown,
}

/// What can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// It fits.
    Fits,
    /// Too little was reached for the level.
    TooLow,
    /// More was reached than the level can carry.
    TooHigh,
    /// It cannot be told.
    Unknown,
}

/// What was reached on a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// The domain.
    pub domain: String,
    /// The level's kBps, column 0.
    #[serde(rename = "level_kBps")]
    pub level: Option<Kbps>,
    /// The highest bandwidth.
    #[serde(rename = "reached_kBps")]
    pub reached: Option<Kbps>,
    /// The answer.
    pub fit: Fit,
    /// Where the figures come from, or why there are none.
    pub why: String,
}

impl Reached {
    /// Nothing is known.
    pub fn unknown(domain: &str, why: impl Into<String>) -> Self {
        Self {
            domain: domain.to_owned(),
            level: None,
            reached: None,
            fit: Fit::Unknown,
            why: why.into(),
        }
    }

    /// Judges `reached` under `load` at `level`.
    pub fn judge(domain: &str, level: Kbps, reached: Kbps, load: Load, from: &str) -> Self {
        let channels = reached.0 as f64 / level.0.max(1) as f64;
        let (fit, what) = if reached.0 > level.0.saturating_mul(CHANNELS) {
            (Fit::TooHigh, "more than the level can carry: it is not what is in force")
        } else if reached.0.saturating_mul(2) >= level.0 {
            (Fit::Fits, "as much as one to eight channels carry")
        } else if load == Load::Full {
            (Fit::TooLow, "less than half of one channel: the clock is not what was voted")
        } else {
            (Fit::Unknown, "little, but nothing may have asked for more")
        };
        Self {
            domain: domain.to_owned(),
            level: Some(level),
            reached: Some(reached),
            fit,
            why: format!("{from}: {channels:.2} times the level's kBps, {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(level: u64, reached: u64, load: Load) -> Fit {
        Reached::judge("ddr", Kbps(level), Kbps(reached), load, "a test").fit
    }

    #[test]
    fn one_to_eight_channels_fit_and_what_lies_outside_does_not() {
        // SDM845 at its top level of 7216000 reached 17711000 kBps (the seed's table).
        assert_eq!(fit(7_216_000, 17_711_000, Load::Full), Fit::Fits);
        assert_eq!(fit(7_216_000, 3_608_000, Load::Full), Fit::Fits);
        assert_eq!(fit(7_216_000, 3_607_999, Load::Full), Fit::TooLow);
        assert_eq!(fit(800_000, 6_400_000, Load::Full), Fit::Fits);
        assert_eq!(fit(800_000, 6_400_001, Load::Unknown), Fit::TooHigh);
    }

    #[test]
    fn little_traffic_is_no_proof_unless_all_that_was_possible_was_asked_for() {
        assert_eq!(fit(7_216_000, 100, Load::Unknown), Fit::Unknown);
        assert_eq!(fit(0, 0, Load::Unknown), Fit::Fits);
    }
}
