//! Operators: what they give, and where their sides do not go together.

use super::Walker;
use crate::policy::script::lint::codes::Code;
use crate::policy::script::lint::flow::Value;
use crate::policy::script::lint::types::Kinds;
use rhai::{Expr, FnCallExpr, Position, Token};

/// Values on which arithmetic with a number, or with each other, is an error.
const PLAIN: Kinds = Kinds::UNIT
    .or(Kinds::BOOL)
    .or(Kinds::NUMBER)
    .or(Kinds::OBS)
    .or(Kinds::INFO)
    .or(Kinds::EVENT)
    .or(Kinds::PROPOSAL)
    .or(Kinds::CALLABLE);

impl Walker<'_> {
    /// A call that is written as an operator.
    pub(super) fn operator(&mut self, call: &FnCallExpr, token: &Token, at: Position) -> Value {
        match call.args.as_slice() {
            [inner] if *token == Token::Bang => {
                let (yes, no) = self.condition(inner);
                self.flow = yes.join(no);
                Value::of(Kinds::BOOL)
            }
            [inner] => {
                let kinds = self.expression(inner).kinds;
                Value::of(if kinds.is_only(Kinds::NUMBER) { kinds } else { Kinds::ANY })
            }
            [left, right] => {
                let (a, b) = (self.expression(left).kinds, self.expression(right).kinds);
                self.seen_comparison(token, left, right);
                Value::of(self.binary(token, (left, a), (right, b), at))
            }
            _ => Value::ANY,
        }
    }

    fn binary(
        &mut self,
        token: &Token,
        (left, a): (&Expr, Kinds),
        (right, b): (&Expr, Kinds),
        at: Position,
    ) -> Kinds {
        match token {
            Token::EqualsTo
            | Token::NotEqualsTo
            | Token::LessThan
            | Token::LessThanEqualsTo
            | Token::GreaterThan
            | Token::GreaterThanEqualsTo => {
                let literal_unit = left.is_unit() || right.is_unit();
                self.compare(token, a, b, literal_unit, at);
                Kinds::BOOL
            }
            Token::ExclusiveRange | Token::InclusiveRange => Kinds::RANGE,
            token => self.arithmetic(token, a, b, at),
        }
    }

    fn compare(&mut self, token: &Token, a: Kinds, b: Kinds, literal_unit: bool, at: Position) {
        if !a.is_definite() || !b.is_definite() {
            return;
        }
        // Numbers compare with each other, and characters with texts.
        let like = |kinds: Kinds| {
            let number = if kinds.meets(Kinds::NUMBER) { Kinds::NUMBER } else { Kinds::NONE };
            let text = Kinds::TEXT.or(Kinds::CHAR);
            let text = if kinds.meets(text) { text } else { Kinds::NONE };
            kinds.or(number).or(text)
        };
        if !like(a).meets(b) {
            let always = if *token == Token::NotEqualsTo { "true" } else { "false" };
            let help = if literal_unit {
                "unknown is never `()`: ask obs.has(\"…\") or obs.valid"
            } else {
                "Rhai does not convert: compare values of one type"
            };
            let message =
                format!("{} is compared with {}: that is always {always}", a.said(), b.said());
            self.report.add(Code::MixedComparison, at, message, help);
            return;
        }
        let equality = matches!(token, Token::EqualsTo | Token::NotEqualsTo);
        let numbers = a.is_only(Kinds::NUMBER) && b.is_only(Kinds::NUMBER);
        if equality && numbers && (a == Kinds::FLOAT || b == Kinds::FLOAT) {
            self.report.add(
                Code::FloatEquality,
                at,
                "numbers with a point are seldom equal to the last digit",
                "compare with <= or >=, or count in whole numbers",
            );
        }
    }

    /// What arithmetic on `a` and `b` gives.
    pub(super) fn arithmetic(&mut self, token: &Token, a: Kinds, b: Kinds, at: Position) -> Kinds {
        if !a.is_definite() || !b.is_definite() {
            return Kinds::ANY;
        }
        let numbers = a.is_only(Kinds::NUMBER) && b.is_only(Kinds::NUMBER);
        if numbers && (a == Kinds::FLOAT || b == Kinds::FLOAT) {
            return Kinds::FLOAT;
        }
        if numbers {
            return a.or(b);
        }
        let logic = matches!(token, Token::Ampersand | Token::Pipe | Token::XOr);
        if logic && a.meets(Kinds::BOOL) && b.meets(Kinds::BOOL) {
            return if a.or(b) == Kinds::BOOL { Kinds::BOOL } else { Kinds::ANY };
        }
        let text = a == Kinds::TEXT || b == Kinds::TEXT;
        let other = if a == Kinds::TEXT { b } else { a };
        let plain =
            if text { other.is_only(PLAIN.without(Kinds::UNIT)) } else { a.or(b).is_only(PLAIN) };
        let numbers = a.meets(Kinds::NUMBER) && b.meets(Kinds::NUMBER);
        if plain && !numbers && !self.natives.fits(&token.to_string(), &[a, b]) {
            let message = format!("there is no `{token}` for {} and {}", a.said(), b.said());
            let help = if text {
                "write the number into the text: `n is ${n}`, in back-ticks"
            } else {
                "this is a fault when it runs"
            };
            self.report.add(Code::NoSuchOperation, at, message, help);
        }
        if text && *token == Token::Plus { Kinds::TEXT } else { Kinds::ANY }
    }
}
