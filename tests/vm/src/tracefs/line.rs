//! One line of the kernel's trace text.

use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// `task-pid [cpu] flags stamp: event: key=value key=value …`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The event's name, without its system.
    pub(crate) event: String,
    fields: BTreeMap<String, String>,
}

impl Line {
    /// Reads a line; `None` for comments and whatever else is not an event.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with('#') {
            return None;
        }
        // The task's name may hold anything, also brackets and colons: start behind the CPU.
        let (_, rest) = text.split_once("] ")?;
        let (_, rest) = rest.split_once(": ")?;
        let (event, rest) = rest.split_once(':')?;
        let fields = rest
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        Some(Self { event: event.to_owned(), fields })
    }

    /// A field's text.
    pub(crate) fn text(&self, field: &str) -> Result<&str> {
        let value = self.fields.get(field);
        value.map(String::as_str).with_context(|| format!("{} has no field {field}", self.event))
    }

    /// A field's number.
    pub(crate) fn number(&self, field: &str) -> Result<u64> {
        let text = self.text(field)?;
        text.parse().with_context(|| format!("{} field {field}: {text:?}", self.event))
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn an_event_line_gives_name_and_fields() {
        let text = "  irq/13-7fe00000-71  [001] .....    12.345678: qcom_bwmon_update: \
                    name=7fe00000.pmu meas_kbps=16000 up_kbps=800001 down_kbps=800000";
        let line = Line::parse(text).unwrap();
        assert_eq!(line.event, "qcom_bwmon_update");
        assert_eq!(line.text("name").unwrap(), "7fe00000.pmu");
        assert_eq!(line.number("meas_kbps").unwrap(), 16_000);
        assert!(line.number("agg").is_err());
    }

    #[test]
    fn comments_are_not_events() {
        assert_eq!(Line::parse("# tracer: nop"), None);
        assert_eq!(Line::parse(""), None);
    }
}
