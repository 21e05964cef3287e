//! A spec file, TOML to checked scenarios, once.

use super::Files;
use super::check::Check;
use super::expect::Context;
use super::input::{Input, RawInput};
use super::raw::{Maybe, RawScenario, RawSet, RawSpec};
use super::text::{Bytes, Text};
use super::value::{LevelName, Whole};
use crate::board::{self, Board, Level, builtin, builtin_ids};
use crate::diag::Diagnostic;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;

/// Bytes of a spec.
pub const MAX_SPEC: usize = 256 * 1024;
/// Scenarios of a spec.
const MAX_SCENARIOS: usize = 100;
/// Expectations of a scenario.
const MAX_CHECKS: usize = 200;
/// Ticks of all scenarios together, and their time: a spec is run before every reload.
const MAX_TICKS: u64 = 50_000;
/// See [`MAX_TICKS`].
pub(super) const MAX_MS: u64 = 200_000;
/// The board where none is named.
const BOARD: &str = "sdm845";
/// Distance of the ticks where none is given: a window of the kernel's driver.
const PERIOD_MS: u64 = 4;

/// A checked spec.
#[derive(Debug)]
pub struct Spec {
    pub(super) file: String,
    pub(super) text: String,
    pub(super) scenarios: Vec<Scenario>,
}

impl Spec {
    /// Names of the scenarios, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenarios.iter().map(|scenario| scenario.name.as_str())
    }
}

/// A value for a tunable, with its place.
#[derive(Clone, Debug)]
pub(super) struct SetValue {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) at: Bytes,
}

#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) what: String,
    pub(super) at: Bytes,
    pub(super) board: Arc<Board>,
    pub(super) preset: Option<(String, Bytes)>,
    pub(super) set: Vec<SetValue>,
    pub(super) period_ms: u64,
    pub(super) ticks: u64,
    /// What is in force at the start, one for each domain.
    pub(super) start: Vec<Option<Level>>,
    pub(super) faults_max: u64,
    pub(super) input: Input,
    pub(super) checks: Vec<Check>,
}

/// Parses and checks the spec `text`, called `file` in errors. `board` takes the place of the boards
/// that it names.
///
/// # Errors
/// The first fault, with its place and what to do.
pub fn parse(
    file: &str,
    text: &str,
    board: Option<&Arc<Board>>,
    files: &mut dyn Files,
) -> Result<Spec, Diagnostic> {
    if text.len() > MAX_SPEC {
        return Err(Diagnostic::new(file, format!("the spec is larger than {MAX_SPEC} bytes"))
            .help("keep what one policy has to hold in one spec"));
    }
    let place = Text { file, text };
    let raw: RawSpec = toml::from_str(text).map_err(|error| place.toml(&error))?;
    let schema = raw.schema.get_ref().0;
    if schema != 1 {
        let message = format!("spec schema {schema} is not known");
        return Err(place.fault(&raw.schema.span(), message).help("this bwmon reads schema 1"));
    }
    if raw.scenario.is_empty() {
        return Err(Diagnostic::new(file, "the spec has no [[scenario]]: it cannot fail")
            .help("docs/policy-spec.md has an example to start with"));
    }
    if raw.scenario.len() > MAX_SCENARIOS {
        let message = format!("{} scenarios, at most {MAX_SCENARIOS} are read", raw.scenario.len());
        return Err(Diagnostic::new(file, message));
    }
    let defaults = Defaults {
        board: raw.board,
        preset: raw.preset,
        set: set(place, raw.set)?,
        period_ms: raw.period_ms,
    };
    let mut parser =
        Parser { text: place, forced: board, defaults, boards: BTreeMap::new(), files };
    let mut scenarios: Vec<Scenario> = Vec::new();
    let (mut ticks, mut ms) = (0, 0);
    for raw in raw.scenario {
        let name_at = raw.get_ref().name.span();
        let scenario = parser.scenario(raw)?;
        if scenarios.iter().any(|other| other.name == scenario.name) {
            let message = format!("a second scenario is called \"{}\"", scenario.name);
            return Err(place.fault(&name_at, message));
        }
        ticks += scenario.ticks;
        ms += scenario.ticks * scenario.period_ms;
        if ticks > MAX_TICKS || ms > MAX_MS {
            let message =
                format!("the scenarios come to more than {MAX_TICKS} ticks or {MAX_MS} ms");
            return Err(place.fault(&name_at, message).help("a shorter span shows the same"));
        }
        scenarios.push(scenario);
    }
    Ok(Spec { file: file.to_owned(), text: text.to_owned(), scenarios })
}

/// What the head of the file says for all scenarios.
struct Defaults {
    board: Maybe<String>,
    preset: Maybe<String>,
    set: Vec<SetValue>,
    period_ms: Maybe<Whole>,
}

struct Parser<'a> {
    text: Text<'a>,
    forced: Option<&'a Arc<Board>>,
    defaults: Defaults,
    boards: BTreeMap<String, Arc<Board>>,
    files: &'a mut dyn Files,
}

impl Parser<'_> {
    fn scenario(&mut self, raw: Spanned<RawScenario>) -> Result<Scenario, Diagnostic> {
        let at = raw.span();
        let raw = raw.into_inner();
        let name = raw.name.get_ref().clone();
        if name.trim().is_empty() {
            return Err(self.text.fault(&raw.name.span(), "a scenario without a name"));
        }
        let board = self.board(&raw.board)?;
        let period_ms = self.period(&raw.period_ms)?;
        let keys = RawInput {
            series: raw.series,
            workload: raw.workload,
            ms: raw.ms,
            cpufreq_votes: raw.cpufreq_votes,
        };
        let (input, ticks) = keys.check(self.text, &board, period_ms, &at, self.files)?;
        let preset = raw.preset.as_ref().or(self.defaults.preset.as_ref());
        let preset = preset.map(|preset| (preset.get_ref().clone(), preset.span()));
        let mut values = self.defaults.set.clone();
        for own in set(self.text, raw.set)? {
            values.retain(|other| other.name != own.name);
            values.push(own);
        }
        let start = self.start(&board, &raw.start_level)?;
        if raw.expect.is_empty() {
            let message = format!("the scenario \"{name}\" expects nothing: it cannot fail");
            return Err(self.text.fault(&at, message).help("add a [[scenario.expect]]"));
        }
        let context = Context {
            text: self.text,
            board: &board,
            series: match &input {
                Input::Series(series) => Some(series),
                Input::Workload { .. } => None,
            },
            period_ms,
            length_ms: ticks * period_ms,
        };
        let mut checks = Vec::new();
        for raw in raw.expect {
            checks.extend(context.checks(raw, self.files)?);
        }
        if checks.len() > MAX_CHECKS {
            let message = format!("{} expectations, at most {MAX_CHECKS} are read", checks.len());
            return Err(self.text.fault(&at, message));
        }
        Ok(Scenario {
            name,
            what: raw.what,
            at,
            preset,
            set: values,
            period_ms,
            ticks,
            start,
            faults_max: raw.faults_max.map_or(0, |Whole(n)| n),
            input,
            checks,
            board,
        })
    }

    fn board(&mut self, own: &Maybe<String>) -> Result<Arc<Board>, Diagnostic> {
        if let Some(board) = self.forced {
            return Ok(board.clone());
        }
        let named = own.as_ref().or(self.defaults.board.as_ref());
        let name = named.map_or(BOARD, |name| name.get_ref());
        if let Some(board) = self.boards.get(name) {
            return Ok(board.clone());
        }
        let span = named.map_or(0..0, Spanned::span);
        let board = match builtin(name) {
            Some(board) => board?,
            None if name.ends_with(".toml") => {
                let text = self.files.read(name).map_err(|error| self.text.fault(&span, error))?;
                board::parse(name, &text)?
            }
            None => return Err(self.text.unknown(&span, "board", name, builtin_ids())),
        };
        let board = Arc::new(board);
        self.boards.insert(name.to_owned(), board.clone());
        Ok(board)
    }

    fn period(&self, own: &Maybe<Whole>) -> Result<u64, Diagnostic> {
        let Some(period) = own.as_ref().or(self.defaults.period_ms.as_ref()) else {
            return Ok(PERIOD_MS);
        };
        let Whole(ms) = *period.get_ref();
        if (1..=1_000).contains(&ms) {
            return Ok(ms);
        }
        let message = format!("ticks of {ms} ms");
        Err(self.text.fault(&period.span(), message).help("give 1 to 1000"))
    }

    fn start(
        &self,
        board: &Board,
        level: &Maybe<LevelName>,
    ) -> Result<Vec<Option<Level>>, Diagnostic> {
        let Some(level) = level else { return Ok(vec![None; board.domains.len()]) };
        let name = *level.get_ref();
        let levels = board.domains.iter().map(|domain| match name.of(&domain.table) {
            Some(level) => Ok(Some(level)),
            None => Err(self
                .text
                .fault(
                    &level.span(),
                    format!("start_level = {name}: \"{}\" has no such level", domain.name),
                )
                .help(format!("its levels go from 0 to {}", domain.table.top()))),
        });
        levels.collect()
    }
}

/// Values of tunables as `--set` would have them.
fn set(text: Text<'_>, raw: RawSet) -> Result<Vec<SetValue>, Diagnostic> {
    let values = raw.into_iter().map(|(name, value)| {
        let at = value.span();
        let shown = match value.get_ref() {
            toml::Value::Array(values) => values.iter().map(scalar).collect::<Option<Vec<_>>>(),
            value => scalar(value).map(|value| vec![value]),
        };
        match shown {
            Some(values) => Ok(SetValue { name, value: values.join(","), at }),
            None => Err(text
                .fault(&at, format!("the tunable {name} cannot have this value"))
                .help("give a number, true, false, or a list of whole numbers")),
        }
    });
    values.collect()
}

fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::Integer(n) => Some(n.to_string()),
        toml::Value::Float(n) => Some(format!("{n:?}")),
        toml::Value::Boolean(b) => Some(b.to_string()),
        _ => None,
    }
}
