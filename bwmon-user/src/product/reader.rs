//! Reading a TOML table key by key, each with its place: unknown keys and wrong types are errors
//! that say what was meant.

use super::at::{At, Sourced};
use crate::diag::{Diagnostic, Place, did_you_mean};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A TOML text and its name.
#[derive(Clone)]
pub(super) struct Text<'t> {
    pub(super) file: Arc<str>,
    pub(super) text: &'t str,
}

impl<'t> Text<'t> {
    pub(super) fn new(file: &str, text: &'t str) -> Self {
        Self { file: file.into(), text }
    }

    /// The whole text as a table.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'t>>, Diagnostic> {
        DeTable::parse(self.text)
            .map_err(|error| Diagnostic::from_toml(&self.file, self.text, &error))
    }

    pub(super) fn at(&self, span: &Range<usize>) -> At {
        At::File { file: self.file.clone(), place: Place::at_byte(self.text, span.start) }
    }
}

/// A table whose keys are all known.
pub(super) struct Table<'a, 't> {
    text: &'a Text<'t>,
    entries: Vec<(&'a str, Range<usize>, &'a Spanned<DeValue<'t>>)>,
}

impl<'a, 't> Table<'a, 't> {
    /// `table`, called `what` in errors, which may hold `known` keys only.
    pub(super) fn new(
        text: &'a Text<'t>,
        what: &str,
        table: &'a DeTable<'t>,
        known: &[&str],
    ) -> Result<Self, Diagnostic> {
        let found = Self::open(text, table);
        for (key, span, _) in &found.entries {
            if known.contains(key) {
                continue;
            }
            let fault = text.at(span).fault(format!("{what} has no key {key}"));
            return Err(match did_you_mean(key, known.iter().copied()) {
                Some(near) => fault.help(format!("did you mean {near}?")),
                None => fault.help(format!("it may have {}", known.join(", "))),
            });
        }
        Ok(found)
    }

    /// A table whose keys are names that the operator chose, in the order of the file.
    pub(super) fn open(text: &'a Text<'t>, table: &'a DeTable<'t>) -> Self {
        let mut entries: Vec<_> =
            table.iter().map(|(key, value)| (&**key.get_ref(), key.span(), value)).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        Self { text, entries }
    }

    /// Every entry, in the order of the file.
    pub(super) fn items(&self) -> impl Iterator<Item = Item<'a, 't>> {
        let text = self.text;
        self.entries.iter().map(move |(key, span, value)| Item {
            text,
            key,
            key_span: span.clone(),
            value,
        })
    }

    /// The entry called `key`.
    pub(super) fn get(&self, key: &str) -> Option<Item<'a, 't>> {
        self.items().find(|item| item.key == key)
    }
}

/// One entry of a table.
pub(super) struct Item<'a, 't> {
    text: &'a Text<'t>,
    pub(super) key: &'a str,
    key_span: Range<usize>,
    value: &'a Spanned<DeValue<'t>>,
}

impl<'a, 't> Item<'a, 't> {
    /// Where the key stands.
    pub(super) fn at_key(&self) -> At {
        self.text.at(&self.key_span)
    }

    /// Where the value stands.
    pub(super) fn at(&self) -> At {
        self.text.at(&self.value.span())
    }

    fn sourced<T>(&self, value: T) -> Sourced<T> {
        Sourced { value, at: self.at() }
    }

    fn wrong(&self, wanted: &str) -> Diagnostic {
        let found = kind(self.value.get_ref());
        self.at().fault(format!("{} is {found}, it has to be {wanted}", self.key))
    }

    pub(super) fn string(&self) -> Result<Sourced<String>, Diagnostic> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(self.sourced(text.to_string())),
            _ => Err(self.wrong("a text in quotes")),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, Diagnostic> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wrong("true or false")),
        }
    }

    pub(super) fn number(&self, range: RangeInclusive<i64>) -> Result<Sourced<i64>, Diagnostic> {
        let value = integer(self.value.get_ref()).ok_or_else(|| self.wrong("a whole number"))?;
        if !range.contains(&value) {
            let (low, high) = (range.start(), range.end());
            let message = format!("{} = {value} is outside {low}..{high}", self.key);
            return Err(self.at().fault(message));
        }
        Ok(self.sourced(value))
    }

    pub(super) fn table(&self) -> Result<&'a DeTable<'t>, Diagnostic> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong("a table")),
        }
    }

    /// Texts, each with its place: a list, or one text in place of a list of one. Whole numbers
    /// stand for their decimal text if `numbers`.
    pub(super) fn texts(&self, numbers: bool) -> Result<Vec<Sourced<String>>, Diagnostic> {
        let wanted = if numbers {
            "a list of whole numbers or texts in quotes"
        } else {
            "a list of texts in quotes"
        };
        let one = |value: &Spanned<DeValue<'t>>| {
            let text = match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                other if numbers => integer(other).map(|n| n.to_string()),
                _ => None,
            };
            text.map(|value_text| Sourced { value: value_text, at: self.text.at(&value.span()) })
                .ok_or_else(|| self.wrong(wanted))
        };
        match self.value.get_ref() {
            DeValue::Array(items) if items.is_empty() => {
                Err(self.at().fault(format!("{} is an empty list: nothing would fit", self.key)))
            }
            DeValue::Array(items) => items.iter().map(one).collect(),
            _ => Ok(vec![one(self.value)?]),
        }
    }

    /// A tunable's value as the text that `--set` takes.
    pub(super) fn tunable(&self) -> Result<Sourced<String>, Diagnostic> {
        let wanted = "a number, true or false, or a list of whole numbers";
        let text = match self.value.get_ref() {
            DeValue::Boolean(value) => Some(value.to_string()),
            DeValue::Float(value) => Some(value.as_str().to_owned()),
            DeValue::Array(items) => {
                let items: Option<Vec<String>> = items
                    .iter()
                    .map(|item| integer(item.get_ref()).map(|number| number.to_string()))
                    .collect();
                items.map(|items| format!("[{}]", items.join(", ")))
            }
            other => integer(other).map(|number| number.to_string()),
        };
        text.map(|text| self.sourced(text)).ok_or_else(|| self.wrong(wanted))
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Integer(number) = value else { return None };
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
