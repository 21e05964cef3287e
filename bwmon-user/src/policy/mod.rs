//! Policies: what turns observations into proposals.

mod fault;
mod ladder;
mod native;
mod proposal;
pub mod script;
#[cfg(test)]
pub(crate) mod testing;

pub use fault::{FaultKind, PolicyFault};
pub use ladder::Ladder;
pub use native::Mainline;
pub use proposal::{Ask, MAX_WHY, Proposal, Why};

use crate::board::Board;
use crate::observe::Observation;

/// The name under which the native rule is known wherever a policy file may stand.
pub const NATIVE: &str = "native";

/// A rule. It proposes; it never decides, and it sees nothing but the observations.
pub trait Policy {
    /// Name for journals and reports.
    fn name(&self) -> &str;

    /// What `domain` should have, given the observations of all domains of this tick.
    ///
    /// # Errors
    /// A fault; the state for `domain` is then as after [`Policy::reset`].
    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault>;

    /// Forgets what it remembers about `domain`.
    fn reset(&mut self, domain: usize);
}

/// The native rule for every domain of `board`.
pub fn native(board: &Board) -> Mainline {
    Mainline::new(board)
}
