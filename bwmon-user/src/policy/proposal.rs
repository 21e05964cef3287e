//! What a policy would like for one domain, and why.

use crate::board::Level;
use crate::units::Kbps;
use serde::Serialize;
use std::borrow::Cow;

/// Characters of a reason that are kept.
pub const MAX_WHY: usize = 48;

/// A reason, at most [`MAX_WHY`] characters.
pub type Why = Cow<'static, str>;

/// The wish itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// The lowest level that carries this much.
    #[serde(rename = "demand_kBps")]
    Demand(Kbps),
    /// This level.
    Opp(Level),
    /// The highest level.
    Max,
    /// The lowest level.
    Min,
    /// The level in force.
    Hold,
}

/// A wish with its refinements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The wish.
    pub ask: Ask,
    /// Do not come down for this long afterwards; 0 for no such wish.
    pub hold_ms: u32,
    /// Wake levels for interrupt-driven measuring, up and down.
    #[serde(rename = "wake_kBps", skip_serializing_if = "Option::is_none")]
    pub wake_kbps: Option<(Kbps, Kbps)>,
    /// The reason; empty if none was given.
    pub why: Why,
}

impl Proposal {
    /// `ask`, without refinements.
    pub const fn new(ask: Ask, why: &'static str) -> Self {
        Self { ask, hold_ms: 0, wake_kbps: None, why: Cow::Borrowed(why) }
    }
}
