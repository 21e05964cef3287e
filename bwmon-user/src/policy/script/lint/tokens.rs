//! What only the text tells: where functions and their parameters are named, and how numbers are
//! written.

use rhai::{Engine, ImmutableString, Position, Token};

/// The head of a function: where its name and its parameters stand.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: ImmutableString,
    pub(super) at: Position,
    pub(super) parameters: Vec<(ImmutableString, Position)>,
}

/// A number that is not what was written.
#[derive(Clone, Debug)]
pub(super) struct LargeNumber {
    pub(super) at: Position,
    /// As the engine understood it, if it is no whole number any more.
    pub(super) became_float: bool,
}

/// What the text tells.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    pub(super) heads: Vec<Head>,
    pub(super) numbers: Vec<LargeNumber>,
}

/// Whole numbers up to here survive a way through JSON and floats.
const EXACT: i64 = 1 << 53;

impl Tokens {
    pub(super) fn of(engine: &Engine, text: &str) -> Self {
        let mut found = Self::default();
        let all = lex(engine, text);
        let mut rest = all.as_slice();
        while let Some(((token, at), after)) = rest.split_first() {
            match token {
                Token::Fn => found.heads.extend(head(after)),
                // The largest of all is how "no bound" is written.
                Token::IntegerConstant(n) if n.unsigned_abs() > EXACT as u64 && *n != i64::MAX => {
                    found.numbers.push(LargeNumber { at: *at, became_float: false });
                }
                Token::FloatConstant(value) if !value.1.contains(['.', 'e', 'E']) => {
                    found.numbers.push(LargeNumber { at: *at, became_float: true });
                }
                _ => {}
            }
            rest = after;
        }
        found
    }

    /// Where the function `name` with that many parameters is named.
    pub(super) fn head(&self, name: &str, parameters: usize) -> Option<&Head> {
        self.heads.iter().find(|head| head.name == name && head.parameters.len() == parameters)
    }
}

/// The tokens of `text`; texts with `${…}` inside are followed as the parser does.
pub(in crate::policy::script) fn lex(engine: &Engine, text: &str) -> Vec<(Token, Position)> {
    let inputs = [text];
    let (tokens, control) = engine.lex(&inputs);
    let (mut all, mut depth, mut ends) = (Vec::new(), 0_usize, Vec::new());
    for (token, at) in tokens {
        match &token {
            Token::EOF | Token::LexError(_) => break,
            Token::InterpolatedString(_) => ends.push(depth),
            Token::LeftBrace | Token::MapStart => depth += 1,
            Token::RightBrace => {
                depth = depth.saturating_sub(1);
                if ends.last() == Some(&depth) {
                    ends.pop();
                    control.borrow_mut().is_within_text = true;
                }
            }
            _ => {}
        }
        all.push((token, at));
    }
    all
}

/// The head that follows the word `fn`: `name(a, b)`, or `type.name(a, b)`.
fn head(after: &[(Token, Position)]) -> Option<Head> {
    let rest = match after {
        [(Token::Identifier(_) | Token::StringConstant(_), _), (Token::Period, _), rest @ ..] => {
            rest
        }
        rest => rest,
    };
    let ((Token::Identifier(name), at), rest) = rest.split_first()? else { return None };
    let mut parameters = Vec::new();
    for (token, at) in rest {
        match token {
            Token::Identifier(name) => parameters.push((name.as_str().into(), *at)),
            Token::LeftParen | Token::Comma => {}
            _ => break,
        }
    }
    Some(Head { name: name.as_str().into(), at: *at, parameters })
}
