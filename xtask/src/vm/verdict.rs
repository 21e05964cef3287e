//! The guest's verdict line.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// How the line starts (`tests/vm/src/verdict.rs` writes it).
const MARK: &str = "BWMON-VM-VERDICT: ";

/// What the guest said about one boot.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) pass: bool,
    /// A fault of the machine as a whole.
    pub(crate) error: Option<String>,
    pub(crate) scenarios: Vec<Scenario>,
}

/// What the guest said about one scenario.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) ms: u64,
    /// Figures, or what went wrong.
    pub(crate) result: std::result::Result<Map<String, Value>, String>,
}

impl Verdict {
    /// Reads a console line; `None` when it is not the verdict.
    ///
    /// # Errors
    /// When it is the verdict but garbled: that is a failure, not a line to pass over.
    pub(crate) fn parse(line: &str) -> Option<Result<Self>> {
        let text = line.strip_prefix(MARK)?;
        Some(Self::read(text.trim_end()).with_context(|| format!("garbled verdict: {text}")))
    }

    fn read(text: &str) -> Result<Self> {
        let (word, body) = text.split_once(' ').context("no figures")?;
        let pass = match word {
            "pass" => true,
            "fail" => false,
            other => bail!("{other:?} is neither pass nor fail"),
        };
        let body: Value = serde_json::from_str(body)?;
        let error = body.get("error").and_then(Value::as_str).map(str::to_owned);
        let list = body.get("scenarios").and_then(Value::as_array).context("no scenarios")?;
        let scenarios = list.iter().map(Scenario::read).collect::<Result<_>>()?;
        Ok(Self { pass, error, scenarios })
    }
}

impl Scenario {
    fn read(value: &Value) -> Result<Self> {
        let name = value.get("name").and_then(Value::as_str).context("a scenario has no name")?;
        let figures = value.get("figures").and_then(Value::as_object);
        let error = value.get("error").and_then(Value::as_str);
        let result = match (figures, error) {
            (Some(figures), None) => Ok(figures.clone()),
            (_, error) => Err(error.unwrap_or("no reason given").to_owned()),
        };
        let ms = value.get("ms").and_then(Value::as_u64).unwrap_or(0);
        Ok(Self { name: name.to_owned(), ms, result })
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn a_pass_carries_figures() {
        let line = r#"BWMON-VM-VERDICT: pass {"kernel":"6","scenarios":[
            {"name":"a","ok":true,"ms":7,"figures":{"n":3}}]}"#;
        let verdict = Verdict::parse(line).unwrap().unwrap();
        assert!(verdict.pass);
        assert_eq!(verdict.scenarios[0].result.as_ref().unwrap()["n"], 3);
    }

    #[test]
    fn other_lines_are_none_and_garbled_ones_are_errors() {
        assert!(Verdict::parse("bwmon-vm: agreeing: start").is_none());
        assert!(Verdict::parse("BWMON-VM-VERDICT: pass").unwrap().is_err());
        assert!(Verdict::parse("BWMON-VM-VERDICT: perhaps {}").unwrap().is_err());
        assert!(Verdict::parse(r#"BWMON-VM-VERDICT: pass {"scen"#).unwrap().is_err());
    }
}
