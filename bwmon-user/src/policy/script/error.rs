//! The engine's errors as faults with a source line, a caret and a next step.

use super::words::{FUNCTIONS, PROPERTIES};
use crate::diag::{Diagnostic, Place, did_you_mean};
use crate::policy::{FaultKind, PolicyFault};
use rhai::{EvalAltResult, ParseError, Position};

/// An error that a host function raises; the engine adds the position.
pub(super) fn raise(message: impl Into<String>) -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorRuntime(message.into().into(), Position::NONE))
}

/// A script's name and text, for errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file as the operator named it.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Source {
    /// A fault without a place.
    pub(super) fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&self.name, message)
    }

    /// `fault`, at `position` if that is known.
    pub(super) fn at(&self, fault: Diagnostic, position: Position) -> Diagnostic {
        match (position.line(), position.position()) {
            (Some(line), column) => fault.at(Place::at(&self.text, line, column.unwrap_or(1))),
            (None, _) => fault,
        }
    }

    /// A script that does not parse.
    pub(super) fn parse_error(&self, error: &ParseError) -> Diagnostic {
        let fault = self.at(self.fault(error.err_type().to_string()), error.position());
        let message = fault.message.to_lowercase();
        if message.contains("undefined variable") {
            return fault.help(
                "tunables are `cfg::name` (from a `// @param` line), constants `global::NAME`, \
                 state is `this.name`",
            );
        }
        if message.contains("reserved") {
            return fault.help(
                "eval, import, export, print, debug, Fn, call and curry are off in policies",
            );
        }
        fault
    }

    /// Where the function `name` stands, found in the text since the engine does not tell.
    pub(super) fn place_of(&self, name: &str) -> Option<Place> {
        let head = format!("fn {name}(");
        let line = self.text.lines().position(|line| line.trim_start().starts_with(&head))?;
        Some(Place::at(&self.text, line + 1, 1))
    }

    /// A script that failed while `called` ran.
    pub(super) fn run_error(&self, error: &EvalAltResult, called: &str) -> PolicyFault {
        let (kind, mut inner, mut function) = (kind_of(error), error, called);
        while let EvalAltResult::ErrorInFunctionCall(name, _, deeper, _) = inner {
            (inner, function) = (deeper, name);
        }
        let mut fault = self.at(self.fault(message(inner)), inner.position());
        if fault.place.is_none() {
            // An empty loop, for one, has no position of its own.
            fault.place = self.place_of(function);
        }
        let fault = match suggestion(inner) {
            Some(help) => fault.help(help),
            None => fault,
        };
        PolicyFault::new(kind, fault)
    }
}

fn message(error: &EvalAltResult) -> String {
    use EvalAltResult as E;
    match error {
        E::ErrorRuntime(value, _) => value.to_string(),
        E::ErrorTooManyOperations(_) | E::ErrorTerminated(..) => format!(
            "the policy used more than {} operations in one call",
            super::limits::MAX_OPERATIONS
        ),
        E::ErrorStackOverflow(_) => {
            format!("the policy calls functions more than {} deep", super::limits::MAX_CALL_LEVELS)
        }
        other => {
            let text = other.to_string();
            // The engine repeats the position in the text; ours has its own line for it.
            match text.rfind(" (line ") {
                Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
                None => text,
            }
        }
    }
}

fn kind_of(error: &EvalAltResult) -> FaultKind {
    use EvalAltResult as E;
    match error {
        E::ErrorInFunctionCall(_, _, inner, _) => kind_of(inner),
        E::ErrorTooManyOperations(_)
        | E::ErrorTerminated(..)
        | E::ErrorStackOverflow(_)
        | E::ErrorDataTooLarge(..)
        | E::ErrorTooManyVariables(_)
        | E::ErrorTooManyModules(_) => FaultKind::Budget,
        E::ErrorMismatchOutputType(..) => FaultKind::WrongType,
        _ => FaultKind::Error,
    }
}

fn suggestion(error: &EvalAltResult) -> Option<String> {
    use EvalAltResult as E;
    let (word, words) = match error {
        E::ErrorFunctionNotFound(signature, _) => {
            (signature.split([' ', '(']).next().unwrap_or(""), FUNCTIONS)
        }
        E::ErrorDotExpr(text, _) => {
            let word = text.split(['\'', '"', '`']).nth(1).unwrap_or("");
            (word, PROPERTIES)
        }
        E::ErrorTooManyOperations(_) | E::ErrorTerminated(..) => {
            return Some("look for a loop that does not end".into());
        }
        E::ErrorStackOverflow(_) => return Some("look for a function that calls itself".into()),
        E::ErrorPropertyNotFound(..) => {
            return Some("the keys of the state are those of the map that `init` returns".into());
        }
        _ => return None,
    };
    let names = words.iter().map(|word| word.name);
    match did_you_mean(word, names) {
        Some(name) if name != word => Some(format!("did you mean `{name}`?")),
        Some(_) => Some("its arguments do not fit; see docs/policy-guide.md".into()),
        None => None,
    }
}
