//! What a client may ask for.

use super::{Answer, Code, HoldAsk, PROTOCOL, PolicyUse};
use crate::command::PauseAt;
use crate::diag::{did_you_mean, printable};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Shortest time between two pictures of `watch`.
pub const MIN_EVERY_MS: u64 = 50;

/// Longest time between two pictures of `watch`.
pub const MAX_EVERY_MS: u64 = 60_000;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verb", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// The state, once.
    Status {},
    /// The state, again and again, until the connection ends.
    Watch {
        /// Milliseconds between two.
        every_ms: u64,
    },
    /// The journal's lines from now on, its header first, until the connection ends.
    Tail {},
    /// No policy is to have its way until `resume`.
    Pause {
        /// Where the levels stand meanwhile.
        #[serde(default)]
        at: PauseAt,
    },
    /// The policy is to have its way again.
    Resume {},
    /// Read again what is to run.
    Reload {},
    /// Let this policy decide.
    PolicyUse(PolicyUse),
    /// A bound for as long as the connection lives.
    Hold(HoldAsk),
}

/// The names of all verbs.
const VERBS: [&str; 8] =
    ["status", "watch", "tail", "pause", "resume", "reload", "policy_use", "hold"];

impl Ask {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::Status {} | Self::Watch { .. } | Self::Tail {})
    }

    /// The request's line, without its end.
    ///
    /// # Errors
    /// Never in practice: every part is plain data.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("bwmon".to_owned(), PROTOCOL.into());
        }
        serde_json::to_string(&value)
    }
}

/// The request in `line`, or the answer to what is none.
///
/// # Errors
/// [`Code::BadRequest`] or [`Code::Version`], with what is wrong.
pub fn parse(line: &[u8]) -> Result<Ask, Answer> {
    let bad = |what: String| Answer::no(Code::BadRequest, what);
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| bad(format!("not a JSON object in one line: {error}")))?;
    let Value::Object(mut fields) = value else {
        return Err(bad("not a JSON object".to_owned()));
    };
    match fields.remove("bwmon") {
        Some(version) if version.as_u64() == Some(PROTOCOL) => {}
        Some(version) => {
            let version: String = version.to_string().chars().take(40).map(printable).collect();
            return Err(Answer::no(
                Code::Version,
                format!("protocol {version} is not spoken here, only {PROTOCOL}"),
            ));
        }
        None => return Err(bad(format!("it does not say \"bwmon\": {PROTOCOL}"))),
    }
    let verb = match fields.get("verb") {
        Some(Value::String(verb)) => verb.clone(),
        _ => return Err(bad("it names no verb".to_owned())),
    };
    if !VERBS.contains(&verb.as_str()) {
        let shown: String = verb.chars().take(40).map(printable).collect();
        let help = match did_you_mean(&shown, VERBS) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", VERBS.join(", ")),
        };
        return Err(bad(format!("there is no verb {shown}; {help}")));
    }
    let ask: Ask =
        serde_json::from_value(Value::Object(fields)).map_err(|e| bad(format!("{verb}: {e}")))?;
    match &ask {
        Ask::Watch { every_ms } if !(MIN_EVERY_MS..=MAX_EVERY_MS).contains(every_ms) => {
            Err(bad(format!("watch: every_ms is {MIN_EVERY_MS} to {MAX_EVERY_MS}")))
        }
        Ask::Hold(hold) => hold.check().map(|()| ask.clone()).map_err(bad),
        Ask::PolicyUse(policy) => policy.check().map(|()| ask.clone()).map_err(bad),
        _ => Ok(ask),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::canary::Rule;
    use proptest::prelude::*;

    fn wrong(line: &str) -> (Code, String) {
        let answer = parse(line.as_bytes()).unwrap_err();
        (answer.code.unwrap(), answer.error.unwrap())
    }

    #[test]
    fn every_verb_survives_its_line() {
        let rule: Rule = "faults<=0".parse().unwrap();
        let policy = PolicyUse {
            name: "p.rhai".into(),
            text: Some("fn decide(obs) { hold() }".into()),
            preset: None,
            set: vec![("a".into(), "1".into())],
            canary_ms: Some(60),
            canary_rule: Some(rule.to_string()),
        };
        let hold = HoldAsk {
            domain: Some("ddr".into()),
            floor_kbps: Some(5),
            ceiling_level: Some(2),
            by: "me".into(),
            ..HoldAsk::default()
        };
        for ask in [
            Ask::Status {},
            Ask::Watch { every_ms: 500 },
            Ask::Tail {},
            Ask::Pause { at: PauseAt::Keep },
            Ask::Resume {},
            Ask::Reload {},
            Ask::PolicyUse(policy),
            Ask::Hold(hold),
        ] {
            assert_eq!(parse(ask.line().unwrap().as_bytes()).unwrap(), ask);
        }
        assert_eq!(
            parse(br#"{"bwmon":1,"verb":"pause"}"#).unwrap(),
            Ask::Pause { at: PauseAt::Top }
        );
    }

    #[test]
    fn what_is_no_request_is_told_so() {
        assert_eq!(wrong("status").0, Code::BadRequest);
        assert_eq!(wrong("[1]").1, "not a JSON object");
        assert!(wrong(r#"{"verb":"status"}"#).1.contains("\"bwmon\": 1"));
        let (code, why) = wrong(r#"{"bwmon":2,"verb":"status"}"#);
        assert_eq!(code, Code::Version);
        assert_eq!(why, "protocol 2 is not spoken here, only 1");
        assert_eq!(
            wrong(r#"{"bwmon":1,"verb":"statsu"}"#).1,
            "there is no verb statsu; did you mean status?"
        );
        assert!(wrong(r#"{"bwmon":1,"verb":"pause","for":1}"#).1.contains("unknown field `for`"));
        assert!(wrong(r#"{"bwmon":1,"verb":"watch","every_ms":1}"#).1.contains("50 to 60000"));
        assert!(wrong(r#"{"bwmon":1,"verb":"hold","by":"x"}"#).1.contains("no bound"));
        let two = r#"{"bwmon":1,"verb":"hold","floor_level":1,"floor_kBps":1}"#;
        assert!(wrong(two).1.contains("one floor"));
    }

    proptest! {
        #[test]
        fn no_line_is_too_odd_to_be_answered(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }
    }
}
