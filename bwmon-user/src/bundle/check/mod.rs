//! Whether a bundle holds: its products on their boards, its policies, specs and traces.
//!
//! Everything is looked at in memory, so that a bundle which does not hold leaves no trace.

mod policies;
mod products;
mod specs;
#[cfg(test)]
mod tests;
mod traces;

use super::{Bundle, Role};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::policy::PolicySpec;
use crate::product::{Layer, Loader, Product};
use serde::Serialize;
use std::sync::Arc;

/// What was looked at, and what is worth knowing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Names of the products, each with its board.
    pub products: Vec<ProductOn>,
    /// Scripts and chains that were called and governed, counted once per board.
    pub policies: usize,
    /// Scenarios of specs that held.
    pub scenarios: usize,
    /// Recorded ticks that policies decided without a fault.
    pub trace_ticks: u64,
    /// What is no reason to refuse it.
    pub notes: Vec<String>,
}

/// A product and the board that it was tried on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProductOn {
    /// The product's name.
    pub name: String,
    /// The board's.
    pub board: String,
}

/// A product on its board, ready to govern.
struct Ready {
    product: Product,
    board: Arc<Board>,
    plan: PolicySpec,
}

/// Checks all of `bundle`. `program` is the version of bwmon that it is to run with; `below` are the
/// layers whose products it may stand on; `outside` reads what a product of those names beside it.
///
/// # Errors
/// The first thing that does not hold.
pub fn check(
    bundle: &Bundle,
    program: &str,
    below: Vec<Layer>,
    outside: Loader<'_>,
) -> Result<Checked, Diagnostic> {
    let mut checked = Checked::default();
    products::program(bundle, program)?;
    let ready = products::check(bundle, below, outside, &mut checked)?;
    policies::check(bundle, &ready, &mut checked)?;
    specs::check(bundle, &ready, &mut checked)?;
    traces::check(bundle, &ready, &mut checked)?;
    Ok(checked)
}

/// A fault of the bundle as such.
fn fault(bundle: &Bundle, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(bundle.manifest.title(), message.into())
}

/// The policies of a plan: one, or those of its domains.
fn parts(plan: &PolicySpec) -> Vec<&PolicySpec> {
    match plan {
        PolicySpec::PerDomain(parts) => parts.iter().map(|part| &part.spec).collect(),
        one => vec![one],
    }
}

/// The text of every file that people write, and that has to be text.
fn texts(bundle: &Bundle) -> Result<(), Diagnostic> {
    for role in [Role::Product, Role::Policy, Role::Spec, Role::Trace, Role::Board] {
        for file in bundle.of(role) {
            bundle.text(&file.path).map_err(|why| fault(bundle, why))?;
        }
    }
    Ok(())
}
