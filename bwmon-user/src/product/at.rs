//! Where a value was written: what an error points at, and what a table of values names.

use crate::diag::{Diagnostic, Place};
use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// In a file.
    File {
        /// The file as the operator named it, or a name in angle brackets for a built-in one.
        file: Arc<str>,
        /// Where in it.
        place: Place,
    },
    /// On the command line: the option with its value.
    Given(String),
}

impl At {
    /// A fault of what was written here.
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        match self {
            Self::File { file, place } => {
                Diagnostic::new(&**file, message.into()).at(place.clone())
            }
            Self::Given(option) => Diagnostic::new(option.clone(), message),
        }
    }

    /// The file, unless it was given on the command line.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File { file, .. } => Some(file),
            Self::Given(_) => None,
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, place } => write!(f, "{file}:{}", place.line),
            Self::Given(option) => f.write_str(option),
        }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub at: At,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_by_file_and_line_and_a_fault_shows_it() {
        let at = At::File { file: "a.toml".into(), place: Place::at("x = 1\ny = 2\n", 2, 5) };
        assert_eq!(at.to_string(), "a.toml:2");
        assert!(at.fault("bad").to_string().contains("a.toml:2:5"));
        let given = At::Given("--limit min_level=9".into());
        assert!(given.fault("bad").to_string().ends_with("--> --limit min_level=9"));
    }
}
