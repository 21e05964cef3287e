//! Tunables: `// @param name = default (min..max) what it does` in the head of a script.

use super::error::Source;
use crate::diag::{Diagnostic, Place, did_you_mean};
use rhai::{Dynamic, Module};
use std::collections::BTreeMap;

/// A tunable.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name, after `cfg::`.
    pub name: String,
    /// Its default.
    pub default: Value,
    /// The smallest and largest value allowed, for numbers.
    pub range: Option<(f64, f64)>,
    /// What it does.
    pub doc: String,
}

/// A tunable's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
}

impl Value {
    fn parse(text: &str) -> Option<Self> {
        let plain = text.replace('_', "");
        plain
            .parse()
            .map(Self::Int)
            .or_else(|_| plain.parse().map(Self::Bool))
            .ok()
            .or_else(|| plain.parse::<f64>().ok().filter(|f| f.is_finite()).map(Self::Float))
    }

    fn number(self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(n as f64),
            Self::Float(n) => Some(n),
            Self::Bool(_) => None,
        }
    }

    fn same_type(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    fn dynamic(self) -> Dynamic {
        match self {
            Self::Int(n) => n.into(),
            Self::Float(n) => n.into(),
            Self::Bool(b) => b.into(),
        }
    }

    /// For the journal.
    pub fn json(self) -> serde_json::Value {
        match self {
            Self::Int(n) => n.into(),
            Self::Float(n) => n.into(),
            Self::Bool(b) => b.into(),
        }
    }
}

/// The tunables that the script declares.
pub(super) fn declared(source: &Source) -> Result<Vec<Param>, Diagnostic> {
    let mut params: Vec<Param> = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("//") else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("@param") else { continue };
        let param = parse(rest).ok_or_else(|| {
            source
                .fault("this @param line is not understood")
                .at(Place::at(&source.text, number + 1, 1))
                .help("write: // @param name = 16 (1..1000) what it does")
        })?;
        if params.iter().any(|other| other.name == param.name) {
            return Err(source
                .fault(format!("a second @param is called {}", param.name))
                .at(Place::at(&source.text, number + 1, 1)));
        }
        params.push(param);
    }
    Ok(params)
}

fn parse(text: &str) -> Option<Param> {
    let (name, rest) = text.split_once('=')?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_numeric()) {
        return None;
    }
    let rest = rest.trim_start();
    let (value, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let default = Value::parse(value)?;
    let rest = rest.trim_start();
    let (range, doc) = match rest.strip_prefix('(') {
        None => (None, rest),
        Some(inner) => {
            let (range, doc) = inner.split_once(')')?;
            let (low, high) = range.split_once("..")?;
            let low = Value::parse(low.trim())?.number()?;
            let high = Value::parse(high.trim())?.number()?;
            let default = default.number()?;
            if !(low..=high).contains(&default) {
                return None;
            }
            (Some((low, high)), doc)
        }
    };
    Some(Param { name: name.into(), default, range, doc: doc.trim().into() })
}

/// The values in use: the defaults, with `set` (name and text) put over them.
pub(super) fn values(
    source: &Source,
    params: &[Param],
    set: &[(String, String)],
) -> Result<BTreeMap<String, Value>, Diagnostic> {
    let mut values: BTreeMap<String, Value> =
        params.iter().map(|param| (param.name.clone(), param.default)).collect();
    for (name, text) in set {
        let Some(param) = params.iter().find(|param| param.name == *name) else {
            let names = || params.iter().map(|param| param.name.as_str());
            let fault = source.fault(format!("the policy has no tunable called {name}"));
            return Err(match did_you_mean(name, names()) {
                Some(near) => fault.help(format!("did you mean {near}?")),
                None if params.is_empty() => fault.help("it has no tunables"),
                None => fault.help(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
            });
        };
        let value = Value::parse(text).filter(|value| value.same_type(param.default));
        let value = value.ok_or_else(|| {
            source.fault(format!("{name}={text} has another type than its default"))
        })?;
        let number = value.number();
        if let (Some((low, high)), Some(number)) = (param.range, number)
            && !(low..=high).contains(&number)
        {
            return Err(source.fault(format!("{name}={text} is outside {low}..{high}")));
        }
        values.insert(name.clone(), value);
    }
    Ok(values)
}

/// The module behind `cfg::`.
pub(super) fn module(values: &BTreeMap<String, Value>) -> Module {
    let mut module = Module::new();
    for (name, value) in values {
        module.set_var(name.as_str(), value.dynamic());
    }
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "p.rhai".into(), text: text.into() }
    }

    #[test]
    fn a_param_line_gives_name_default_range_and_doc() {
        let params = declared(&source("// @param up_pct = 80 (50..95) target\n")).unwrap();
        let expected = Param {
            name: "up_pct".into(),
            default: Value::Int(80),
            range: Some((50.0, 95.0)),
            doc: "target".into(),
        };
        assert_eq!(params, [expected]);
    }

    #[test]
    fn a_broken_param_line_is_an_error_with_its_line() {
        for text in ["// @param x", "// @param 9 = 1", "// @param x = y", "// @param x = 9 (1..5)"]
        {
            let fault = declared(&source(&format!("\n{text}\n"))).unwrap_err();
            assert_eq!(fault.place.unwrap().line, 2, "{text}");
        }
    }

    #[test]
    fn values_are_checked_for_name_type_and_range() {
        let source = source("// @param up_pct = 80 (50..95) target\n");
        let params = declared(&source).unwrap();
        let set = |name: &str, text: &str| {
            values(&source, &params, &[(name.to_owned(), text.to_owned())])
        };
        assert_eq!(set("up_pct", "90").unwrap()["up_pct"], Value::Int(90));
        assert_eq!(set("up_pc", "90").unwrap_err().help.as_deref(), Some("did you mean up_pct?"));
        assert!(set("up_pct", "0.5").is_err());
        assert!(set("up_pct", "96").is_err());
    }
}
