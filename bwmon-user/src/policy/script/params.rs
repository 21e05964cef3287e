//! Tunables: `// @param name = default (min..max) what it does` in the head of a script.

use super::error::Source;
use crate::diag::{Diagnostic, Place, did_you_mean};
use rhai::{Array, Dynamic, Module};
use std::collections::BTreeMap;
use std::fmt;

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
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// Whole numbers, at most 32; written `[1, 2]` or `1,2`.
    List(Vec<i64>),
}

/// Items of a list.
pub(super) const MOST_ITEMS: usize = 32;

impl Value {
    fn parse(text: &str) -> Option<Self> {
        let plain = text.replace('_', "");
        if let Some(inner) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Self::list(inner);
        }
        plain
            .parse()
            .map(Self::Int)
            .or_else(|_| plain.parse().map(Self::Bool))
            .ok()
            .or_else(|| plain.parse::<f64>().ok().filter(|f| f.is_finite()).map(Self::Float))
    }

    /// `text` as a value of this one's type: a list may stand without its brackets.
    fn parse_like(&self, text: &str) -> Option<Self> {
        match self {
            Self::List(_) => {
                let plain = text.replace('_', "");
                let inner = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                Self::list(inner.unwrap_or(&plain))
            }
            _ => Self::parse(text).filter(|value| value.same_type(self)),
        }
    }

    fn list(inner: &str) -> Option<Self> {
        let items = inner.split([',', ' ']).filter(|item| !item.is_empty());
        let items: Option<Vec<i64>> = items.map(|item| item.parse().ok()).collect();
        items.filter(|items| items.len() <= MOST_ITEMS).map(Self::List)
    }

    /// Its numbers, for the range.
    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Int(n) => vec![*n as f64],
            Self::Float(n) => vec![*n],
            Self::Bool(_) => Vec::new(),
            Self::List(items) => items.iter().map(|n| *n as f64).collect(),
        }
    }

    fn same_type(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    fn dynamic(&self) -> Dynamic {
        match self {
            Self::Int(n) => (*n).into(),
            Self::Float(n) => (*n).into(),
            Self::Bool(b) => (*b).into(),
            Self::List(items) => items.iter().map(|n| Dynamic::from(*n)).collect::<Array>().into(),
        }
    }

    /// For the journal.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Int(n) => (*n).into(),
            Self::Float(n) => (*n).into(),
            Self::Bool(b) => (*b).into(),
            Self::List(items) => items.clone().into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(n) => fmt::Display::fmt(n, f),
            Self::Float(n) => fmt::Debug::fmt(n, f),
            Self::Bool(b) => fmt::Display::fmt(b, f),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(i64::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
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
    let (value, rest) = match rest.split_once(']') {
        Some((list, _)) if rest.starts_with('[') => rest.split_at(list.len() + 1),
        _ => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
    };
    let default = Value::parse(value)?;
    let rest = rest.trim_start();
    let (range, doc) = match rest.strip_prefix('(') {
        None => (None, rest),
        Some(inner) => {
            let (range, doc) = inner.split_once(')')?;
            let (low, high) = range.split_once("..")?;
            let bound = |text: &str| match Value::parse(text.trim())? {
                Value::Int(n) => Some(n as f64),
                Value::Float(n) => Some(n),
                Value::Bool(_) | Value::List(_) => None,
            };
            let (low, high) = (bound(low)?, bound(high)?);
            let outside = |n: &f64| !(low..=high).contains(n);
            if matches!(default, Value::Bool(_)) || default.numbers().iter().any(outside) {
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
        params.iter().map(|param| (param.name.clone(), param.default.clone())).collect();
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
        let value = param.default.parse_like(text).ok_or_else(|| {
            let fault = source.fault(format!("{name}={text} has another type than its default"));
            fault.help(format!("the default is {name}={}", param.default))
        })?;
        if let Some((low, high)) = param.range
            && value.numbers().iter().any(|n| !(low..=high).contains(n))
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
    fn a_list_is_written_with_or_without_brackets_and_has_a_range_for_each_item() {
        let source = source("// @param zones_MiBps = [1, 2] (0..9000) steps\n");
        let params = declared(&source).unwrap();
        assert_eq!(params[0].default, Value::List(vec![1, 2]));
        assert_eq!(params[0].doc, "steps");
        let set = |text: &str| values(&source, &params, &[("zones_MiBps".into(), text.into())]);
        for text in ["2_288,4577", "[2288, 4577]"] {
            assert_eq!(
                set(text).unwrap()["zones_MiBps"],
                Value::List(vec![2_288, 4_577]),
                "{text}"
            );
        }
        assert_eq!(set("").unwrap()["zones_MiBps"], Value::List(Vec::new()));
        assert!(set("1,9001").unwrap_err().message.contains("outside 0..9000"));
        let help = set("1,x").unwrap_err().help;
        assert_eq!(help.as_deref(), Some("the default is zones_MiBps=[1, 2]"));
        assert!(set(&"1,".repeat(33)).is_err());
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
