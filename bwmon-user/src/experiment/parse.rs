//! An agenda's text to a checked [`Agenda`].

mod measures;
mod subjects;
mod workloads;

use super::agenda::{Agenda, Judging, Limits, Place, Rig};
use super::raw::{RawAgenda, RawLimits, RawRig};
use crate::diag::{Diagnostic, Place as At, did_you_mean};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

/// What a subject can be at most: more than that is a mistake in a sweep.
const MOST_SUBJECTS: usize = 10_000;

/// Parses and checks the agenda `text`; `file` is its name in errors.
///
/// # Errors
/// The first fault, with its line and what to do.
pub fn parse(file: &str, text: &str) -> Result<Agenda, Diagnostic> {
    let raw: RawAgenda =
        toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
    Check { file, text }.agenda(raw)
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
}

impl Check<'_> {
    fn fault(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(At::at_byte(self.text, span.start))
    }

    fn agenda(&self, raw: RawAgenda) -> Result<Agenda, Diagnostic> {
        if *raw.schema.get_ref() != 1 {
            let message = format!("agenda schema {} is not known", raw.schema.get_ref());
            return Err(self.fault(raw.schema.span(), message).help("this bwmon reads schema 1"));
        }
        let name = raw.name.get_ref();
        if name.is_empty() || name.contains(['/', '\0']) {
            return Err(self
                .fault(raw.name.span(), "the name stands for a folder")
                .help("give letters, digits, - and _"));
        }
        let place = self.place(raw.place)?;
        let seed = raw.seed.unwrap_or(DEFAULT_SEED);
        let judging = Judging {
            confidence_pct: self.ranged(raw.confidence_pct, 95.0, 50.0..=99.9, "confidence_pct")?,
            smallest_effect_pct: self.ranged(
                raw.smallest_effect_pct,
                1.0,
                0.0..=100.0,
                "smallest_effect_pct",
            )?,
        };
        // One window of the hardware on the model, two and a half on a machine, as `run` has it.
        let period_us = if place == Place::Simulator { 4_000 } else { 8_500 };
        let agenda = Agenda {
            name: raw.name.into_inner(),
            what: raw.what,
            seed,
            blocks: self.ranged(raw.blocks, 20, 1..=100_000, "blocks")?,
            subjects: self.subjects(raw.subject, raw.sweep, &place, seed)?,
            workloads: self.workloads(raw.workload, &place)?,
            measures: self.measures(raw.measure, &place, judging)?,
            place,
            board: raw.board,
            period_us: self.ranged(raw.period_us, period_us, 100..=1_000_000, "period_us")?,
            settle_ms: self.ranged(raw.settle_ms, 200, 0..=600_000, "settle_ms")?,
            max_retries: raw.max_retries.unwrap_or(2),
            judging,
            rig: self.rig(raw.rig)?,
            limits: self.limits(raw.limits)?,
        };
        Ok(agenda)
    }

    fn place(&self, raw: Option<Spanned<String>>) -> Result<Place, Diagnostic> {
        let Some(raw) = raw else { return Ok(Place::Simulator) };
        match raw.get_ref().as_str() {
            "simulator" => Ok(Place::Simulator),
            "machine" => Ok(Place::Machine),
            text => match text.strip_prefix("ssh:").filter(|host| !host.is_empty()) {
                // A name with a dash in front would be an option of ssh.
                Some(host) if !host.starts_with('-') => Ok(Place::Ssh(host.to_owned())),
                _ => Err(self
                    .fault(raw.span(), format!("there is no place {text}"))
                    .help("give \"simulator\", \"machine\" or \"ssh:NAME\"")),
            },
        }
    }

    fn rig(&self, raw: Option<RawRig>) -> Result<Rig, Diagnostic> {
        let Some(raw) = raw else { return Ok(Rig::default()) };
        Ok(Rig {
            noise_pct: self.ranged(raw.noise_pct, 0.0, 0.0..=100.0, "noise_pct")?,
            drift_pct: self.ranged(raw.drift_pct, 0.0, -90.0..=1_000.0, "drift_pct")?,
        })
    }

    fn limits(&self, raw: Option<RawLimits>) -> Result<Limits, Diagnostic> {
        let Some(raw) = raw else { return Ok(Limits::default()) };
        let cooldown = raw.cooldown_c.map(|c| self.ranged(Some(c), 0.0, 0.0..=100.0, "cooldown_c"));
        Ok(Limits {
            cooldown_c: cooldown.transpose()?,
            cooldown_timeout_s: raw.cooldown_timeout_s.unwrap_or(300),
        })
    }

    /// A number that may be left away, within its bounds.
    fn ranged<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        raw: Option<Spanned<T>>,
        default: T,
        range: std::ops::RangeInclusive<T>,
        key: &str,
    ) -> Result<T, Diagnostic> {
        let Some(raw) = raw else { return Ok(default) };
        let value = *raw.get_ref();
        if range.contains(&value) {
            return Ok(value);
        }
        Err(self.fault(raw.span(), format!("{key} is {value}")).help(format!(
            "give {} to {}",
            range.start(),
            range.end()
        )))
    }

    /// Names are what results are found by.
    fn unique<'a>(
        &self,
        what: &str,
        names: impl Iterator<Item = (&'a str, Range<usize>)>,
    ) -> Result<(), Diagnostic> {
        let mut seen = BTreeSet::new();
        for (name, span) in names {
            if name.is_empty() {
                return Err(self.fault(span, format!("a {what} without a name")));
            }
            if !seen.insert(name) {
                return Err(self
                    .fault(span, format!("there are two {what}s called {name}"))
                    .help("give each a name of its own"));
            }
        }
        Ok(())
    }

    fn unknown(&self, span: Range<usize>, what: &str, word: &str, known: &[&str]) -> Diagnostic {
        let fault = self.fault(span, format!("there is no {what} {word}"));
        match did_you_mean(word, known.iter().copied()) {
            Some(near) => fault.help(format!("did you mean {near}?")),
            None => fault.help(format!("known: {}", known.join(", "))),
        }
    }
}

/// The order is drawn from this where the agenda gives no seed: the same for everybody.
const DEFAULT_SEED: u64 = 1;

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
