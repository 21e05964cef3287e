//! Calls of functions and methods.

use super::{Walker, this};
use crate::diag::did_you_mean;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::facts::{self, Facts, READING, Subject};
use crate::policy::script::lint::flow::Value;
use crate::policy::script::lint::types::{self, Kinds};
use crate::policy::script::words::{FUNCTIONS, Group, PROPERTIES};
use rhai::{FnCallExpr, Position};

/// A call of a function that is no function of the script.
struct Native<'a> {
    name: &'a str,
    at: Position,
    /// Written as `x.name(…)`: the first argument is x.
    method: bool,
    arguments: Vec<Value>,
    /// Where each argument stands, without the object of a method.
    places: Vec<Position>,
}

impl Walker<'_> {
    /// `name(…)`, or an operator.
    pub(super) fn call(&mut self, call: &FnCallExpr, at: Position) -> Value {
        if let Some(token) = &call.op_token {
            return self.operator(call, token, at);
        }
        let (arguments, places) = self.arguments(call);
        let name = call.name.as_str();
        if let Some(module) = call.namespace.path.first() {
            let message = format!("there is no function `{}::{name}`", module.as_str());
            self.report.add(Code::UnknownFunction, at, message, "modules hold values only");
            return Value::ANY;
        }
        match self.script.function(name, arguments.len()) {
            Some(index) => self.script_call(index, &arguments, this::UNBOUND),
            None => self.native(Native { name, at, method: false, arguments, places }),
        }
    }

    /// `object.name(…)`.
    pub(super) fn method(&mut self, object: Value, call: &FnCallExpr, at: Position) -> Value {
        self.method_with(object, this::OTHER, call, at)
    }

    /// The same, where the function's `this` is known.
    pub(super) fn method_with(
        &mut self,
        object: Value,
        this: u8,
        call: &FnCallExpr,
        at: Position,
    ) -> Value {
        let (mut arguments, places) = self.arguments(call);
        let name = call.name.as_str();
        if let Some(index) = self.script.function(name, arguments.len()) {
            return self.script_call(index, &arguments, this);
        }
        arguments.insert(0, object);
        self.native(Native { name, at, method: true, arguments, places })
    }

    fn arguments(&mut self, call: &FnCallExpr) -> (Vec<Value>, Vec<Position>) {
        let values = call.args.iter().map(|argument| self.expression(argument)).collect();
        (values, call.args.iter().map(|argument| argument.start_position()).collect())
    }

    fn script_call(&mut self, index: usize, arguments: &[Value], this: u8) -> Value {
        self.usage.call(self.current, index);
        let facts = self.facts_for(arguments);
        let settled = self.settled;
        let Some(summary) = self.summaries.get_mut(index) else { return Value::ANY };
        if !settled {
            summary.called = true;
            summary.this |= this;
            for (known, argument) in summary.parameters.iter_mut().zip(arguments) {
                let argument = Value { from: None, ..argument.clone() };
                *known = Some(match known.take() {
                    Some(before) => before.join(argument),
                    None => argument,
                });
            }
            match &mut summary.facts {
                Some(before) => before.join(&facts),
                none => *none = Some(facts),
            }
        }
        let (asked, called) = (summary.asked.clone(), summary.called);
        let result = summary.result.clone();
        for (subject, bits) in asked {
            let subject = match subject {
                Subject::Parameter(number) => {
                    arguments.get(number).and_then(|value| value.subject.clone())
                }
                domain => Some(domain),
            };
            if let Some(subject) = subject {
                self.asked(&subject, bits);
            }
        }
        if !called {
            return Value::ANY;
        }
        let result = result.unwrap_or(Value::of(Kinds::NONE));
        let subject = result.subject.filter(|subject| matches!(subject, Subject::Domain(_)));
        Value { subject, from: Some(index), ..result }
    }

    /// What a function knows about its parameters when it is called.
    fn facts_for(&self, arguments: &[Value]) -> Facts {
        let mut facts = self.flow.facts.domains();
        for (number, argument) in arguments.iter().enumerate() {
            if let Some(subject) = &argument.subject {
                facts.set(Subject::Parameter(number), self.flow.facts.of(subject));
            }
        }
        facts
    }

    fn native(&mut self, call: Native) -> Value {
        let kinds: Vec<Kinds> = call.arguments.iter().map(|value| value.kinds).collect();
        if !self.natives.has(call.name) {
            return self.not_native(&call);
        }
        if !self.natives.counts(call.name).contains(&kinds.len()) {
            self.wrong_count(&call);
        } else if !self.natives.fits(call.name, &kinds) {
            let said = |kinds: &Kinds| if kinds.is_definite() { kinds.said() } else { "?".into() };
            let taken: Vec<String> = kinds.iter().map(said).collect();
            let message = format!("no `{}` takes ({})", call.name, taken.join(", "));
            self.report.add(Code::WrongArgumentType, call.at, message, written(call.name));
        }
        self.vocabulary(&call);
        match types::function(call.name) {
            Some(word) if word.name == "of" => match call.arguments.get(1) {
                Some(Value { text: Some(name), .. }) => {
                    Value::about(Subject::Domain(name.to_string()))
                }
                _ => Value::of(Kinds::OBS),
            },
            Some(word) => Value::of(Kinds::of(word.gives)),
            None => Value::of(types::result(call.name, &kinds)),
        }
    }

    /// What the words of the vocabulary do besides giving a value.
    fn vocabulary(&mut self, call: &Native) {
        let Some(word) = types::function(call.name) else { return };
        match (word.group, call.arguments.as_slice()) {
            (Group::Memory, [slot, ..]) => {
                let at = call.places.first().copied().unwrap_or(call.at);
                match &slot.text {
                    Some(name) => self.usage.slot(name, word.name, at),
                    None if slot.kinds.meets(Kinds::TEXT) => self.report.add(
                        Code::SlotNotLiteral,
                        at,
                        format!("the slot of `{}` has no fixed name", word.name),
                        "write it as a text: ewma(\"peak\", x, 50)",
                    ),
                    None => {}
                }
            }
            // A refined answer is the answer.
            (Group::Refinement, [proposal, ..]) => self.must_propose_if_answer(proposal),
            (Group::Asking, [object, rest @ ..]) => self.asking(word.name, object, rest, call),
            _ => {}
        }
    }

    fn must_propose_if_answer(&mut self, proposal: &Value) {
        let here = self.summaries.get(self.current).is_some_and(|summary| summary.proposes);
        if here {
            self.must_propose(proposal);
        }
    }

    fn asking(&mut self, name: &str, object: &Value, rest: &[Value], call: &Native) {
        match (name, rest) {
            ("quiet_kBps", _) => {
                self.usage.demand = true;
                self.usage.slot("quiet_kBps", "obs.quiet_kBps", call.at);
                if let Some(subject) = &object.subject {
                    self.asked(subject, READING);
                }
            }
            ("has", [Value { text: Some(name), .. }]) => {
                let of = object.kinds;
                let known = of.meets(Kinds::OBS) && types::reading(name).is_some()
                    || of.meets(Kinds::EVENT) && self.natives.has_property(name, Kinds::EVENT);
                if !known && of.meets(Kinds::OBS.or(Kinds::EVENT)) {
                    self.unknown_reading(name, of, call);
                }
                if let Some(subject) = &object.subject {
                    self.asked(subject, facts::needs(name));
                }
            }
            ("has", _) => {
                // Which reading it asks for is not told: it may be any.
                if let Some(subject) = &object.subject {
                    self.asked(subject, u16::MAX);
                }
            }
            _ => {}
        }
    }

    fn unknown_reading(&mut self, name: &str, of: Kinds, call: &Native) {
        let at = call.places.first().copied().unwrap_or(call.at);
        let (what, near) = if of == Kinds::EVENT {
            ("an event has no", did_you_mean(name, types::EVENT.iter().map(|(name, _)| *name)))
        } else {
            ("there is no reading", did_you_mean(name, PROPERTIES.iter().map(|word| word.name)))
        };
        let help = match near {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if of == Kinds::EVENT => "docs/reload.md lists what events have".to_owned(),
            None => "for a domain ask obs.has_domain(\"…\")".to_owned(),
        };
        self.report.add(Code::UnknownReading, at, format!("{what} \"{name}\""), help);
    }

    fn not_native(&mut self, call: &Native) -> Value {
        let name = call.name;
        if self.script.has_function(name) {
            self.wrong_count(call);
            return Value::ANY;
        }
        let on_map = call.arguments.first().is_some_and(|object| object.kinds.meets(Kinds::MAP));
        if call.method && on_map && self.usage.is_key(name) {
            // A function in a map.
            return Value::ANY;
        }
        let what = if call.method { "method" } else { "function" };
        let message = format!("there is no {what} `{name}`");
        let help = if types::reading(name).is_some() {
            format!("it is a reading: obs.{name}")
        } else {
            let own = self.script.functions.iter().filter(|f| !f.is_anonymous());
            let own = own.map(|function| function.name.as_str());
            let words = FUNCTIONS.iter().map(|word| word.name);
            match did_you_mean(name, words.chain(own))
                .or_else(|| did_you_mean(name, self.natives.names()))
            {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`bwmon policy docs` lists the functions".to_owned(),
            }
        };
        self.report.add(Code::UnknownFunction, call.at, message, help);
        Value::ANY
    }

    fn wrong_count(&mut self, call: &Native) {
        let object = usize::from(call.method);
        let mut counts: Vec<usize> = self.natives.counts(call.name).into_iter().collect();
        counts.iter_mut().for_each(|count| *count = count.saturating_sub(object));
        let own = self.script.functions.iter().filter(|function| function.name == call.name);
        counts.extend(own.map(|function| function.parameters.len()));
        counts.sort_unstable();
        counts.dedup();
        let takes: Vec<String> = counts.iter().map(usize::to_string).collect();
        let given = call.arguments.len() - object;
        let message =
            format!("`{}` takes {} argument(s), not {given}", call.name, takes.join(" or "));
        self.report.add(Code::WrongArgumentCount, call.at, message, written(call.name));
    }
}

/// How a word of the vocabulary is written.
fn written(name: &str) -> String {
    types::function(name).map_or(String::new(), |word| format!("written {}", word.form))
}
