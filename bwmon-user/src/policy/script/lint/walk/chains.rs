//! Chains of properties, methods and indices: `obs.of("ddr").peak_kBps`, `this.peaks[0]`.

use super::Walker;
use super::loops::root;
use crate::diag::did_you_mean;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::facts::{self, READING, Standing, Subject};
use crate::policy::script::lint::flow::Value;
use crate::policy::script::lint::types::{self, Kinds};
use crate::policy::script::words::{Group, PROPERTIES};
use rhai::{ASTFlags, Expr, Position};

/// Readings by which a policy sees the demand.
const DEMAND: [&str; 7] =
    ["peak_kBps", "mean_kBps", "trend_kBps", "util_pct", "above", "below", "saturated"];

impl Walker<'_> {
    /// The value of a chain.
    pub(super) fn chain(&mut self, expression: &Expr) -> Value {
        self.follow(expression, false)
    }

    /// Follows a chain; where its last link is `written` it is not read.
    pub(super) fn follow(&mut self, expression: &Expr, written: bool) -> Value {
        let (parts, flags, dot) = match expression {
            Expr::Dot(parts, flags, _) => (parts, flags, true),
            Expr::Index(parts, flags, _) => (parts, flags, false),
            other => return self.expression(other),
        };
        // What is done to a map in a variable may change its keys.
        if let Expr::Variable(variable, ..) = root(&parts.lhs)
            && (written || has_method(&parts.rhs))
            && let Some(value) = self.flow.variable_mut(&variable.1)
        {
            value.shape = None;
        }
        let ends = flags.contains(ASTFlags::BREAK);
        match &parts.lhs {
            Expr::ThisPtr(at) if dot => self.follow_this(*at, &parts.rhs, written),
            base => {
                let base = self.expression(base);
                self.links(base, &parts.rhs, dot, ends, written)
            }
        }
    }

    fn links(&mut self, base: Value, rest: &Expr, dot: bool, ends: bool, written: bool) -> Value {
        match rest {
            Expr::Dot(parts, flags, _) if !ends => {
                let next = self.link(base, &parts.lhs, dot, false);
                self.links(next, &parts.rhs, true, flags.contains(ASTFlags::BREAK), written)
            }
            Expr::Index(parts, flags, _) if !ends => {
                let next = self.link(base, &parts.lhs, dot, false);
                self.links(next, &parts.rhs, false, flags.contains(ASTFlags::BREAK), written)
            }
            last => self.link(base, last, dot, written),
        }
    }

    fn link(&mut self, base: Value, link: &Expr, dot: bool, written: bool) -> Value {
        match link {
            Expr::Property(parts, at) if dot => self.property(&base, &parts.2, *at, written),
            Expr::MethodCall(call, at) if dot => self.method(base, call, *at),
            index => {
                self.expression(index);
                Value::of(match base.kinds {
                    Kinds::TEXT => Kinds::CHAR,
                    Kinds::INT => Kinds::BOOL,
                    _ => Kinds::ANY,
                })
            }
        }
    }

    /// `this.…`: the first link is a key of the state, or a method that gets the state.
    fn follow_this(&mut self, this: Position, rest: &Expr, written: bool) -> Value {
        let (first, rest) = match rest {
            Expr::Dot(parts, flags, _) => (&parts.lhs, Some((&parts.rhs, flags, true))),
            Expr::Index(parts, flags, _) => (&parts.lhs, Some((&parts.rhs, flags, false))),
            only => (only, None),
        };
        let value = match first {
            Expr::Property(parts, at) => self.state_key(this, &parts.2, *at, !written),
            Expr::MethodCall(call, at) => self.method_of_this(this, call, *at),
            other => self.expression(other),
        };
        match rest {
            Some((rest, flags, dot)) => {
                self.links(value, rest, dot, flags.contains(ASTFlags::BREAK), written)
            }
            None => value,
        }
    }

    fn property(&mut self, base: &Value, name: &str, at: Position, written: bool) -> Value {
        let kinds = base.kinds;
        if written {
            if kinds.is_only(Kinds::OBS.or(Kinds::INFO).or(Kinds::EVENT)) {
                let message = format!("`{name}` cannot be set: {} is read-only", kinds.said());
                self.report.add(
                    Code::ReadOnly,
                    at,
                    message,
                    "keep values of your own in the state",
                );
            }
            return Value::ANY;
        }
        if !kinds.is_definite() || kinds.meets(Kinds::MAP) {
            return Value::ANY;
        }
        if !self.natives.has_property(name, kinds) {
            let message = format!("{} has no property `{name}`", kinds.said());
            self.report.add(Code::UnknownProperty, at, message, unknown_property(name, kinds));
            return Value::ANY;
        }
        if kinds == Kinds::OBS {
            return self.reading(base.subject.as_ref(), name, at);
        }
        if kinds == Kinds::INFO || kinds == Kinds::EVENT {
            return Value::of(types::own_property(name, kinds));
        }
        Value::of(types::result(name, &[kinds]))
    }

    fn reading(&mut self, subject: Option<&Subject>, name: &str, at: Position) -> Value {
        self.usage.demand |= DEMAND.contains(&name);
        if let Some(subject) = subject {
            if matches!(name, "valid" | "above" | "below" | "interrupt") {
                self.asked(subject, READING);
            }
            self.guarded(subject, name, at);
        }
        types::reading(name).map_or(Value::ANY, |word| Value::of(Kinds::of(word.gives)))
    }

    fn guarded(&mut self, subject: &Subject, name: &str, at: Position) {
        let needs = facts::needs(name);
        if needs == 0 || self.trying > 0 {
            return;
        }
        let message = match self.flow.facts.standing(subject, needs) {
            Standing::Unasked => format!("`{name}` may be unknown here, and nothing asked for it"),
            Standing::Absent => {
                format!("`{name}` is unknown here: it was asked for, and is missing")
            }
            Standing::Asked | Standing::Known => String::new(),
        };
        if !message.is_empty() {
            let help = if needs == READING {
                "ask first: if !obs.valid { return hold(); }".to_owned()
            } else {
                format!("ask first: obs.has(\"{name}\")")
            };
            self.report.add(Code::UnguardedReading, at, message, help);
        }
        // From here on it was known, or there is no from here on.
        self.flow.facts.know(subject, needs);
    }
}

fn unknown_property(name: &str, kinds: Kinds) -> String {
    if kinds == Kinds::OBS {
        if let Some(word) = types::function(name).filter(|word| word.group == Group::Asking) {
            return format!("it is a method: {}", word.form);
        }
        return match did_you_mean(name, PROPERTIES.iter().map(|word| word.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`bwmon policy docs` lists the readings".to_owned(),
        };
    }
    let (object, table) = match kinds {
        Kinds::INFO => ("info", types::INFO),
        Kinds::EVENT => ("ev", types::EVENT),
        _ => return String::new(),
    };
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    match did_you_mean(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{object} has {}", names.join(", ")),
    }
}

/// Whether a method is called somewhere along the chain.
fn has_method(rest: &Expr) -> bool {
    match rest {
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => {
            has_method(&parts.lhs) || has_method(&parts.rhs)
        }
        other => matches!(other, Expr::MethodCall(..)),
    }
}
