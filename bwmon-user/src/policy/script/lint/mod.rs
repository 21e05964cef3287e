//! Lint: what is wrong with a policy, found without running it (the walk through its syntax) and by
//! letting it govern (the closed loop).
//!
//! The static lints know what the engine knows: every registered function, the vocabulary, and the
//! script's own functions, tunables, constants and state. They are careful: where a type or a path
//! is not certain, nothing is said.

mod closed_loop;
mod codes;
mod facts;
mod flow;
mod model;
mod natives;
mod report;
pub(super) mod tokens;
mod types;
mod usage;
mod walk;
mod whole;

pub use closed_loop::closed_loop;
pub use codes::{Code, LINTS, Lint, Severity};
pub use report::{Finding, sort};

use super::observation::Shared;
use super::{Budget, Source, limits, params, vocabulary};
use crate::board::Board;
use model::Script;
use natives::Natives;
use report::Report;
use rhai::{Module, OptimizationLevel};
use walk::Walker;

/// What the static lints say about a script.
#[derive(Clone, Debug, Default)]
pub struct Lints {
    /// Findings, in order.
    pub findings: Vec<Finding>,
    /// Whether the script reads what the monitor says about the demand. One that does not (a fixed
    /// level, say) is not asked to follow it.
    pub reads_demand: bool,
}

/// The static lints. A script that does not parse has none: loading it says what is wrong. `board`
/// is any board; the lints do not depend on it.
pub fn lint(source: &Source, board: &Board) -> Lints {
    let budget = Budget::default();
    let shared = Shared::new(board);
    let mut engine = limits::limited_engine(&budget);
    // As written: what the optimiser removes is what some lints look for.
    engine.set_optimization_level(OptimizationLevel::None);
    vocabulary::register(&mut engine, &shared);
    let natives = Natives::of(&engine);
    engine.register_static_module("cfg", Module::new().into());
    engine.register_static_module("global", Module::new().into());
    if source.text.len() > limits::MAX_SOURCE {
        return Lints::default();
    }
    let (Ok(ast), Ok(tunables)) = (engine.compile(&source.text), params::declared(source)) else {
        return Lints::default();
    };
    let script = Script::of(&engine, &ast, &source.text, tunables);
    let mut walker = Walker::new(&script, &natives, Report::new(source));
    walker.walk();
    whole::check(&script, &mut walker);
    let reads_demand = walker.usage.demand;
    Lints { findings: walker.report.finish(), reads_demand }
}

#[cfg(test)]
mod quiet_tests;
#[cfg(test)]
mod tests;
