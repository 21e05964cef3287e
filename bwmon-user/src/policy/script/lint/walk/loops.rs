//! Loops.

use super::{Loop, Use, Walker};
use crate::policy::script::lint::flow::{Flow, Value};
use crate::policy::script::lint::types::Kinds;
use rhai::{ASTNode, Expr, FlowControl, Ident, ImmutableString, Stmt};

impl Walker<'_> {
    /// `while c { … }` and `loop { … }`.
    pub(super) fn while_loop(&mut self, parts: &FlowControl) -> Value {
        self.enter_loop(parts);
        let endless = matches!(parts.expr, Expr::Unit(..) | Expr::BoolConstant(true, ..));
        let after = if endless {
            self.flow.nowhere()
        } else {
            let (yes, no) = self.condition(&parts.expr);
            self.flow = yes;
            no
        };
        self.block(parts.body.statements(), parts.body.end_position(), Use::Dropped);
        self.end_loop(after)
    }

    /// `do { … } while c`.
    pub(super) fn do_loop(&mut self, parts: &FlowControl) -> Value {
        self.enter_loop(parts);
        let head = self.flow.clone();
        self.block(parts.body.statements(), parts.body.end_position(), Use::Dropped);
        if !self.flow.reachable {
            // A `continue` still comes to the condition.
            self.flow = head;
        }
        let (yes, no) = self.condition(&parts.expr);
        self.end_loop(yes.join(no))
    }

    /// `for x in … { … }`.
    pub(super) fn for_loop(&mut self, parts: &(Ident, Option<Ident>, FlowControl)) -> Value {
        let (item, counter, parts) = parts;
        let items = self.expression(&parts.expr);
        self.enter_loop(parts);
        let none = self.flow.clone();
        let outside = self.flow.variables.len();
        if let Some(counter) = counter {
            self.flow.variables.push((counter.name.clone(), Value::of(Kinds::INT)));
        }
        let kinds = match items.kinds {
            Kinds::RANGE => Kinds::INT,
            Kinds::TEXT => Kinds::CHAR,
            _ => Kinds::ANY,
        };
        self.flow.variables.push((item.name.clone(), Value::of(kinds)));
        self.block(parts.body.statements(), parts.body.end_position(), Use::Dropped);
        self.flow.variables.truncate(outside);
        let end = self.flow.clone();
        self.end_loop(none.join(end))
    }

    fn enter_loop(&mut self, parts: &FlowControl) {
        self.flow.forget(&assigned(parts.body.statements()));
        let variables = self.flow.variables.len();
        self.loops.push(Loop { variables, breaks: Vec::new() });
    }

    /// What is known after a loop that ends by itself with `after`, or by its breaks.
    fn end_loop(&mut self, after: Flow) -> Value {
        let breaks = self.loops.pop().map(|ended| ended.breaks).unwrap_or_default();
        let by_itself = if after.reachable { Kinds::UNIT } else { Kinds::NONE };
        let mut value = Value::of(by_itself);
        self.flow = after;
        for (flow, given) in breaks {
            value = value.join(given);
            let before = self.flow.clone();
            self.flow = before.join(flow);
        }
        value
    }

    /// `break` and `continue`.
    pub(super) fn leave_loop(&mut self, value: Option<&Expr>, breaks: bool) -> Value {
        let value = match value {
            Some(value) => self.expression(value),
            None => Value::UNIT,
        };
        let mut flow = self.flow.clone();
        if let Some(inner) = self.loops.last_mut().filter(|_| breaks) {
            flow.variables.truncate(inner.variables);
            inner.breaks.push((flow, value));
        }
        self.flow.reachable = false;
        Value::of(Kinds::NONE)
    }
}

/// Names of the variables that these statements set, wherever in them.
pub(super) fn assigned(statements: &[Stmt]) -> Vec<ImmutableString> {
    let mut names = Vec::new();
    for statement in statements {
        statement.walk(&mut Vec::new(), &mut |path| {
            if let Some(ASTNode::Stmt(Stmt::Assignment(parts))) = path.last()
                && let Expr::Variable(variable, ..) = root(&parts.1.lhs)
            {
                names.push(variable.1.clone());
            }
            true
        });
    }
    names
}

/// What a chain of properties and indices begins with.
pub(super) fn root(expression: &Expr) -> &Expr {
    match expression {
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => root(&parts.lhs),
        other => other,
    }
}
