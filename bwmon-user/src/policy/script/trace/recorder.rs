//! What is noted while a marked script runs.

use super::coverage::Coverage;
use super::marks::Mark;
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
    /// Its text: the first line of it, as far as the next statement.
    pub text: String,
    /// Depth of calls, 1 in `decide` itself.
    pub depth: usize,
    /// Where a function begins: what it was called with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<(String, String)>,
    /// What it changed: variables, and the state as `this.name`, with their new values.
    pub changed: Vec<(String, String)>,
}

/// A function that is running.
#[derive(Debug)]
struct Frame {
    /// Its scope's address, and the engine's call level when it began.
    scope: usize,
    level: usize,
    /// Its variables as they were at its last mark.
    known: BTreeMap<String, String>,
    /// Its last step.
    last: Option<usize>,
}

/// Where a mark was reached.
pub(super) struct Place<'a> {
    /// The mark's number.
    pub(super) number: usize,
    /// The address of the scope; each function has one of its own.
    pub(super) scope: usize,
    /// The engine's call level. It also counts some expressions, but what a function calls is
    /// always deeper than itself.
    pub(super) level: usize,
    /// What `this` is bound to.
    pub(super) this: Option<&'a Dynamic>,
}

/// The notes.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    marks: Vec<Mark>,
    hits: Vec<u64>,
    /// Whether steps are noted, not only which lines were reached.
    pub(super) stepwise: bool,
    steps: Vec<Step>,
    /// The functions that are running, outermost first.
    frames: Vec<Frame>,
    /// The state as it was at the last mark that sees it.
    state: BTreeMap<String, String>,
    /// The last step that sees the state.
    with_state: Option<usize>,
}

impl Recorder {
    /// For the script with `marks`.
    pub(super) fn new(marks: Vec<Mark>) -> Self {
        Self { hits: vec![0; marks.len()], marks, stepwise: true, ..Self::default() }
    }

    /// A call begins, with that state.
    pub(super) fn begin(&mut self, state: Option<&Dynamic>) {
        self.steps.clear();
        self.frames.clear();
        self.state = if self.stepwise { state_of(state) } else { BTreeMap::new() };
        self.with_state = None;
    }

    /// A statement is about to run.
    pub(super) fn reached<'a>(
        &mut self,
        place: &Place<'_>,
        variables: impl Iterator<Item = (&'a str, &'a Dynamic)>,
    ) {
        if let Some(hits) = self.hits.get_mut(place.number) {
            *hits += 1;
        }
        if !self.stepwise || self.steps.len() == MOST_STEPS {
            return;
        }
        let Some(mark) = self.marks.get(place.number) else { return };
        let mut step = Step {
            line: mark.line,
            text: mark.text.clone(),
            depth: 0,
            given: Vec::new(),
            changed: Vec::new(),
        };
        let begins = mark.begins.clone();
        self.enter(place, begins.is_some());
        step.depth = self.frames.len();
        let seen: BTreeMap<String, String> =
            variables.filter_map(|(name, value)| Some((name.to_owned(), shown(value)?))).collect();
        let number = self.steps.len();
        if let Some(frame) = self.frames.last_mut() {
            let changed = changed(&frame.known, &seen);
            match frame.last.and_then(|last| self.steps.get_mut(last)) {
                Some(last) => last.changed.extend(changed),
                None => {
                    let parameters = begins.unwrap_or_default();
                    step.given.extend(
                        changed.filter(|(name, _)| parameters.iter().any(|known| known == name)),
                    );
                }
            }
            (frame.known, frame.last) = (seen, Some(number));
        }
        self.note_state(place.this);
        if self.sees_state(place.this) {
            self.with_state = Some(number);
        }
        self.steps.push(step);
    }

    /// The running functions after a mark of one of them was reached; `begins` if it was its first.
    fn enter(&mut self, place: &Place<'_>, begins: bool) {
        let running = self.frames.iter().rposition(|frame| frame.scope == place.scope);
        if let Some(running) = running.filter(|_| !begins) {
            self.frames.truncate(running + 1);
            return;
        }
        // Those that are as deep have returned; the one that was there before may have left its
        // scope's address to this one.
        self.frames.retain(|frame| frame.scope != place.scope && frame.level < place.level);
        let frame =
            Frame { scope: place.scope, level: place.level, known: BTreeMap::new(), last: None };
        self.frames.push(frame);
    }

    /// The call has ended well; `this` is the state after it.
    pub(super) fn end(&mut self, this: Option<&Dynamic>) {
        if self.stepwise {
            self.note_state(this);
        }
    }

    /// Whether `this` is the state, not a map that a method was called on.
    fn sees_state(&self, this: Option<&Dynamic>) -> bool {
        !self.state.is_empty()
            && this
                .and_then(|this| this.as_map_ref().ok())
                .is_some_and(|map| self.state.keys().all(|name| map.contains_key(name.as_str())))
    }

    fn note_state(&mut self, this: Option<&Dynamic>) {
        if !self.sees_state(this) {
            return;
        }
        let seen = state_of(this);
        if let Some(step) = self.with_state.and_then(|step| self.steps.get_mut(step)) {
            let named = |(name, value)| (format!("this.{name}"), value);
            step.changed.extend(changed(&self.state, &seen).map(named));
        }
        self.state = seen;
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn coverage(&self) -> Coverage {
        let mut lines: BTreeMap<usize, u64> = BTreeMap::new();
        for (mark, hits) in self.marks.iter().zip(&self.hits) {
            *lines.entry(mark.line).or_default() += hits;
        }
        Coverage { lines }
    }
}

/// What is new or another than it was.
fn changed<'a>(
    before: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (String, String)> + use<'a> {
    let other = |(name, value): &(&String, &String)| before.get(*name) != Some(*value);
    now.iter().filter(other).map(|(name, value)| (name.clone(), value.clone()))
}

/// A state's values by key.
fn state_of(state: Option<&Dynamic>) -> BTreeMap<String, String> {
    let Some(map) = state.and_then(|state| state.as_map_ref().ok()) else {
        return BTreeMap::new();
    };
    Map::iter(&map).filter_map(|(name, value)| Some((name.to_string(), shown(value)?))).collect()
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
