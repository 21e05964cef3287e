//! Subjects, and sweeps that make many of them.

use super::{Check, MOST_SUBJECTS};
use crate::diag::Diagnostic;
use crate::experiment::agenda::{FixedLevel, Place, Subject, SubjectKind};
use crate::experiment::raw::{RawSubject, RawSweep};
use crate::random::Draw;
use crate::sim::CpufreqVotes;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::{Spanned, Value};

/// The key of a sweep that is no tunable but the distance of the ticks.
const PERIOD: &str = "period_us";

impl Check<'_> {
    pub(super) fn subjects(
        &self,
        raw: Vec<Spanned<RawSubject>>,
        sweeps: Vec<Spanned<RawSweep>>,
        place: &Place,
        seed: u64,
    ) -> Result<Vec<Subject>, Diagnostic> {
        let mut subjects = Vec::new();
        for subject in raw {
            let span = subject.span();
            subjects.push((self.subject(span.clone(), subject.into_inner(), place)?, span));
        }
        for (number, sweep) in sweeps.into_iter().enumerate() {
            let span = sweep.span();
            let made = self.sweep(span.clone(), sweep.into_inner(), seed, number)?;
            subjects.extend(made.into_iter().map(|subject| (subject, span.clone())));
        }
        if subjects.is_empty() {
            return Err(Diagnostic::new(self.file, "the agenda has no [[subject]]")
                .help("add one with policy = \"bwmon\", kernel = true, none = true, …"));
        }
        self.unique("subject", subjects.iter().map(|(s, span)| (s.name.as_str(), span.clone())))?;
        Ok(subjects.into_iter().map(|(subject, _)| subject).collect())
    }

    fn subject(
        &self,
        span: Range<usize>,
        raw: RawSubject,
        place: &Place,
    ) -> Result<Subject, Diagnostic> {
        let mut kinds = Vec::new();
        if let Some(policy) = &raw.policy {
            let (preset, set) = (raw.preset.clone(), values(&raw.set));
            kinds.push(SubjectKind::Policy { policy: policy.clone(), preset, set });
        }
        kinds.extend(raw.kernel.then_some(SubjectKind::Kernel));
        kinds.extend(raw.devfreq.clone().map(SubjectKind::Devfreq));
        kinds.extend(raw.cpufreq.clone().map(SubjectKind::Cpufreq));
        if let Some(fixed) = &raw.fixed {
            kinds.push(self.fixed(fixed)?);
        }
        kinds.extend(raw.none.then_some(SubjectKind::None));
        if kinds.len() > 1 {
            return Err(self.fault(span, "a subject is one thing").help(KINDS));
        }
        let Some(kind) = kinds.pop() else {
            return Err(self.fault(span, "a subject that is nothing").help(KINDS));
        };
        if raw.policy.is_none() && (raw.preset.is_some() || !raw.set.is_empty()) {
            return Err(self.fault(span, "preset and set belong to a policy"));
        }
        let on_model = matches!(place, Place::Simulator);
        if !on_model && (raw.board.is_some() || raw.cpufreq_votes.is_some()) {
            return Err(self
                .fault(span, "a board or cpufreq_votes of its own has a subject on the model only")
                .help("place = \"simulator\", or leave them away"));
        }
        if on_model && matches!(kind, SubjectKind::Devfreq(_) | SubjectKind::Cpufreq(_)) {
            return Err(self
                .fault(span, "the model has no devfreq or cpufreq governors to choose from")
                .help("policy = \"ondemand\" is the rule of devfreq's simple_ondemand"));
        }
        let period_us = raw
            .period_us
            .map(|us| self.ranged(Some(us), 0, 100..=1_000_000, PERIOD))
            .transpose()?;
        Ok(Subject {
            name: raw.name.unwrap_or_else(|| title(&kind, None)),
            cpufreq_votes: self.votes(raw.cpufreq_votes)?,
            kind,
            board: raw.board,
            period_us,
        })
    }

    fn votes(&self, raw: Option<Spanned<String>>) -> Result<Option<CpufreqVotes>, Diagnostic> {
        let Some(raw) = raw else { return Ok(None) };
        match raw.get_ref().as_str() {
            "none" => Ok(Some(CpufreqVotes::None)),
            "ungoverned" => Ok(Some(CpufreqVotes::Ungoverned)),
            "all" => Ok(Some(CpufreqVotes::All)),
            word => {
                Err(self.unknown(raw.span(), "cpufreq_votes", word, &["none", "ungoverned", "all"]))
            }
        }
    }

    fn fixed(&self, raw: &Spanned<BTreeMap<String, Value>>) -> Result<SubjectKind, Diagnostic> {
        let mut levels = BTreeMap::new();
        for (domain, value) in raw.get_ref() {
            let level = match value {
                Value::Integer(kbps) if *kbps > 0 => FixedLevel::Kbps(kbps.unsigned_abs()),
                Value::String(word) if word == "min" => FixedLevel::Min,
                Value::String(word) if word == "max" => FixedLevel::Max,
                other => {
                    return Err(self
                        .fault(raw.span(), format!("{domain} cannot be held at {other}"))
                        .help("give kBps, \"min\" or \"max\""));
                }
            };
            levels.insert(domain.clone(), level);
        }
        if levels.is_empty() {
            return Err(self.fault(raw.span(), "fixed names no domain"));
        }
        Ok(SubjectKind::Fixed(levels))
    }

    fn sweep(
        &self,
        span: Range<usize>,
        raw: RawSweep,
        seed: u64,
        number: usize,
    ) -> Result<Vec<Subject>, Diagnostic> {
        let points = match (&raw.grid, &raw.random) {
            (Some(grid), None) => self.grid(&span, grid)?,
            (None, Some(random)) => self.random(random, seed, number)?,
            _ => {
                return Err(self.fault(span, "a sweep has a grid or is random").help(
                    "grid = { NAME = [1, 2, 3] }, or random = { count = 8, NAME = [1, 100] }",
                ));
            }
        };
        let base = values(&raw.set);
        let subjects = points.into_iter().map(|mut point| {
            let period_us = point.remove(PERIOD).and_then(|us| us.parse().ok());
            let kind = SubjectKind::Policy {
                policy: raw.policy.clone(),
                preset: raw.preset.clone(),
                set: base.clone().into_iter().chain(point).collect(),
            };
            let name = title(&kind, period_us);
            Subject { name, kind, board: None, cpufreq_votes: None, period_us }
        });
        let subjects: Vec<Subject> = subjects.collect();
        let bad = |s: &&Subject| s.period_us.is_some_and(|us| !(100..=1_000_000).contains(&us));
        if let Some(subject) = subjects.iter().find(bad) {
            return Err(self
                .fault(span, format!("period_us is {}", subject.period_us.unwrap_or_default()))
                .help("give 100 to 1000000"));
        }
        Ok(subjects)
    }

    /// All combinations, the last name changing fastest.
    fn grid(
        &self,
        span: &Range<usize>,
        grid: &BTreeMap<String, Vec<Value>>,
    ) -> Result<Vec<BTreeMap<String, String>>, Diagnostic> {
        let mut points = vec![BTreeMap::new()];
        for (name, choices) in grid {
            if choices.is_empty() || points.len() * choices.len() > MOST_SUBJECTS {
                let message = format!("{name} has {} values", choices.len());
                let help = format!("a sweep makes 1 to {MOST_SUBJECTS} subjects");
                return Err(self.fault(span.clone(), message).help(help));
            }
            let with = |point: &BTreeMap<String, String>, choice: &Value| {
                let mut point = point.clone();
                point.insert(name.clone(), text(choice));
                point
            };
            points = points
                .iter()
                .flat_map(|point| choices.iter().map(move |choice| with(point, choice)))
                .collect();
        }
        Ok(points)
    }

    /// `count` points, each name drawn evenly from its whole numbers.
    fn random(
        &self,
        raw: &Spanned<BTreeMap<String, Value>>,
        seed: u64,
        number: usize,
    ) -> Result<Vec<BTreeMap<String, String>>, Diagnostic> {
        let bad = |what: &str| {
            self.fault(raw.span(), what)
                .help("write random = { count = 8, NAME = [FROM, TO] } with whole numbers")
        };
        let count = raw.get_ref().get("count").and_then(Value::as_integer);
        let Some(count) = count.filter(|n| (1..=MOST_SUBJECTS as i64).contains(n)) else {
            return Err(bad("a random sweep needs a count of at least 1"));
        };
        let mut ranges = Vec::new();
        for (name, range) in raw.get_ref().iter().filter(|(name, _)| *name != "count") {
            let ends = range.as_array().map(Vec::as_slice);
            match ends.map(|ends| ends.iter().filter_map(Value::as_integer).collect::<Vec<_>>()) {
                Some(ends) if matches!(ends.as_slice(), [from, to] if from <= to) => {
                    ranges.push((name, ends));
                }
                _ => return Err(bad(&format!("{name} has no range"))),
            }
        }
        let mut draw = Draw::new(&[seed, 0x5eed, number as u64]);
        let mut points: Vec<BTreeMap<String, String>> = Vec::new();
        for _ in 0..count {
            let one = ranges.iter().map(|(name, ends)| {
                let (from, to) = (ends.first().copied(), ends.last().copied());
                let value = draw.between(from.unwrap_or(0), to.unwrap_or(0));
                ((*name).clone(), value.to_string())
            });
            let point = one.collect();
            // The same point twice is the same subject twice.
            if !points.contains(&point) {
                points.push(point);
            }
        }
        Ok(points)
    }
}

const KINDS: &str =
    "one of policy, kernel = true, devfreq = GOVERNOR, cpufreq = GOVERNOR, fixed, none = true";

/// The name of a subject that was given none.
fn title(kind: &SubjectKind, period_us: Option<u64>) -> String {
    match kind {
        SubjectKind::Policy { policy, preset, set } => {
            let mut title = policy.clone();
            for word in preset.iter() {
                title += &format!(" {word}");
            }
            for (name, value) in set {
                title += &format!(" {name}={value}");
            }
            if let Some(us) = period_us {
                title += &format!(" {PERIOD}={us}");
            }
            title
        }
        SubjectKind::Kernel => "kernel".to_owned(),
        SubjectKind::Devfreq(governor) => format!("devfreq {governor}"),
        SubjectKind::Cpufreq(governor) => format!("cpufreq {governor}"),
        SubjectKind::Fixed(_) => "fixed".to_owned(),
        SubjectKind::None => "none".to_owned(),
    }
}

fn values(set: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    set.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// As `--set` takes it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
