//! What a scenario feeds: a series of steps, or a workload of the simulator.

use super::raw::{Maybe, RawStep};
use super::series::Series;
use super::text::{Bytes, Text};
use super::value::Whole;
use super::{Files, steps};
use crate::board::Board;
use crate::diag::Diagnostic;
use crate::sim::{CpufreqVotes, Workload, builtin_workload, builtin_workload_names, scenario};
use std::sync::Arc;
use toml::Spanned;

#[derive(Debug)]
pub(super) enum Input {
    Series(Arc<Series>),
    Workload { workload: Workload, votes: CpufreqVotes },
}

/// The keys of a scenario that say what is fed.
pub(super) struct RawInput {
    pub(super) series: Maybe<Vec<Spanned<RawStep>>>,
    pub(super) workload: Maybe<String>,
    pub(super) ms: Maybe<Whole>,
    pub(super) cpufreq_votes: Maybe<String>,
}

impl RawInput {
    /// The input of the scenario at `at`, and its length in ticks of `period_ms`.
    pub(super) fn check(
        self,
        text: Text<'_>,
        board: &Board,
        period_ms: u64,
        at: &Bytes,
        files: &mut dyn Files,
    ) -> Result<(Input, u64), Diagnostic> {
        match (self.series, self.workload) {
            (Some(series), None) => {
                let ms = self.ms.map(|ms| (ms.span(), "ms"));
                let votes = self.cpufreq_votes.map(|votes| (votes.span(), "cpufreq_votes"));
                if let Some((span, key)) = ms.or(votes) {
                    return Err(text
                        .fault(&span, format!("{key} is for workloads"))
                        .help("a series says all of it in its steps"));
                }
                let series = steps::series(text, board, period_ms, series)?;
                let end_ms = series.steps.last().map_or(0, |s| s.start.plus(s.length).as_ms());
                Ok((Input::Series(Arc::new(series)), end_ms / period_ms))
            }
            (None, Some(name)) => {
                let workload = workload(text, &name, files)?;
                let given = self.ms.as_ref().map(|ms| ms.get_ref().0);
                let length_ms = given.unwrap_or(workload.length().as_ms());
                let ticks = length_ms / period_ms;
                if ticks == 0 {
                    let span = self.ms.map_or(name.span(), |ms| ms.span());
                    let message = format!("{length_ms} ms are less than a tick of {period_ms} ms");
                    return Err(text.fault(&span, message));
                }
                let votes = votes(text, &self.cpufreq_votes)?;
                Ok((Input::Workload { workload, votes }, ticks))
            }
            (Some(_), Some(workload)) => Err(text
                .fault(&workload.span(), "both a series and a workload")
                .help("a scenario has one of them; make it two")),
            (None, None) => Err(text
                .fault(at, "the scenario has no input")
                .help("give a series of steps, or a workload of the simulator")),
        }
    }
}

fn workload(
    text: Text<'_>,
    name: &Spanned<String>,
    files: &mut dyn Files,
) -> Result<Workload, Diagnostic> {
    let word = name.get_ref();
    if let Some(workload) = builtin_workload(word) {
        return Ok(workload);
    }
    if !word.ends_with(".toml") {
        return Err(text.unknown(&name.span(), "workload", word, builtin_workload_names()));
    }
    let read = files.read(word).map_err(|error| text.fault(&name.span(), error))?;
    let traces = &mut |_: scenario::TraceRequest<'_>| Err("a spec plays no traces".to_owned());
    scenario::parse(word, &read, traces)
}

fn votes(text: Text<'_>, votes: &Maybe<String>) -> Result<CpufreqVotes, Diagnostic> {
    const KNOWN: [(&str, CpufreqVotes); 3] = [
        ("none", CpufreqVotes::None),
        ("ungoverned", CpufreqVotes::Ungoverned),
        ("all", CpufreqVotes::All),
    ];
    let Some(votes) = votes else { return Ok(CpufreqVotes::Ungoverned) };
    let name = votes.get_ref().as_str();
    let found = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, votes)| *votes);
    found.ok_or_else(|| {
        let known = KNOWN.iter().map(|(known, _)| *known);
        text.unknown(&votes.span(), "choice of cpufreq_votes", name, known)
    })
}
