//! Measures, their units, and what difference matters.

use super::Check;
use crate::diag::Diagnostic;
use crate::experiment::agenda::{Compare, From, Judging, Measure, ModelMeasure, Place};
use crate::experiment::raw::RawMeasure;
use std::ops::Range;
use toml::Spanned;

impl Check<'_> {
    pub(super) fn measures(
        &self,
        raw: Vec<Spanned<RawMeasure>>,
        place: &Place,
        judging: Judging,
    ) -> Result<Vec<Measure>, Diagnostic> {
        let mut measures = Vec::new();
        for measure in raw {
            let span = measure.span();
            let checked = self.measure(span.clone(), measure.into_inner(), place, judging)?;
            measures.push((checked, span));
        }
        self.unique("measure", measures.iter().map(|(m, span)| (m.name.as_str(), span.clone())))?;
        if !measures.iter().any(|(measure, _)| measure.primary) {
            return Err(Diagnostic::new(self.file, "no [[measure]] is primary").help(
                "say with primary = true which measures the answer rests on, before the first run",
            ));
        }
        Ok(measures.into_iter().map(|(measure, _)| measure).collect())
    }

    fn measure(
        &self,
        span: Range<usize>,
        raw: RawMeasure,
        place: &Place,
        judging: Judging,
    ) -> Result<Measure, Diagnostic> {
        let from = self.source(span.clone(), &raw)?;
        let on_model = matches!(place, Place::Simulator);
        let of_command =
            matches!(from, From::Regex(_) | From::Json(_) | From::WallTime | From::Energy(_));
        if of_command && on_model {
            return Err(self
                .fault(span, format!("{} comes from a command, and the model runs none", raw.name))
                .help("journal = … and model = … are what the simulator measures"));
        }
        if matches!(from, From::Model { .. }) && !on_model {
            return Err(self
                .fault(span, "model = … is the simulator's; a command prints its own")
                .help("take it from the output with regex or json"));
        }
        let unit = match (&from, raw.unit.clone()) {
            (_, Some(unit)) if of_command => unit,
            (From::WallTime, None) => "s".to_owned(),
            (From::Energy(_), None) => "J".to_owned(),
            (From::Journal { what, .. }, None) => what.unit().to_owned(),
            (From::Model { what, .. }, None) => what.unit().to_owned(),
            (From::Regex(_) | From::Json(_), None) => {
                return Err(self.fault(span, format!("{} needs a unit", raw.name)));
            }
            (_, Some(_)) => {
                return Err(self
                    .fault(span, format!("the unit of {} is known", raw.name))
                    .help("leave unit away"));
            }
        };
        let compare = self.compare(span, &raw, &from, judging)?;
        let (better, primary) = (raw.better, raw.primary);
        Ok(Measure { name: raw.name, unit, from, better, primary, compare })
    }

    fn source(&self, span: Range<usize>, raw: &RawMeasure) -> Result<From, Diagnostic> {
        let mut all = Vec::new();
        let journal = |what| From::Journal { what, domain: raw.domain.clone() };
        all.extend(raw.journal.map(journal));
        if let Some(text) = &raw.regex {
            let expression = regex::Regex::new(text.get_ref())
                .map_err(|error| self.fault(text.span(), error.to_string()))?;
            if expression.captures_len() < 2 {
                return Err(self
                    .fault(text.span(), "the expression has no group")
                    .help("put the number into one: transferred \\(([0-9.]+) MiB/sec\\)"));
            }
            all.push(From::Regex(text.get_ref().clone()));
        }
        if let Some(pointer) = &raw.json {
            if !pointer.get_ref().is_empty() && !pointer.get_ref().starts_with('/') {
                return Err(self
                    .fault(pointer.span(), format!("{} is no JSON pointer", pointer.get_ref()))
                    .help("write it as /jobs/0/read/bw (RFC 6901)"));
            }
            all.push(From::Json(pointer.get_ref().clone()));
        }
        all.extend(raw.wall_time.then_some(From::WallTime));
        all.extend(raw.energy.clone().map(From::Energy));
        if let Some(what) = raw.model {
            let needs = what != ModelMeasure::ThroughputKbps;
            if needs != raw.domain.is_some() {
                let (message, help) = if needs {
                    ("which clock?", "add domain = \"ddr\"")
                } else {
                    ("the throughput is the workload's, not a domain's", "leave domain away")
                };
                return Err(self.fault(span, message).help(help));
            }
            all.push(From::Model { what, domain: raw.domain.clone() });
        }
        if raw.domain.is_some() && raw.journal.is_none() && raw.model.is_none() {
            return Err(self.fault(span, "a domain belongs to a measure of journal or model"));
        }
        match (all.len(), all.pop()) {
            (1, Some(from)) => Ok(from),
            _ => Err(self
                .fault(span, format!("{} comes from one place", raw.name))
                .help("one of journal, model, regex, json, wall_time = true, energy = NAME")),
        }
    }

    fn compare(
        &self,
        span: Range<usize>,
        raw: &RawMeasure,
        from: &From,
        judging: Judging,
    ) -> Result<Compare, Diagnostic> {
        let counts = match from {
            From::Journal { what, .. } => what.counts(),
            From::Model { what, .. } => what.counts(),
            _ => false,
        };
        match (&raw.smallest_effect_pct, &raw.smallest_effect) {
            (Some(_), Some(_)) => Err(self
                .fault(span, "smallest_effect_pct compares by ratio, smallest_effect by difference")
                .help("keep one of them")),
            (Some(pct), None) => {
                let pct =
                    self.ranged(Some(pct.clone()), 0.0, 0.0..=100.0, "smallest_effect_pct")?;
                Ok(Compare::Ratio { smallest_effect_pct: pct })
            }
            (None, Some(effect)) => {
                let effect =
                    self.ranged(Some(effect.clone()), 0.0, 0.0..=1e15, "smallest_effect")?;
                Ok(Compare::Difference { smallest_effect: effect })
            }
            (None, None) if counts && raw.primary => Err(self
                .fault(span, format!("{} may be 0, so it is compared by difference", raw.name))
                .help("say with smallest_effect which difference matters, in its unit")),
            (None, None) if counts => Ok(Compare::Difference { smallest_effect: 1.0 }),
            (None, None) => Ok(Compare::Ratio { smallest_effect_pct: judging.smallest_effect_pct }),
        }
    }
}
