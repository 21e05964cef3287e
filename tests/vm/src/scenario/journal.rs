//! A journal that the agent wrote, as far as the scenarios look into it.

use anyhow::{Context, Result};
use serde_json::Value;

/// The entries of a journal, without its header.
pub(crate) struct Journal(Vec<Value>);

impl Journal {
    /// Reads a whole journal.
    pub(crate) fn read(path: &str) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {path}"))?;
        let entries = text.lines().skip(1).map(|line| {
            serde_json::from_str(line).with_context(|| format!("{path} holds {line:?}"))
        });
        Ok(Self(entries.collect::<Result<_>>()?))
    }

    /// What is there of a journal that is still being written.
    pub(crate) fn so_far(path: &str) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("read {path}"))?;
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let entries = whole.lines().skip(1).map(serde_json::from_str);
        Ok(Self(entries.collect::<Result<_, _>>().with_context(|| format!("parse {path}"))?))
    }

    /// One per tick.
    pub(crate) fn entries(&self) -> &[Value] {
        &self.0
    }
}

/// How many whole lines a journal has by now, besides its header.
pub(crate) fn lines_so_far(path: &str) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.matches('\n').count().saturating_sub(1)
}

/// The first monitor's reading in an entry, if it is of this kind.
pub(crate) fn reading<'a>(entry: &'a Value, kind: &str) -> Option<&'a Value> {
    entry.pointer("/sample/monitors/0")?.get(kind)
}

/// The level that was decided for the first domain.
pub(crate) fn decided(entry: &Value) -> Option<u64> {
    entry.pointer("/domains/0/decision/level")?.as_u64()
}

/// The vote for the first domain, if the level changed.
pub(crate) fn changed_vote(entry: &Value) -> Option<&Value> {
    let vote = entry.pointer("/domains/0/vote")?;
    (vote.get("change")? == true).then_some(vote)
}

/// The word for what the machine answered to the first domain's vote.
pub(crate) fn answer(entry: &Value) -> Option<&str> {
    match entry.pointer("/domains/0/applied")? {
        Value::String(word) => Some(word),
        Value::Object(with_details) => with_details.keys().next().map(String::as_str),
        _ => None,
    }
}
