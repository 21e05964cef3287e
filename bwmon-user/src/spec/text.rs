//! Faults with their place in the spec, and names with "did you mean".

use crate::diag::{Diagnostic, Place, did_you_mean};
use std::ops::Range;

/// The spec's name and text.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

/// A place in the spec, in bytes.
pub(super) type Bytes = Range<usize>;

impl Text<'_> {
    /// A fault at `span`.
    pub(super) fn fault(self, span: &Bytes, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::at_byte(self.text, span.start))
    }

    /// The line of `span`, from 1.
    pub(super) fn line(self, span: &Bytes) -> usize {
        Place::at_byte(self.text, span.start).line
    }

    /// `name` is no `kind`; these are.
    pub(super) fn unknown<'n>(
        self,
        span: &Bytes,
        kind: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Diagnostic {
        let known: Vec<&str> = known.collect();
        let fault = self.fault(span, format!("there is no {kind} \"{name}\""));
        fault.help(match did_you_mean(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known: {}", known.join(", ")),
        })
    }

    /// What the TOML parser says, in our words where it is about keys.
    pub(super) fn toml(self, error: &toml::de::Error) -> Diagnostic {
        let fault = Diagnostic::from_toml(self.file, self.text, error);
        let mut names = fault.message.split('`').skip(1).step_by(2);
        let Some(name) = names.next().map(str::to_owned) else { return fault };
        if fault.message.starts_with("missing field") {
            return Diagnostic { message: format!("the key `{name}` is missing here"), ..fault };
        }
        if !fault.message.starts_with("unknown field") {
            return fault;
        }
        let known: Vec<&str> = names.collect();
        let help = match did_you_mean(&name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        Diagnostic { message: format!("unknown key `{name}`"), help: Some(help), ..fault }
    }
}
