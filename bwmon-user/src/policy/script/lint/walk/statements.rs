//! Blocks and statements.

use super::{Use, Walker};
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::flow::{Flow, Value};
use crate::policy::script::lint::model::Function;
use crate::policy::script::lint::types::Kinds;
use crate::policy::script::lint::walk::proposals::Ending;
use rhai::{ASTFlags, Expr, FlowControl, Position, Stmt, SwitchCasesCollection};

impl Walker<'_> {
    /// The body of `function`; what it ends in is its answer.
    pub(super) fn body(&mut self, function: &Function) {
        self.block(&function.body, function.end, Use::Answer);
    }

    /// Statements in a scope of their own, up to the brace at `end`.
    pub(super) fn block(&mut self, statements: &[Stmt], end: Position, to: Use) -> Value {
        let outside = self.flow.variables.len();
        let value = self.statements(statements, end, to);
        self.flow.variables.truncate(outside);
        value
    }

    fn statements(&mut self, statements: &[Stmt], end: Position, to: Use) -> Value {
        let Some((last, before)) = statements.split_last() else {
            return self.falls_off(to, Value::UNIT, end, Ending::Empty);
        };
        for statement in before {
            if self.is_dead(statement) {
                return Value::of(Kinds::NONE);
            }
            self.statement(statement, Use::Dropped);
        }
        if self.is_dead(last) {
            return Value::of(Kinds::NONE);
        }
        self.statement(last, to)
    }

    /// Reports a statement that never runs. The rest of its block is not looked at.
    fn is_dead(&mut self, statement: &Stmt) -> bool {
        if !self.flow.reachable {
            self.report.add(
                Code::UnreachableCode,
                statement.position(),
                "this never runs: every path before it has ended",
                "remove it, or put what ends the path into an `if`",
            );
        }
        !self.flow.reachable
    }

    /// A value that is no explicit answer: if it is the function's all the same, it is noted.
    fn falls_off(&mut self, to: Use, value: Value, at: Position, how: Ending) -> Value {
        if to == Use::Answer {
            self.answers(value.clone(), at, how);
        }
        value
    }

    fn statement(&mut self, statement: &Stmt, to: Use) -> Value {
        match statement {
            Stmt::Expr(expression) => self.answer_or_value(expression, to),
            Stmt::FnCall(call, at) => {
                let value = self.call(call, *at);
                self.falls_off(to, value, *at, Ending::Value)
            }
            Stmt::Block(block) => self.block(block.statements(), block.end_position(), to),
            Stmt::If(parts, at) => self.choice(parts, *at, to),
            Stmt::Switch(parts, at) => self.switch(&parts.0, &parts.1, *at, to),
            Stmt::While(parts, at) => {
                let value = self.while_loop(parts);
                self.falls_off(to, value, *at, Ending::Loop)
            }
            Stmt::Do(parts, _, at) => {
                let value = self.do_loop(parts);
                self.falls_off(to, value, *at, Ending::Loop)
            }
            Stmt::For(parts, at) => {
                let value = self.for_loop(parts);
                self.falls_off(to, value, *at, Ending::Loop)
            }
            Stmt::Var(parts, _, at) => {
                let value = self.expression(&parts.1);
                self.flow.variables.push((parts.0.name.clone(), value));
                self.falls_off(to, Value::UNIT, *at, Ending::Empty)
            }
            Stmt::Assignment(parts) => {
                self.assignment(&parts.0, &parts.1);
                self.falls_off(to, Value::UNIT, parts.1.lhs.start_position(), Ending::Empty)
            }
            Stmt::BreakLoop(value, flags, _) => {
                self.leave_loop(value.as_deref(), flags.contains(ASTFlags::BREAK))
            }
            Stmt::Return(value, flags, at) => {
                self.leave_function(value.as_deref(), flags.contains(ASTFlags::BREAK), *at)
            }
            Stmt::TryCatch(parts, _) => self.try_catch(parts, to),
            // `import` and `export` are off; an empty statement does nothing.
            other => self.falls_off(to, Value::UNIT, other.position(), Ending::Empty),
        }
    }

    /// An expression; blocks in it answer for themselves.
    pub(super) fn answer_or_value(&mut self, expression: &Expr, to: Use) -> Value {
        if let Expr::Stmt(block) = expression {
            return self.block(block.statements(), block.end_position(), to);
        }
        let value = self.expression(expression);
        match to {
            Use::Dropped => self.dropped(&value, expression),
            Use::Answer => self.answers(value.clone(), expression.start_position(), Ending::Value),
            Use::Taken => {}
        }
        value
    }

    fn choice(&mut self, parts: &FlowControl, at: Position, to: Use) -> Value {
        let (yes, no) = self.condition(&parts.expr);
        self.flow = yes;
        let body = self.block(parts.body.statements(), parts.body.end_position(), to);
        let after_yes = std::mem::replace(&mut self.flow, no);
        let branch = if parts.branch.is_empty() {
            self.falls_off(to, Value::UNIT, at, Ending::NoElse)
        } else {
            self.block(parts.branch.statements(), parts.branch.end_position(), to)
        };
        let after_no = self.flow.clone();
        let (yes, no) = (after_yes.reachable, after_no.reachable);
        self.flow = after_yes.join(after_no);
        reached(yes, body).join(reached(no, branch))
    }

    fn switch(&mut self, on: &Expr, cases: &SwitchCasesCollection, at: Position, to: Use) -> Value {
        let value = self.expression(on);
        let start = self.flow.clone();
        let mut after: Option<Flow> = None;
        let mut all = Value::of(Kinds::NONE);
        for case in &cases.expressions {
            self.flow = start.clone();
            let (yes, _) = self.condition(&case.lhs);
            self.flow = yes;
            let value = self.answer_or_value(&case.rhs, to);
            all = all.join(reached(self.flow.reachable, value));
            let end = self.flow.clone();
            after = Some(match after {
                Some(before) => before.join(end),
                None => end,
            });
        }
        // `true` and `false` are all that there is of them.
        let exhausted = cases.def_case.is_some()
            || (value.kinds == Kinds::BOOL && cases.expressions.len() == 2);
        self.flow = start;
        if !exhausted {
            all = all.join(self.falls_off(to, Value::UNIT, at, Ending::NoDefault));
            after = Some(match after {
                Some(before) => before.join(self.flow.clone()),
                None => self.flow.clone(),
            });
        }
        if let Some(after) = after {
            self.flow = after;
        }
        all
    }

    fn leave_function(&mut self, value: Option<&Expr>, throws: bool, at: Position) -> Value {
        match value {
            Some(value) if throws => {
                self.expression(value);
            }
            Some(value) => {
                self.answer_or_value(value, Use::Answer);
            }
            None if throws => {}
            None => self.answers(Value::UNIT, at, Ending::Empty),
        }
        self.flow.reachable = false;
        Value::of(Kinds::NONE)
    }

    fn try_catch(&mut self, parts: &FlowControl, to: Use) -> Value {
        let mut caught = self.flow.clone();
        self.trying += 1;
        let value = self.block(parts.body.statements(), parts.body.end_position(), to);
        self.trying -= 1;
        let after = self.flow.clone();
        // The error may come before or after anything that the body does.
        caught.forget(&super::loops::assigned(parts.body.statements()));
        caught.facts.join(&after.facts);
        self.flow = caught;
        let outside = self.flow.variables.len();
        if let Expr::Variable(variable, ..) = &parts.expr {
            self.flow.variables.push((variable.1.clone(), Value::ANY));
        }
        // What the handler ends in is lost; only a `return` in it answers.
        self.block(parts.branch.statements(), parts.branch.end_position(), Use::Dropped);
        self.flow.variables.truncate(outside);
        if self.flow.reachable {
            self.falls_off(to, Value::UNIT, parts.branch.position(), Ending::Caught);
        }
        let handled = self.flow.reachable;
        let end = self.flow.clone();
        self.flow = after.join(end);
        value.join(reached(handled, Value::UNIT))
    }
}

/// A value of a path that may not come here.
fn reached(reachable: bool, value: Value) -> Value {
    if reachable { value } else { Value::of(Kinds::NONE) }
}
