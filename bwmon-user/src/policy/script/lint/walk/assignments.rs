//! Assignments.

use super::Walker;
use crate::policy::script::lint::flow::Value;
use rhai::{BinaryExpr, Expr, OpAssignment, Position, Token};

impl Walker<'_> {
    /// `left = right`, `left += right`.
    pub(super) fn assignment(&mut self, how: &OpAssignment, sides: &BinaryExpr) {
        let value = self.expression(&sides.rhs);
        let operator = how.get_op_assignment_info().map(|(.., token, _)| (token, how.position()));
        match &sides.lhs {
            Expr::Variable(variable, ..) if variable.2.is_empty() => {
                self.set_variable(&variable.1, value, operator);
            }
            Expr::ThisPtr(at) => {
                self.whole_this(*at);
            }
            Expr::Dot(parts, ..) => match (&parts.lhs, &parts.rhs) {
                (Expr::ThisPtr(this), Expr::Property(key, at)) => {
                    self.set_key(*this, (&key.2, *at), &value, operator);
                }
                _ => {
                    self.follow(&sides.lhs, true);
                }
            },
            other => {
                self.follow(other, true);
            }
        }
    }

    fn set_variable(&mut self, name: &str, value: Value, operator: Option<(&Token, Position)>) {
        let before = self.flow.variable(name).map(|value| value.kinds);
        let value = match (operator, before) {
            (Some((token, at)), Some(before)) => {
                Value::of(self.arithmetic(token, before, value.kinds, at))
            }
            (Some(_), None) => Value::ANY,
            (None, _) => value,
        };
        if let Some(variable) = self.flow.variable_mut(name) {
            *variable = value;
        }
    }
}
