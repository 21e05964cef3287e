//! A script that is watched while it runs: which lines were reached, and what its variables were
//! along the way. For `policy test --coverage` and `policy explain`; the agent never runs it.
//!
//! The engine's own debugging interface would cost every decision of the agent 5 %. So the watched
//! script is another text: a marker stands before each statement, on the same line.

mod coverage;
mod marks;
mod recorder;

pub use coverage::Coverage;
pub use recorder::Step;

use super::{Budget, MAX_OPERATIONS, ScriptPolicy, Source, limits};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::observe::Observation;
use crate::policy::{FaultKind, Policy, PolicyEvent, PolicyFault, Proposal};
use marks::Marked;
use recorder::{Place, Recorder};
use rhai::{Dynamic, Engine, OptimizationLevel};
use std::cell::RefCell;
use std::rc::Rc;

/// The word in front of a statement's number.
const MARKER: &str = "bwmon_at__";
/// Operations of a mark: the statement and the expression in it.
const MARK_OPERATIONS: u64 = 2;
/// The engine's own count, which marks cannot give back to, gets so many times the operations.
const MORE_OPERATIONS: u64 = 4;

/// A script that is watched. It answers what the plain script answers, faults included; the marked
/// one runs beside it and is only looked at.
pub struct Traced {
    plain: ScriptPolicy,
    watch: Option<Watch>,
}

/// The marked script.
struct Watch {
    policy: ScriptPolicy,
    recorder: Rc<RefCell<Recorder>>,
    /// It once answered something else than the plain one: its values are no longer those that
    /// the plain one had.
    astray: bool,
}

impl Traced {
    /// The script for `board`, as [`ScriptPolicy::new`] makes it. If a marked text does not compile
    /// (syntax that the marks do not fit into) nothing is known of its lines.
    ///
    /// # Errors
    /// As of the plain script.
    pub fn new(
        source: Source,
        board: &Board,
        set: &[(String, String)],
    ) -> Result<Self, Diagnostic> {
        let plain = ScriptPolicy::new(source.clone(), board, set)?;
        let watch =
            marked(&source, board).and_then(|marked| Watch::new(source, marked, board, set));
        Ok(Self { plain, watch })
    }

    /// Whether steps are noted from now on (they are at first), or only which lines are reached.
    pub fn note_steps(&mut self, yes: bool) {
        if let Some(watch) = &self.watch {
            watch.recorder.borrow_mut().stepwise = yes;
        }
    }

    /// The lines reached since it was made; `None` where they cannot be told.
    pub fn coverage(&self) -> Option<Coverage> {
        self.watch.as_ref().map(|watch| watch.recorder.borrow().coverage())
    }

    /// The statements of the last call, in order; `None` where they cannot be told.
    pub fn steps(&self) -> Option<Vec<Step>> {
        let watch = self.watch.as_ref().filter(|watch| !watch.astray)?;
        Some(watch.recorder.borrow().steps().to_vec())
    }
}

impl Watch {
    /// `None` if the marked text does not compile.
    fn new(
        source: Source,
        marked: Marked,
        board: &Board,
        set: &[(String, String)],
    ) -> Option<Self> {
        let recorder = Rc::new(RefCell::new(Recorder::new(marked.marks)));
        let text = Source { name: source.name.clone(), text: marked.text };
        // A mark is counted before it can give back.
        let budget = Budget::of(MAX_OPERATIONS + MARK_OPERATIONS);
        let (counted, watched) = (budget.clone(), recorder.clone());
        let prepare = |engine: &mut Engine| prepare(engine, counted, watched);
        let policy = ScriptPolicy::made(source, &text, board, set, budget, prepare).ok()?;
        Some(Self { policy, recorder, astray: false })
    }

    /// Calls the marked script; `truth` is what the plain one answered.
    fn follow<T: PartialEq>(
        &mut self,
        domain: usize,
        truth: &Result<T, PolicyFault>,
        call: impl FnOnce(&mut ScriptPolicy) -> Result<T, PolicyFault>,
    ) {
        self.recorder.borrow_mut().begin(self.policy.state_of(domain));
        let again = call(&mut self.policy);
        match (truth, again) {
            (Ok(truth), Ok(again)) if *truth == again => {
                // After a fault the state is another; it is not what the script made of it.
                self.recorder.borrow_mut().end(self.policy.state_of(domain));
            }
            (Err(truth), Err(again)) if truth.kind == again.kind => {}
            // The last operations of a budget are a mark's or two: it came a little further.
            (Err(truth), Ok(_)) if truth.kind == FaultKind::Budget => self.policy.reset(domain),
            _ => self.astray = true,
        }
    }
}

impl Policy for Traced {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let truth = self.plain.decide(all, domain);
        if let Some(watch) = &mut self.watch {
            watch.follow(domain, &truth, |policy| policy.decide(all, domain));
        }
        truth
    }

    fn reset(&mut self, domain: usize) {
        self.plain.reset(domain);
        if let Some(watch) = &mut self.watch {
            watch.policy.reset(domain);
        }
    }

    fn event(&mut self, domain: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        let truth = self.plain.event(domain, event);
        if let Some(watch) = &mut self.watch {
            watch.follow(domain, &truth, |policy| policy.event(domain, event));
        }
        truth
    }

    fn state(&self, domain: usize) -> Option<serde_json::Value> {
        self.plain.state(domain)
    }

    fn digest(&self) -> &str {
        self.plain.digest()
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
fn prepare(engine: &mut Engine, budget: Budget, recorder: Rc<RefCell<Recorder>>) {
    engine.set_max_operations(MAX_OPERATIONS * MORE_OPERATIONS);
    // Marks deepen nothing but the text; the plain script has passed the limits already.
    engine.set_max_expr_depths(128, 64);
    let made = engine.register_custom_syntax([MARKER, "$int$"], false, move |context, inputs| {
        budget.give_back(MARK_OPERATIONS);
        let number = inputs.first().and_then(|input| input.get_literal_value::<i64>());
        if let Some(number) = number.and_then(|number| usize::try_from(number).ok()) {
            let place = Place {
                number,
                scope: std::ptr::from_ref(context.scope()).addr(),
                level: context.call_level(),
                this: context.this_ptr(),
            };
            let variables = context.scope().iter_raw().map(|(name, _, value)| (name, value));
            recorder.borrow_mut().reached(&place, variables);
        }
        Ok(Dynamic::UNIT)
    });
    // A marker that is no name would be a fault of this file; the script is then not watched.
    debug_assert!(made.is_ok());
}

#[cfg(test)]
mod tests;
