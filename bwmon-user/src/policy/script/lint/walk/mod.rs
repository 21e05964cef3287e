//! The walk through a script: what each expression may be, and what is known on each path.
//!
//! Functions are walked again and again, without reporting, until what is known about their
//! parameters and answers no longer changes; then once more, with reporting. Loops are walked once:
//! before one, the variables that it sets are forgotten.

mod assignments;
mod calls;
mod chains;
mod conditions;
mod expressions;
mod loops;
mod operators;
mod proposals;
mod state;
mod statements;

use super::facts::{Facts, Subject};
use super::flow::{Flow, Shape, Value};
use super::model::Script;
use super::natives::Natives;
use super::report::Report;
use super::types::Kinds;
use super::usage::Usage;
use rhai::{ImmutableString, Stmt};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Walks until types are settled; a script whose functions need more is taken to know nothing.
const MOST_ROUNDS: usize = 40;

/// What `this` may be in a function, a bit for each way to call it.
pub(super) mod this {
    /// Called as `f()`: none.
    pub(crate) const UNBOUND: u8 = 1;
    /// The domain's state.
    pub(crate) const STATE: u8 = 1 << 1;
    /// Something else.
    pub(crate) const OTHER: u8 = 1 << 2;
    /// In `init`: none yet.
    pub(crate) const INIT: u8 = 1 << 3;
    /// In a policy without `init`: none.
    pub(crate) const NONE: u8 = 1 << 4;
}

/// What is known about a function from its calls and its body.
#[derive(Clone, Debug, Default, PartialEq)]
struct Summary {
    called: bool,
    parameters: Vec<Option<Value>>,
    this: u8,
    /// What is known when it is called.
    facts: Option<Facts>,
    result: Option<Value>,
    /// What it asks about its parameters and about domains.
    asked: BTreeMap<Subject, u16>,
    /// `decide` answers what it answers.
    proposes: bool,
}

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Nothing.
    Dropped,
    /// It is part of an expression.
    Taken,
    /// It is the function's answer.
    Answer,
}

/// How loops end, the innermost last.
#[derive(Debug)]
struct Loop {
    /// Variables alive outside of it.
    variables: usize,
    /// What is known at its `break`s, and what they give.
    breaks: Vec<(Flow, Value)>,
}

/// The walk.
pub(super) struct Walker<'a> {
    script: &'a Script,
    natives: &'a Natives,
    pub(super) report: Report<'a>,
    pub(super) usage: Usage,
    constants: BTreeMap<ImmutableString, Value>,
    summaries: Vec<Summary>,
    /// The keys of the state; `None` while `init` does not tell them.
    pub(super) state: Option<Rc<Shape>>,
    /// The function that is walked.
    current: usize,
    this: u8,
    flow: Flow,
    loops: Vec<Loop>,
    answer: Option<Value>,
    /// Inside of `try`: a reading that is unknown is caught.
    trying: usize,
    /// The first walk is over: calls no longer change what is known.
    settled: bool,
}

impl<'a> Walker<'a> {
    pub(super) fn new(script: &'a Script, natives: &'a Natives, report: Report<'a>) -> Self {
        let mut summaries: Vec<Summary> = Vec::new();
        for function in &script.functions {
            let parameters = vec![None; function.parameters.len()];
            summaries.push(Summary { parameters, ..Summary::default() });
        }
        let mut walker = Self {
            script,
            natives,
            report,
            usage: Usage::default(),
            constants: BTreeMap::new(),
            summaries,
            state: None,
            current: usize::MAX,
            this: this::OTHER,
            flow: Flow::new(Vec::new(), Facts::default()),
            loops: Vec::new(),
            answer: None,
            trying: 0,
            settled: false,
        };
        for statement in &script.constants {
            if let Stmt::Var(parts, ..) = statement {
                let value = walker.expression(&parts.1);
                walker.constants.insert(parts.0.name.clone(), value);
            }
        }
        walker.call_entries();
        walker
    }

    /// What the agent calls, and with what.
    fn call_entries(&mut self) {
        let stateful = self.script.function("init", 1).is_some();
        let state = if stateful { this::STATE } else { this::NONE };
        for (function, summary) in self.script.functions.iter().zip(&mut self.summaries) {
            if !function.is_entry() {
                continue;
            }
            let (argument, this) = match function.name.as_str() {
                "decide" => (Value::about(Subject::Parameter(0)), state),
                "init" => (Value::of(Kinds::INFO), this::INIT),
                _ => (Value::of(Kinds::EVENT), state),
            };
            summary.called = true;
            summary.parameters = vec![Some(argument)];
            summary.this = this;
            summary.facts = Some(Facts::default());
            summary.proposes = function.name == "decide";
        }
    }

    /// Walks all functions.
    pub(super) fn walk(&mut self) {
        self.report.quiet = true;
        let mut rounds = 0;
        loop {
            let (before, state) = (self.summaries.clone(), self.state.clone());
            for index in 0..self.script.functions.len() {
                if self.summaries.get(index).is_some_and(|summary| summary.called) {
                    self.function(index);
                }
            }
            rounds += 1;
            if before == self.summaries && state == self.state {
                break;
            }
            if rounds == MOST_ROUNDS {
                self.know_nothing();
                break;
            }
        }
        (self.report.quiet, self.settled) = (false, true);
        for index in 0..self.script.functions.len() {
            self.function(index);
        }
    }

    /// Every parameter and answer may be anything.
    fn know_nothing(&mut self) {
        self.state = None;
        for summary in &mut self.summaries {
            summary.called = false;
            summary.result = Some(Value::ANY);
        }
    }

    fn function(&mut self, index: usize) {
        let script = self.script;
        let (Some(function), Some(summary)) =
            (script.functions.get(index), self.summaries.get(index).cloned())
        else {
            return;
        };
        if function.opaque {
            return;
        }
        let value = |parameter: Option<Value>| match parameter {
            Some(value) if summary.called => value,
            // Nothing calls it: it is looked through all the same.
            _ => Value::ANY,
        };
        let values = summary.parameters.iter().cloned().map(value).enumerate();
        let subjects = values.map(|(number, value)| match value.kinds {
            Kinds::OBS => Value { subject: Some(Subject::Parameter(number)), ..value },
            _ => value,
        });
        let variables = function.parameters.iter().cloned().zip(subjects).collect();
        self.current = index;
        self.this = if summary.called { summary.this } else { this::OTHER };
        self.flow = Flow::new(variables, summary.facts.unwrap_or_default());
        self.answer = None;
        self.body(function);
        let answer = self.answer.take();
        if self.settled {
            return;
        }
        if function.is("init", 1) {
            self.state = answer.as_ref().and_then(|value| value.shape.clone());
        }
        if let Some(summary) = self.summaries.get_mut(index) {
            let before = summary.result.take();
            summary.result = match (before, answer) {
                (Some(before), Some(answer)) => Some(before.join(answer)),
                (before, answer) => before.or(answer),
            };
        }
    }

    /// Notes that the current function asks about `subject`.
    fn asked(&mut self, subject: &Subject, bits: u16) {
        self.flow.facts.test(subject, bits);
        if let Some(summary) = self.summaries.get_mut(self.current) {
            *summary.asked.entry(subject.clone()).or_default() |= bits;
        }
    }

    /// Functions that are never called, by way of the entry points and of anonymous functions.
    pub(super) fn unreached(&self) -> Vec<usize> {
        let functions = &self.script.functions;
        let entries = functions.iter().enumerate().filter(|(_, function)| function.is_entry());
        let mut reached: BTreeSet<usize> = entries.map(|(index, _)| index).collect();
        let mut todo: Vec<usize> = reached.iter().copied().collect();
        while let Some(caller) = todo.pop() {
            for callee in self.usage.calls_of(caller) {
                if reached.insert(callee) {
                    todo.push(callee);
                }
            }
        }
        (0..functions.len()).filter(|index| !reached.contains(index)).collect()
    }
}
