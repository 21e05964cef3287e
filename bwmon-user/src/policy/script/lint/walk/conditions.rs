//! Conditions: what is known where they hold, and where they do not.

use super::Walker;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::facts::{self, Facts, LOWER, READING, Subject};
use crate::policy::script::lint::flow::{Flow, Value};
use crate::policy::script::lint::types::Kinds;
use rhai::{Expr, Position, Token};

impl Walker<'_> {
    /// What is known where `expression` is true, and where it is false.
    pub(super) fn condition(&mut self, expression: &Expr) -> (Flow, Flow) {
        match expression {
            Expr::And(parts, _) => {
                let no = self.parts(parts, false);
                (self.flow.clone(), no)
            }
            Expr::Or(parts, _) => {
                let yes = self.parts(parts, true);
                (yes, self.flow.clone())
            }
            Expr::FnCall(call, _) if call.op_token == Some(Token::Bang) => {
                match call.args.as_slice() {
                    [inner] => {
                        let (yes, no) = self.condition(inner);
                        (no, yes)
                    }
                    _ => (self.flow.clone(), self.flow.clone()),
                }
            }
            _ => {
                let value = self.expression(expression);
                self.must_be_condition(&value, expression.start_position());
                let (mut yes, mut no) = (self.flow.clone(), self.flow.clone());
                self.learn(expression, &mut yes.facts, &mut no.facts);
                (yes, no)
            }
        }
    }

    /// Parts that are looked at one after the other until one is `ends`. What is known after all of
    /// them is left in `self.flow`; the answer is what is known where one ended it.
    fn parts(&mut self, parts: &[Expr], ends: bool) -> Flow {
        let mut ended = self.flow.nowhere();
        for part in parts {
            let (yes, no) = self.condition(part);
            let (ending, next) = if ends { (yes, no) } else { (no, yes) };
            ended = ended.join(ending);
            self.flow = next;
        }
        ended
    }

    fn must_be_condition(&mut self, value: &Value, at: Position) {
        if value.kinds.is_definite() && !value.kinds.meets(Kinds::BOOL) {
            self.report.add(
                Code::NotACondition,
                at,
                format!("a condition is true or false, this is {}", value.kinds.said()),
                "compare it with something",
            );
        }
    }

    fn learn(&self, expression: &Expr, yes: &mut Facts, no: &mut Facts) {
        if let Expr::FnCall(call, _) = expression
            && let (Some(token), [left, right]) = (&call.op_token, call.args.as_slice())
        {
            match (self.level_of(left), right, self.level_of(right), left) {
                (Some(subject), Expr::IntegerConstant(n, _), ..) => {
                    learn_level(&subject, token, *n, yes, no);
                }
                (.., Some(subject), Expr::IntegerConstant(n, _)) => {
                    learn_level(&subject, &mirrored(token), *n, yes, no);
                }
                _ => {}
            }
        }
        let Some((subject, link)) = self.last_link(expression) else { return };
        match link {
            Expr::Property(parts, _) => match parts.2.as_str() {
                "valid" => {
                    yes.know(&subject, READING);
                    no.miss(&subject, READING);
                }
                "above" | "below" | "interrupt" => yes.know(&subject, READING),
                _ => {}
            },
            Expr::MethodCall(call, _) if call.name == "has" => {
                if let [Expr::StringConstant(name, _)] = call.args.as_slice() {
                    let needs = facts::needs(name);
                    if needs != 0 {
                        yes.know(&subject, needs);
                        no.miss(&subject, needs);
                    }
                }
            }
            _ => {}
        }
    }

    /// The observation whose `level` the expression is.
    fn level_of(&self, expression: &Expr) -> Option<Subject> {
        match self.last_link(expression)? {
            (subject, Expr::Property(parts, _)) if parts.2 == "level" => Some(subject),
            _ => None,
        }
    }

    /// A comparison that has to do with the level asks whether there is a lower one.
    pub(super) fn seen_comparison(&mut self, token: &Token, left: &Expr, right: &Expr) {
        if matches!(token, Token::ExclusiveRange | Token::InclusiveRange) {
            return;
        }
        for side in [left, right] {
            if let Some(subject) = self.level_of(side) {
                self.asked(&subject, LOWER);
            }
        }
    }

    /// The last property or method of a chain, and the observation of which it is one.
    fn last_link<'e>(&self, expression: &'e Expr) -> Option<(Subject, &'e Expr)> {
        let Expr::Dot(parts, ..) = expression else { return None };
        let mut subject = match &parts.lhs {
            Expr::Variable(variable, ..) if variable.2.is_empty() => {
                self.flow.variable(&variable.1).and_then(|value| value.subject.clone())
            }
            _ => None,
        };
        let mut link = &parts.rhs;
        while let Expr::Dot(parts, ..) = link {
            subject = domain_of(&parts.lhs);
            link = &parts.rhs;
        }
        subject.map(|subject| (subject, link))
    }
}

/// The domain of `of("…")`.
fn domain_of(link: &Expr) -> Option<Subject> {
    match link {
        Expr::MethodCall(call, _) if call.name == "of" => match call.args.as_slice() {
            [Expr::StringConstant(name, _)] => Some(Subject::Domain(name.to_string())),
            _ => None,
        },
        _ => None,
    }
}

fn mirrored(token: &Token) -> Token {
    match token {
        Token::LessThan => Token::GreaterThan,
        Token::LessThanEqualsTo => Token::GreaterThanEqualsTo,
        Token::GreaterThan => Token::LessThan,
        Token::GreaterThanEqualsTo => Token::LessThanEqualsTo,
        other => other.clone(),
    }
}

/// What `level <token> n` says about a lower level: there is one exactly above level 0.
fn learn_level(subject: &Subject, token: &Token, n: i64, yes: &mut Facts, no: &mut Facts) {
    // For each answer: the lowest level that gives it, and whether no higher one does.
    let (least_yes, zero_yes, least_no, zero_no) = match token {
        Token::EqualsTo => (n, n == 0, 0, false),
        Token::NotEqualsTo => (i64::from(n == 0), false, n, n == 0),
        Token::GreaterThan => (n.saturating_add(1), false, 0, n == 0),
        Token::GreaterThanEqualsTo => (n, false, 0, n == 1),
        Token::LessThan => (0, n == 1, n, false),
        Token::LessThanEqualsTo => (0, n == 0, n.saturating_add(1), false),
        _ => return,
    };
    for (facts, least, zero) in [(yes, least_yes, zero_yes), (no, least_no, zero_no)] {
        if zero {
            facts.miss(subject, LOWER);
        } else if least > 0 {
            facts.know(subject, LOWER);
        }
    }
}
