//! Expressions.

use super::{Use, Walker, this};
use crate::diag::did_you_mean;
use crate::policy::script::Value as Setting;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::flow::{Shape, Value};
use crate::policy::script::lint::types::Kinds;
use rhai::{Dynamic, Expr, FnPtr, ImmutableString, Position};
use std::rc::Rc;

impl Walker<'_> {
    /// What `expression` may be.
    pub(super) fn expression(&mut self, expression: &Expr) -> Value {
        match expression {
            Expr::BoolConstant(..) => Value::of(Kinds::BOOL),
            Expr::IntegerConstant(..) => Value::of(Kinds::INT),
            Expr::FloatConstant(..) => Value::of(Kinds::FLOAT),
            Expr::CharConstant(..) => Value::of(Kinds::CHAR),
            Expr::Unit(..) => Value::UNIT,
            Expr::StringConstant(text, _) => {
                Value { text: Some(text.clone()), ..Value::of(Kinds::TEXT) }
            }
            Expr::DynamicConstant(value, _) => self.constant(value),
            Expr::InterpolatedString(parts, _) => {
                for part in parts {
                    self.expression(part);
                }
                Value::of(Kinds::TEXT)
            }
            Expr::Array(items, _) => {
                for item in items {
                    self.expression(item);
                }
                Value::of(Kinds::ARRAY)
            }
            Expr::Map(entries, _) => {
                let mut shape: Shape = Vec::new();
                for (name, value) in &entries.0 {
                    let kinds = self.expression(value).kinds;
                    self.usage.key_made(&name.name);
                    shape.push((name.name.clone(), name.pos, kinds));
                }
                Value { shape: Some(Rc::new(shape)), ..Value::of(Kinds::MAP) }
            }
            Expr::Variable(parts, _, at) => match parts.2.path.first() {
                Some(module) => self.named(module.as_str(), &parts.1, *at),
                None => self.variable(&parts.1),
            },
            Expr::ThisPtr(at) => self.whole_this(*at),
            Expr::Stmt(block) => self.block(block.statements(), block.end_position(), Use::Taken),
            Expr::FnCall(call, at) => self.call(call, *at),
            Expr::Dot(..) | Expr::Index(..) => self.chain(expression),
            Expr::And(..) | Expr::Or(..) => {
                let (yes, no) = self.condition(expression);
                self.flow = yes.join(no);
                Value::of(Kinds::BOOL)
            }
            Expr::Coalesce(parts, _) => {
                let mut all = Value::of(Kinds::NONE);
                for part in parts.iter() {
                    all.kinds = all.kinds.without(Kinds::UNIT);
                    let value = self.expression(part);
                    all = all.join(value);
                }
                all
            }
            _ => Value::ANY,
        }
    }

    fn constant(&mut self, value: &Dynamic) -> Value {
        if let Some(function) = value.read_lock::<FnPtr>() {
            // An anonymous function: it is called from somewhere, with something.
            let name = function.fn_name();
            let index = self.script.functions.iter().position(|f| f.name == name);
            self.referred(index);
            return Value::of(Kinds::CALLABLE);
        }
        Value::of(if value.is_array() {
            Kinds::ARRAY
        } else if value.is_map() {
            Kinds::MAP
        } else {
            Kinds::ANY
        })
    }

    /// A function that is handed on: who calls it, and with what, is not told.
    fn referred(&mut self, index: Option<usize>) {
        let Some(index) = index else { return };
        self.usage.call(self.current, index);
        if self.settled {
            return;
        }
        if let Some(summary) = self.summaries.get_mut(index) {
            summary.called = true;
            summary.this |= this::OTHER;
            for parameter in &mut summary.parameters {
                *parameter = Some(Value::ANY);
            }
        }
    }

    fn variable(&mut self, name: &ImmutableString) -> Value {
        if let Some(value) = self.flow.variable(name) {
            return value.clone();
        }
        // The parser knows all variables: this is the name of a function.
        let functions = self.script.functions.iter().enumerate();
        let named: Vec<usize> =
            functions.filter(|(_, f)| f.name == *name).map(|(index, _)| index).collect();
        let kinds = if named.is_empty() { Kinds::ANY } else { Kinds::CALLABLE };
        for index in named {
            self.referred(Some(index));
        }
        Value::of(kinds)
    }

    /// `cfg::name` and `global::NAME`.
    fn named(&mut self, module: &str, name: &ImmutableString, at: Position) -> Value {
        match module {
            "cfg" => self.tunable(name, at),
            "global" => self.global(name, at),
            _ => Value::ANY,
        }
    }

    fn tunable(&mut self, name: &ImmutableString, at: Position) -> Value {
        self.usage.tunable(name);
        let tunables = &self.script.tunables;
        if let Some(tunable) = tunables.iter().find(|tunable| tunable.name == name.as_str()) {
            return Value::of(match tunable.default {
                Setting::Int(_) => Kinds::INT,
                Setting::Float(_) => Kinds::FLOAT,
                Setting::Bool(_) => Kinds::BOOL,
                Setting::List(_) => Kinds::ARRAY,
            });
        }
        let near = did_you_mean(name, tunables.iter().map(|tunable| tunable.name.as_str()));
        let help = match near {
            Some(near) => format!("did you mean `cfg::{near}`?"),
            None => format!("declare it in the head: // @param {name} = 1 (0..10) what it does"),
        };
        let message = format!("there is no tunable `{name}`");
        self.report.add(Code::UnknownTunable, at, message, help);
        Value::ANY
    }

    fn global(&mut self, name: &ImmutableString, at: Position) -> Value {
        if let Some(value) = self.constants.get(name) {
            return value.clone();
        }
        let near = did_you_mean(name, self.constants.keys().map(ImmutableString::as_str));
        let help = match near {
            Some(near) => format!("did you mean `global::{near}`?"),
            None => format!("write outside of the functions: const {name} = …;"),
        };
        let message = format!("there is no constant `{name}`");
        self.report.add(Code::UnknownConstant, at, message, help);
        Value::ANY
    }
}
