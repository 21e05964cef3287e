//! What the agent answers.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// It is no request, or one with a wrong value.
    BadRequest,
    /// Another protocol.
    Version,
    /// Longer than a request may be.
    TooLarge,
    /// The peer may not ask for this.
    Forbidden,
    /// It was tried, and the agent could not or would not do it; nothing has changed.
    Refused,
    /// Too many clients.
    Busy,
    /// The client took too long to say what it wants.
    Slow,
}

/// One line of answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Whether it was done.
    pub ok: bool,
    /// What was asked for: a status, a line of the journal, or what was done, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Why not, for a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Why not, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Answer {
    /// `result` is what was asked for.
    pub fn yes(result: &impl Serialize) -> Self {
        match serde_json::value::to_raw_value(result) {
            Ok(result) => Self { ok: true, result: Some(result), code: None, error: None },
            Err(error) => Self::no(Code::Refused, error.to_string()),
        }
    }

    /// It was not done.
    pub fn no(code: Code, why: impl Into<String>) -> Self {
        Self { ok: false, result: None, code: Some(code), error: Some(why.into()) }
    }

    /// The answer's line, with its end.
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_else(|_| "{\"ok\":false}".to_owned());
        line.push('\n');
        line
    }
}
