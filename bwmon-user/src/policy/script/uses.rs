//! Which words of the vocabulary a script uses.

use super::limits::{Budget, limited_engine};
use super::lint::tokens::lex;
use super::words::{Group, Word};
use rhai::Token;

/// The words of `vocabulary` that the code of `text` has, in the vocabulary's order: readings behind
/// the point of anything but the state, functions before their arguments.
pub fn uses(text: &str, vocabulary: &'static [Word]) -> Vec<&'static str> {
    let tokens = lex(&limited_engine(&Budget::default()), text);
    let token = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|(token, _)| token);
    let has = |word: &Word| {
        tokens.iter().enumerate().any(|(at, (name, _))| {
            let Token::Identifier(name) = name else { return false };
            if **name != *word.name {
                return false;
            }
            if word.group != Group::Reading {
                return matches!(token(at.checked_add(1)), Some(Token::LeftParen))
                    && !matches!(token(at.checked_sub(1)), Some(Token::Fn));
            }
            let point = matches!(token(at.checked_sub(1)), Some(Token::Period | Token::Elvis));
            let state = |token: &Token| match token {
                Token::Reserved(name) | Token::Identifier(name) => **name == *"this",
                _ => false,
            };
            point && !token(at.checked_sub(2)).is_some_and(state)
        })
    };
    vocabulary.iter().filter(|word| has(word)).map(|word| word.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::script::words::{FUNCTIONS, PROPERTIES};

    #[test]
    fn only_code_counts_and_the_state_is_no_reading() {
        let text = "// obs.level_kBps, ewma(1)\n\
                    fn init(i) { #{ windows: 0, peak_kBps: 0 } }\n\
                    fn slew(x) { x }\n\
                    /* obs.lower_kBps */\n\
                    fn decide(obs) { this.windows += 1; let level = \"obs.mean_kBps average(\"; let ddr = obs.of(\"ddr\");\n\
                    hold(`${ddr.peak_kBps}`).hold_ms(obs . util_pct) }";
        assert_eq!(uses(text, PROPERTIES), ["peak_kBps", "util_pct"]);
        assert_eq!(uses(text, FUNCTIONS), ["of", "hold", "hold_ms"]);
    }

    #[test]
    fn a_text_that_does_not_parse_has_what_comes_before_the_fault() {
        assert_eq!(uses("fn decide(obs) { obs.level \"", PROPERTIES), ["level"]);
        assert!(uses("", FUNCTIONS).is_empty());
    }
}
