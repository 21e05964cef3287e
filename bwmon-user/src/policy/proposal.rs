//! What a policy would like for one domain, and why.

use crate::board::Level;
use crate::units::Kbps;
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Characters of a reason that are kept.
pub const MAX_WHY: usize = 48;

/// A reason, at most [`MAX_WHY`] characters. Cloning it copies no text: a policy gives the same few
/// reasons again and again.
#[derive(Clone, Debug)]
pub enum Why {
    /// Written in the program.
    Fixed(&'static str),
    /// Given by a script.
    Given(Arc<str>),
}

impl Why {
    /// `text`, cut at [`MAX_WHY`] characters and without control characters.
    pub fn given(text: &str) -> Self {
        let kept: String = text.chars().take(MAX_WHY).map(crate::diag::printable).collect();
        Self::Given(kept.into())
    }
}

impl Deref for Why {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Given(text) => text,
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq for Why {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Why {}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

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
        Self { ask, hold_ms: 0, wake_kbps: None, why: Why::Fixed(why) }
    }
}
