//! `this`: the state, its keys, and where there is none.

use super::{Walker, this};
use crate::diag::did_you_mean;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::flow::Value;
use crate::policy::script::lint::types::Kinds;
use rhai::{FnCallExpr, ImmutableString, Position, Token};

impl Walker<'_> {
    /// `this.name`; `read` unless it is only set.
    pub(super) fn state_key(
        &mut self,
        this: Position,
        name: &ImmutableString,
        at: Position,
        read: bool,
    ) -> Value {
        if read {
            self.usage.key_read(name);
        }
        if !self.has_state(this) || self.this != this::STATE {
            return Value::ANY;
        }
        let Some(shape) = self.state.clone() else { return Value::ANY };
        if let Some((.., kinds)) = shape.iter().find(|(known, ..)| known == name) {
            return Value::of(*kinds);
        }
        let help = match did_you_mean(name, shape.iter().map(|(known, ..)| known.as_str())) {
            Some(near) => format!("did you mean `this.{near}`?"),
            None => "the keys of the state are those of the map that init returns".to_owned(),
        };
        let message = format!("`this.{name}` is no key of the state");
        self.report.add(Code::UnknownStateKey, at, message, help);
        Value::ANY
    }

    /// `this` as a whole: what is done with it is not followed.
    pub(super) fn whole_this(&mut self, at: Position) -> Value {
        self.usage.state_escapes = true;
        self.has_state(at);
        Value::of(if self.this == this::STATE { Kinds::MAP } else { Kinds::ANY })
    }

    /// `this.name(…)`.
    pub(super) fn method_of_this(
        &mut self,
        at: Position,
        call: &FnCallExpr,
        name_at: Position,
    ) -> Value {
        if self.script.function(&call.name, call.args.len()).is_some() {
            // The function called looks for itself whether there is a state.
            return self.method_with(Value::ANY, self.this, call, name_at);
        }
        let value = self.whole_this(at);
        self.method_with(value, self.this, call, name_at)
    }

    /// Reports `this` where no state is, whatever the way here.
    fn has_state(&mut self, at: Position) -> bool {
        if self.this & (this::STATE | this::OTHER) != 0 || self.this == 0 {
            return true;
        }
        let name = self.script.functions.get(self.current).map_or("", |f| f.name.as_str());
        let (message, help) = if self.this & this::UNBOUND != 0 {
            (
                format!("`this` is not the state here: {name}() is called without it"),
                format!("call it as this.{name}(…)"),
            )
        } else if self.this & this::INIT != 0 {
            (
                "there is no state yet in init".to_owned(),
                "return it as a map: #{ count: 0 }".to_owned(),
            )
        } else {
            (
                "there is no state: the policy has no init(info)".to_owned(),
                "write: fn init(info) { #{ count: 0 } }".to_owned(),
            )
        };
        self.report.add(Code::NoState, at, message, help);
        false
    }

    /// `this.name = value`, or with the operator of an assignment.
    pub(super) fn set_key(
        &mut self,
        this: Position,
        (name, at): (&ImmutableString, Position),
        value: &Value,
        operator: Option<(&Token, Position)>,
    ) {
        let key = self.state_key(this, name, at, false);
        let kinds = match operator {
            Some((token, at)) => self.arithmetic(token, key.kinds, value.kinds, at),
            None => value.kinds,
        };
        if key.kinds.is_definite() && kinds.is_definite() && !kinds.meets(key.kinds) {
            let help = if key.kinds == Kinds::INT && kinds == Kinds::FLOAT {
                "write (…).to_int(), or start with 0.0 in init"
            } else {
                "the types of the state are those that init returns"
            };
            let message =
                format!("`this.{name}` is {}, and becomes {}", key.kinds.said(), kinds.said());
            self.report.add(Code::StateType, at, message, help);
        }
    }
}
