//! A script that is watched while it runs: which lines were reached, and what its variables were
//! along the way. For `policy test --coverage` and `policy explain`; the agent never runs it.
//!
//! The engine's own debugging interface would cost every decision of the agent 5 %. So the watched
//! script is another text: a marker stands before each statement, on the same line.

mod marks;
mod recorder;

pub use recorder::{Coverage, Step};

use super::{Budget, MAX_OPERATIONS, ScriptPolicy, Source, limits};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::{Policy, PolicyEvent, PolicyFault, Proposal};
use marks::Marked;
use recorder::Recorder;
use rhai::{Dynamic, Engine, OptimizationLevel};
use std::cell::RefCell;
use std::rc::Rc;

/// The word in front of a statement's number.
const MARKER: &str = "bwmon_at__";
/// How many times the operations of the plain script: each statement has one or two more.
const MORE_OPERATIONS: u64 = 4;

/// A script that is watched.
pub struct Traced {
    policy: ScriptPolicy,
    recorder: Rc<RefCell<Recorder>>,
    marks: Option<Marked>,
}

impl Traced {
    /// The script for `board`, as [`ScriptPolicy::new`] makes it. If a marked text does not compile
    /// (syntax that the marks do not fit into) it runs unmarked, and nothing is known of its lines.
    ///
    /// # Errors
    /// As of the plain script.
    pub fn new(
        source: Source,
        board: &Board,
        set: &[(String, String)],
    ) -> Result<Self, Diagnostic> {
        let plain = ScriptPolicy::new(source.clone(), board, set)?;
        let recorder = Rc::new(RefCell::new(Recorder::default()));
        if let Some(marked) = marked(&source, board) {
            recorder.borrow_mut().lines.clone_from(&marked.lines);
            let budget = Budget::of(MAX_OPERATIONS * MORE_OPERATIONS);
            let watched = recorder.clone();
            let text = Source { name: source.name.clone(), text: marked.text.clone() };
            let made = ScriptPolicy::made(source, &text, board, set, budget, |engine| {
                watch(engine, &watched);
            });
            if let Ok(policy) = made {
                return Ok(Self { policy, recorder, marks: Some(marked) });
            }
        }
        Ok(Self { policy: plain, recorder, marks: None })
    }

    /// The lines reached since it was made; `None` where they cannot be told.
    pub fn coverage(&self) -> Option<Coverage> {
        self.marks.as_ref().map(|_| self.recorder.borrow().coverage())
    }

    /// The statements of the last call, in order.
    pub fn steps(&self) -> Vec<Step> {
        self.recorder.borrow().steps().to_vec()
    }
}

impl Policy for Traced {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        self.recorder.borrow_mut().begin();
        let answer = self.policy.decide(all, domain);
        self.recorder.borrow_mut().end(self.policy.state_of(domain));
        answer.map_err(|mut fault| {
            if let (Some(place), Some(marks)) = (&mut fault.diagnostic.place, &self.marks) {
                place.column = marks.plain_column(place.line, place.column);
            }
            fault
        })
    }

    fn reset(&mut self, domain: usize) {
        self.policy.reset(domain);
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.policy.event(domain, event)
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.policy.state(domain)
    }

    fn digest(&self) -> &str {
        self.policy.digest()
    }
}

/// The script with its marks; `None` if it does not parse.
fn marked(source: &Source, board: &Board) -> Option<Marked> {
    let mut engine = limits::limited_engine(&Budget::default());
    super::vocabulary::register(&mut engine, &super::Shared::new(board));
    // Only positions are wanted: the script has been compiled with its tunables already.
    engine.set_optimization_level(OptimizationLevel::None).set_strict_variables(false);
    let ast = engine.compile(&source.text).ok()?;
    Some(marks::mark(&ast, &source.text))
}

/// Makes the marks call the recorder.
fn watch(engine: &mut Engine, recorder: &Rc<RefCell<Recorder>>) {
    engine.set_optimization_level(OptimizationLevel::None);
    // Marks deepen nothing but the text; the plain script has passed the limits already.
    engine.set_max_expr_depths(128, 64);
    let recorder = recorder.clone();
    let made = engine.register_custom_syntax([MARKER, "$int$"], false, move |context, inputs| {
        let number = inputs.first().and_then(|input| input.get_literal_value::<i64>());
        if let Some(number) = number.and_then(|number| usize::try_from(number).ok()) {
            // Each function has a scope of its own; the engine's call level also counts some
            // expressions.
            let frame = std::ptr::from_ref(context.scope()).addr();
            let this = context.this_ptr().cloned();
            let variables = context.scope().iter_raw().map(|(name, _, value)| (name, value));
            recorder.borrow_mut().reached(number, frame, variables, this.as_ref());
        }
        Ok(Dynamic::UNIT)
    });
    // A marker that is no name would be a fault of this file; the script then runs unmarked.
    debug_assert!(made.is_ok());
}

#[cfg(test)]
mod tests;
