//! What is noted while a marked script runs.

use rhai::{Dynamic, Map};
use std::collections::BTreeMap;

/// Statements of one call that are kept; a script cannot run many more within its operations.
const MOST_STEPS: usize = 10_000;
/// Characters of a value that are kept.
const MOST_VALUE: usize = 60;

/// One statement that ran.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// Its line, from 1.
    pub line: usize,
    /// Depth of calls, 1 in `decide` itself.
    pub depth: usize,
    /// What it changed: variables, and the state as `this.name`, with their new values.
    pub changed: Vec<(String, String)>,
}

/// Lines and how often a statement that begins on them ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By line, from 1; 0 for one that never ran.
    pub lines: BTreeMap<usize, u64>,
}

impl Coverage {
    /// Adds what another run reached.
    pub fn add(&mut self, other: &Self) {
        for (line, hits) in &other.lines {
            *self.lines.entry(*line).or_default() += hits;
        }
    }

    /// Lines with a statement, and those of them that ran.
    pub fn counts(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.values().filter(|hits| **hits > 0).count())
    }

    /// Percent of the lines with a statement that ran; `None` for a script without any.
    pub fn percent(&self) -> Option<f64> {
        let (all, ran) = self.counts();
        (all > 0).then(|| ran as f64 * 100.0 / all as f64)
    }

    /// The lines that never ran.
    pub fn missed(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().filter(|(_, hits)| **hits == 0).map(|(line, _)| *line)
    }
}

/// The notes.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    /// The line of each mark.
    pub(super) lines: Vec<usize>,
    hits: BTreeMap<usize, u64>,
    steps: Vec<Step>,
    /// The scopes of the functions that are running, outermost first.
    frames: Vec<usize>,
    /// Values by depth and name, as they were at the last mark.
    known: BTreeMap<(usize, String), String>,
}

impl Recorder {
    /// A call begins.
    pub(super) fn begin(&mut self) {
        self.steps.clear();
        self.known.clear();
        self.frames.clear();
    }

    /// A statement is about to run.
    pub(super) fn reached<'a>(
        &mut self,
        number: usize,
        frame: usize,
        variables: impl Iterator<Item = (&'a str, &'a Dynamic)>,
        this: Option<&Dynamic>,
    ) {
        let Some(line) = self.lines.get(number).copied() else { return };
        *self.hits.entry(number).or_default() += 1;
        if self.steps.len() == MOST_STEPS {
            return;
        }
        let depth = self.depth(frame);
        let seen: Vec<(String, String)> =
            variables.filter_map(|(name, value)| Some((name.to_owned(), shown(value)?))).collect();
        self.note(depth, seen);
        self.note_state(this);
        self.steps.push(Step { line, depth, changed: Vec::new() });
    }

    /// How deep the function with the scope `frame` is; those deeper have returned.
    fn depth(&mut self, frame: usize) -> usize {
        match self.frames.iter().position(|known| *known == frame) {
            Some(place) => self.frames.truncate(place + 1),
            None => self.frames.push(frame),
        }
        self.frames.len()
    }

    /// The call has ended; `this` is the state after it.
    pub(super) fn end(&mut self, this: Option<&Dynamic>) {
        self.note_state(this);
    }

    fn note_state(&mut self, this: Option<&Dynamic>) {
        let Some(map) = this.and_then(|this| this.as_map_ref().ok()) else { return };
        let state: Vec<(String, String)> = Map::iter(&map)
            .filter_map(|(name, value)| Some((format!("this.{name}"), shown(value)?)))
            .collect();
        drop(map);
        // The state is one for all depths.
        self.note(0, state);
    }

    /// Whatever is new or another than before was changed by the statement before this one; the
    /// values with which a call begins are known, not changed.
    fn note(&mut self, depth: usize, seen: Vec<(String, String)>) {
        let first = self.steps.is_empty();
        for (name, value) in seen {
            let before = self.known.insert((depth, name.clone()), value.clone());
            if before.as_ref() == Some(&value) || first {
                continue;
            }
            if let Some(step) = self.steps.last_mut() {
                step.changed.push((name, value));
            }
        }
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn coverage(&self) -> Coverage {
        let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
        for (number, line) in self.lines.iter().enumerate() {
            *lines.entry(*line).or_default() += self.hits.get(&number).copied().unwrap_or(0);
        }
        Coverage { lines }
    }
}

/// A value for people; `None` for those that have no short form (`obs`).
fn shown(value: &Dynamic) -> Option<String> {
    let text = match value.type_name() {
        "i64" | "f64" | "bool" => value.to_string(),
        "string" | "array" | "map" => format!("{value:?}"),
        "()" => "nothing".to_owned(),
        _ => return None,
    };
    let mut short: String = text.chars().take(MOST_VALUE).map(crate::diag::printable).collect();
    if text.chars().count() > MOST_VALUE {
        short.push('…');
    }
    Some(short)
}
