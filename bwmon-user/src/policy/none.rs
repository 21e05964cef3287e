//! No governor at all: what others voted is all there is.

use super::{Ask, Policy, PolicyFault, Proposal};
use crate::observe::Observation;

/// Proposes nothing, ever. What is in force stays; where nothing is, the rails say what to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGovernor;

impl Policy for NoGovernor {
    fn name(&self) -> &str {
        "none"
    }

    fn decide(&mut self, _: &[Observation], _: usize) -> Result<Proposal, PolicyFault> {
        Ok(Proposal::new(Ask::Hold, ""))
    }

    fn reset(&mut self, _: usize) {}
}
