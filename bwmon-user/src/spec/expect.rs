//! `[[scenario.expect]]`: expectations, checked against the scenario that they judge.

use super::Files;
use super::check::{Check, What};
use super::raw::{Maybe, RawExpect};
use super::series::Series;
use super::text::{Bytes, Text};
use super::value::{LevelName, StepName, Whole};
use crate::board::Board;
use crate::diag::{Diagnostic, did_you_mean};
use crate::policy::script::Source;
use crate::policy::{MAX_WHY, NATIVE, PolicySpec, library, stage};
use crate::units::Kbps;
use std::fmt::Display;
use toml::Spanned;

/// What an expectation may refer to.
pub(super) struct Context<'a> {
    pub(super) text: Text<'a>,
    pub(super) board: &'a Board,
    /// The steps; none for a workload.
    pub(super) series: Option<&'a Series>,
    pub(super) period_ms: u64,
    pub(super) length_ms: u64,
}

/// The span and the domains that the keys of one `expect` share.
struct Scope {
    domains: Vec<usize>,
    from_ms: u64,
    to_ms: u64,
    whole: bool,
}

impl Context<'_> {
    /// The checks of one `[[scenario.expect]]`, one for each key that expects something.
    pub(super) fn checks(
        &self,
        raw: Spanned<RawExpect>,
        files: &mut dyn Files,
    ) -> Result<Vec<Check>, Diagnostic> {
        let span = raw.span();
        let raw = raw.into_inner();
        let scope = self.scope(&raw, &span)?;
        let mut checks = Vec::new();
        let mut add = |key: String, at: Bytes, what: What| {
            let (domains, from_ms, to_ms) = (scope.domains.clone(), scope.from_ms, scope.to_ms);
            checks.push(Check { domains, from_ms, to_ms, what, key, at });
        };
        each(&raw.level_min, "level_min", What::LevelMin, &mut add);
        each(&raw.level_max, "level_max", What::LevelMax, &mut add);
        each(&raw.level_at_end, "level_at_end", What::LevelAtEnd, &mut add);
        each(&raw.vote_min, "vote_kBps_min", |Whole(n)| What::VoteMin(Kbps(n)), &mut add);
        each(&raw.vote_max, "vote_kBps_max", |Whole(n)| What::VoteMax(Kbps(n)), &mut add);
        let mean = |Whole(n): Whole| What::MeanVoteMax(Kbps(n));
        each(&raw.mean_vote_max, "mean_vote_kBps_max", mean, &mut add);
        let (to, shown) = refined(&raw.rise_to, "rise_to");
        let rise = |Whole(ms): Whole| What::Rise { ms, to };
        each_refined(&raw.rise_ms, "rise_ms", &shown, rise, &mut add);
        let (to, shown) = refined(&raw.fall_to, "fall_to");
        let fall = |Whole(ms): Whole| What::Fall { ms, to };
        each_refined(&raw.fall_ms, "fall_ms", &shown, fall, &mut add);
        each(&raw.stay_ms, "stay_ms", |Whole(ms)| What::Stay { ms }, &mut add);
        let transitions = |Whole(max): Whole| What::Transitions { max };
        each(&raw.max_transitions, "max_transitions", transitions, &mut add);
        let (grace, shown) = refined(&raw.grace_ms, "grace_ms");
        let never = |_| What::NeverBelow { grace_ms: grace.map_or(0, |Whole(ms)| ms) };
        each_refined(&raw.never_below_demand, "never_below_demand", &shown, never, &mut add);
        each(&raw.idle_to_lowest_ms, "idle_to_lowest_ms", |Whole(ms)| What::Idle { ms }, &mut add);
        let held = |Whole(max_ms): Whole| What::HeldBack { max_ms };
        each(&raw.below_demand_ms_max, "below_demand_ms_max", held, &mut add);
        if let Some(why) = &raw.why {
            let text = why.get_ref().clone();
            add(format!("why = \"{text}\""), why.span(), What::Why(text));
        }
        if let Some(other) = &raw.same_as {
            let name = other.get_ref().clone();
            let policy = self.policy(&other.span(), &name, files)?;
            add(format!("same_as = \"{name}\""), other.span(), What::SameAs { name, policy });
        }
        self.modifiers(&raw)?;
        if checks.is_empty() {
            return Err(self.text.fault(&span, "the expectation expects nothing").help(
                "give level_min, level_max, rise_ms, fall_ms, never_below_demand, …: \
                 docs/policy-spec.md lists them",
            ));
        }
        for check in &checks {
            self.fits(check, &scope)?;
        }
        Ok(checks)
    }

    fn scope(&self, raw: &RawExpect, span: &Bytes) -> Result<Scope, Diagnostic> {
        let domains = match &raw.domain {
            Some(domain) => {
                let name = domain.get_ref().as_str();
                let known = || self.board.domains.iter().map(|domain| domain.name.as_str());
                let index = self.board.domain_index(name);
                vec![
                    index.ok_or_else(|| {
                        self.text.unknown(&domain.span(), "domain", name, known())
                    })?,
                ]
            }
            None => {
                let all = self.board.domains.iter().enumerate();
                let measured: Vec<usize> =
                    all.filter(|(_, d)| d.monitor.is_some()).map(|(index, _)| index).collect();
                if measured.is_empty() { (0..self.board.domains.len()).collect() } else { measured }
            }
        };
        let (mut from_ms, mut to_ms) = (0, self.length_ms);
        if let Some(step) = &raw.step {
            if raw.from_ms.is_some() || raw.to_ms.is_some() {
                let message = "a span is given by step or by from_ms and to_ms, not by both";
                return Err(self.text.fault(&step.span(), message));
            }
            (from_ms, to_ms) = self.step(step)?;
        }
        if let Some(from) = &raw.from_ms {
            from_ms = from.get_ref().0;
        }
        if let Some(to) = &raw.to_ms {
            to_ms = to.get_ref().0;
            if to_ms > self.length_ms {
                let message = format!("to_ms = {to_ms} is beyond the end of the scenario");
                return Err(self
                    .text
                    .fault(&to.span(), message)
                    .help(format!("it is {} ms long", self.length_ms)));
            }
        }
        // Decisions fall at the ends of ticks.
        let decisions = (to_ms / self.period_ms).saturating_sub(from_ms / self.period_ms);
        if from_ms >= to_ms || decisions == 0 {
            let at =
                raw.from_ms.as_ref().or(raw.to_ms.as_ref()).map_or(span.clone(), Spanned::span);
            let message = format!("no decision falls into the span from {from_ms} to {to_ms} ms");
            return Err(self.text.fault(&at, message).help(format!(
                "a tick is {} ms and the scenario {} ms long",
                self.period_ms, self.length_ms
            )));
        }
        let whole = raw.step.is_none() && raw.from_ms.is_none() && raw.to_ms.is_none();
        Ok(Scope { domains, from_ms, to_ms, whole })
    }

    fn step(&self, step: &Spanned<StepName>) -> Result<(u64, u64), Diagnostic> {
        let Some(series) = self.series else {
            let message = "a workload has no steps";
            return Err(self.text.fault(&step.span(), message).help("give from_ms and to_ms"));
        };
        let found = match step.get_ref() {
            StepName::Number(n) => n.checked_sub(1).and_then(|n| series.steps.get(n)),
            StepName::Name(name) => series.steps.iter().find(|s| s.name.as_ref() == Some(name)),
        };
        match (found, step.get_ref()) {
            (Some(step), _) => {
                let end = step.start.plus(step.length);
                Ok((step.start.as_ms(), end.as_ms()))
            }
            (None, StepName::Number(n)) => Err(self
                .text
                .fault(&step.span(), format!("there is no step {n}"))
                .help(format!("the series has steps 1 to {}", series.steps.len()))),
            (None, StepName::Name(name)) => {
                let known = series.steps.iter().filter_map(|step| step.name.as_deref());
                Err(self.text.unknown(&step.span(), "step", name, known))
            }
        }
    }

    /// Keys that refine another one stand beside it.
    fn modifiers(&self, raw: &RawExpect) -> Result<(), Diagnostic> {
        let alone = |span: Bytes, key: &str, of: &str| {
            Err(self
                .text
                .fault(&span, format!("{key} without {of}"))
                .help(format!("it refines {of}")))
        };
        if let (Some(to), None) = (&raw.rise_to, &raw.rise_ms) {
            return alone(to.span(), "rise_to", "rise_ms");
        }
        if let (Some(to), None) = (&raw.fall_to, &raw.fall_ms) {
            return alone(to.span(), "fall_to", "fall_ms");
        }
        if let (Some(grace), None) = (&raw.grace_ms, &raw.never_below_demand) {
            return alone(grace.span(), "grace_ms", "never_below_demand");
        }
        match &raw.never_below_demand {
            Some(never) if !*never.get_ref() => Err(self
                .text
                .fault(&never.span(), "never_below_demand = false expects nothing")
                .help("leave it out")),
            _ => Ok(()),
        }
    }

    /// Whether a check can be judged on its domains.
    fn fits(&self, check: &Check, scope: &Scope) -> Result<(), Diagnostic> {
        let domains = || check.domains.iter().filter_map(|index| self.board.domains.get(*index));
        if let Some(level) = check.what.level()
            && let Some(domain) = domains().find(|domain| level.of(&domain.table).is_none())
        {
            let message = format!("{}: \"{}\" has no such level", check.key, domain.name);
            let help = format!("its levels go from 0 to {}", domain.table.top());
            return Err(self.text.fault(&check.at, message).help(help));
        }
        if check.what.needs_demand()
            && let Some(domain) = domains().find(|domain| domain.monitor.is_none())
        {
            let message = format!("{}: no monitor reads \"{}\"", check.key, domain.name);
            let help = "without a reading there is no demand to judge by; expect levels in a span";
            return Err(self.text.fault(&check.at, message).help(help));
        }
        if matches!(check.what, What::HeldBack { .. }) {
            if self.series.is_some() {
                let message = format!("{}: a series holds nothing back", check.key);
                let help = "it is for workloads; a series has never_below_demand";
                return Err(self.text.fault(&check.at, message).help(help));
            }
            if !scope.whole {
                let message = format!("{} is for the whole scenario, not for a span", check.key);
                return Err(self.text.fault(&check.at, message));
            }
        }
        if let What::Why(text) = &check.what
            && (text.is_empty() || text.chars().count() > MAX_WHY)
        {
            let message = format!("a reason has 1 to {MAX_WHY} characters");
            return Err(self.text.fault(&check.at, message));
        }
        Ok(())
    }

    fn policy(
        &self,
        span: &Bytes,
        name: &str,
        files: &mut dyn Files,
    ) -> Result<PolicySpec, Diagnostic> {
        if name == NATIVE {
            return Ok(PolicySpec::Native);
        }
        if name.starts_with(stage::PREFIX) {
            return Ok(PolicySpec::Chain(name.to_owned()));
        }
        let text = match library::shipped(name) {
            Some(shipped) => shipped.text.to_owned(),
            None if name.ends_with(".rhai") => {
                files.read(name).map_err(|error| self.text.fault(span, error))?
            }
            None => {
                let fault = self.text.fault(span, format!("there is no policy \"{name}\""));
                return Err(fault.help(match did_you_mean(name, library::names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "give native, a shipped policy, or a .rhai file".to_owned(),
                }));
            }
        };
        Ok(PolicySpec::Script { source: Source { name: name.to_owned(), text }, set: Vec::new() })
    }
}

/// Adds the check of one key, if it is given.
fn each<T: Copy + Shown>(
    value: &Maybe<T>,
    key: &str,
    what: impl Fn(T) -> What,
    add: &mut impl FnMut(String, Bytes, What),
) {
    each_refined(value, key, "", what, add);
}

/// The same, with the keys beside it that refine it.
fn each_refined<T: Copy + Shown>(
    value: &Maybe<T>,
    key: &str,
    refined: &str,
    what: impl Fn(T) -> What,
    add: &mut impl FnMut(String, Bytes, What),
) {
    if let Some(value) = value {
        let shown = format!("{key} = {}{refined}", value.get_ref().shown());
        add(shown, value.span(), what(*value.get_ref()));
    }
}

/// The value of a key that refines another, and how it is shown beside it.
fn refined<T: Copy + Shown>(value: &Maybe<T>, key: &str) -> (Option<T>, String) {
    match value.as_ref().map(|value| *value.get_ref()) {
        Some(value) => (Some(value), format!(", {key} = {}", value.shown())),
        None => (None, String::new()),
    }
}

/// A value as TOML writes it.
trait Shown {
    fn shown(&self) -> impl Display;
}

impl Shown for Whole {
    fn shown(&self) -> impl Display {
        self.0
    }
}

impl Shown for LevelName {
    fn shown(&self) -> impl Display {
        *self
    }
}

impl Shown for bool {
    fn shown(&self) -> impl Display {
        *self
    }
}
