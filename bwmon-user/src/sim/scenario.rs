//! Scenario files: a workload as data. TOML to a checked [`Workload`], once.

use super::shape::Shape;
use super::traffic::Kind;
use super::workload::{Phase, Stream, Workload};
use crate::diag::{Diagnostic, Place};
use crate::units::{Kbps, Nanos};
use serde::Deserialize;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    schema: Spanned<u32>,
    name: String,
    what: String,
    #[serde(default)]
    phase: Vec<RawPhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPhase {
    name: String,
    ms: Spanned<u64>,
    cpu_pct: Spanned<u32>,
    asleep_pct: Option<Spanned<u32>>,
    #[serde(default)]
    stream: Vec<Spanned<RawStream>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStream {
    #[serde(default)]
    dma: bool,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    #[serde(rename = "working_set_kB")]
    working_set_kb: Option<Spanned<u32>>,
    threads: Option<Spanned<u32>>,
    #[serde(rename = "demand_kBps")]
    demand: Option<Kbps>,
    #[serde(rename = "ramp_kBps")]
    ramp: Option<(Kbps, Kbps)>,
    square: Option<RawSquare>,
    bursts: Option<RawBursts>,
    trace: Option<RawTrace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSquare {
    #[serde(rename = "low_kBps")]
    low: Kbps,
    #[serde(rename = "high_kBps")]
    high: Kbps,
    high_us: u32,
    period_us: Spanned<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBursts {
    #[serde(rename = "low_kBps")]
    low: Kbps,
    #[serde(rename = "high_kBps")]
    high: Kbps,
    slot_us: Spanned<u32>,
    busy_pct: Spanned<u32>,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrace {
    journal: Spanned<String>,
    domain: String,
}

/// A trace that a scenario asks for.
pub struct TraceRequest<'a> {
    /// The journal's file, as the scenario names it.
    pub journal: &'a str,
    /// The domain whose peaks are to be played.
    pub domain: &'a str,
}

/// A trace: values and their distance.
pub type Trace = (Arc<[Kbps]>, Nanos);

/// Parses and checks the scenario `text`; `file` is its name in errors. Traces are had from `load`,
/// since this module reads no files.
///
/// # Errors
/// The first fault, with its line and what to do.
pub fn parse(
    file: &str,
    text: &str,
    load: &mut dyn FnMut(TraceRequest<'_>) -> Result<Trace, String>,
) -> Result<Workload, Diagnostic> {
    let raw: RawScenario =
        toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
    Check { file, text }.scenario(raw, load)
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
}

impl Check<'_> {
    fn fault(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::at_byte(self.text, span.start))
    }

    fn scenario(
        &self,
        raw: RawScenario,
        load: &mut dyn FnMut(TraceRequest<'_>) -> Result<Trace, String>,
    ) -> Result<Workload, Diagnostic> {
        if *raw.schema.get_ref() != 1 {
            let message = format!("scenario schema {} is not known", raw.schema.get_ref());
            return Err(self.fault(raw.schema.span(), message).help("this bwmon reads schema 1"));
        }
        let mut phases = Vec::new();
        for phase in raw.phase {
            phases.push(self.phase(phase, load)?);
        }
        Workload::new(raw.name, raw.what, phases).ok_or_else(|| {
            Diagnostic::new(self.file, "the scenario has no [[phase]]")
                .help("add a [[phase]] with name, ms, cpu_pct and its [[phase.stream]]s")
        })
    }

    fn phase(
        &self,
        raw: RawPhase,
        load: &mut dyn FnMut(TraceRequest<'_>) -> Result<Trace, String>,
    ) -> Result<Phase, Diagnostic> {
        let ms = *raw.ms.get_ref();
        if ms == 0 || ms > 86_400_000 {
            return Err(self
                .fault(raw.ms.span(), format!("a phase of {ms} ms"))
                .help("give 1 to 86400000 (a day)"));
        }
        let cpu_pct = *raw.cpu_pct.get_ref();
        if cpu_pct > 100 {
            return Err(self.fault(raw.cpu_pct.span(), format!("{cpu_pct} % of the CPUs")));
        }
        let asleep_pct = raw.asleep_pct.as_ref().map_or(0, |share| *share.get_ref());
        if let Some(share) = raw.asleep_pct.filter(|_| asleep_pct + cpu_pct > 100) {
            let message = format!("{cpu_pct} % busy and {asleep_pct} % powered down");
            return Err(self.fault(share.span(), message).help("together they are at most 100 %"));
        }
        let mut streams = Vec::new();
        for stream in raw.stream {
            streams.push(self.stream(stream, load)?);
        }
        let length = Nanos(ms * Nanos::PER_MS);
        Ok(Phase { name: raw.name, length, cpu_pct, asleep_pct, streams })
    }

    fn stream(
        &self,
        raw: Spanned<RawStream>,
        load: &mut dyn FnMut(TraceRequest<'_>) -> Result<Trace, String>,
    ) -> Result<Stream, Diagnostic> {
        let span = raw.span();
        let raw = raw.into_inner();
        let (dma, kind) = (raw.dma, raw.kind);
        let working_set = raw.working_set_kb.as_ref().map(|set| *set.get_ref());
        if let Some(set) = raw.working_set_kb.as_ref().filter(|set| *set.get_ref() == 0) {
            return Err(self.fault(set.span(), "a working set of 0 kB"));
        }
        let threads = raw.threads.as_ref().map_or(Stream::ALL_THREADS, |n| *n.get_ref());
        if let Some(n) =
            raw.threads.as_ref().filter(|n| !(1..=Stream::ALL_THREADS).contains(n.get_ref()))
        {
            let message = format!("{} threads", n.get_ref());
            return Err(self
                .fault(n.span(), message)
                .help(format!("give 1 to {}", Stream::ALL_THREADS)));
        }
        let shape = self.shape(&span, raw, load)?;
        match (dma, kind, working_set) {
            (true, None, None) if shape != Shape::Unbounded => Ok(Stream::dma(shape)),
            (true, ..) => Err(self
                .fault(span, "a dma stream has a demand, and neither type nor working_set_kB")
                .help("DMA goes to memory whatever it is; give demand_kBps, ramp_kBps, …")),
            (false, Some(kind), Some(set)) => Ok(Stream::cpu(kind, set, threads, shape)),
            (false, ..) => Err(self
                .fault(span, "a stream needs type and working_set_kB, or dma = true")
                .help("type is one of R/seq, W/seq, R/rnd, W/rnd")),
        }
    }

    fn shape(
        &self,
        span: &Range<usize>,
        raw: RawStream,
        load: &mut dyn FnMut(TraceRequest<'_>) -> Result<Trace, String>,
    ) -> Result<Shape, Diagnostic> {
        let mut shapes = Vec::new();
        shapes.extend(raw.demand.map(Shape::Constant));
        shapes.extend(raw.ramp.map(|(from, to)| Shape::Ramp(from, to)));
        if let Some(square) = raw.square {
            shapes.push(self.square(square)?);
        }
        if let Some(bursts) = raw.bursts {
            shapes.push(self.bursts(bursts)?);
        }
        if let Some(trace) = raw.trace {
            let request = TraceRequest { journal: trace.journal.get_ref(), domain: &trace.domain };
            let (values, step) =
                load(request).map_err(|error| self.fault(trace.journal.span(), error))?;
            shapes.push(Shape::Trace { values, step });
        }
        if shapes.len() > 1 {
            return Err(self
                .fault(span.clone(), "a stream has one demand")
                .help("keep one of demand_kBps, ramp_kBps, square, bursts, trace"));
        }
        Ok(shapes.pop().unwrap_or(Shape::Unbounded))
    }

    fn square(&self, raw: RawSquare) -> Result<Shape, Diagnostic> {
        let period_us = *raw.period_us.get_ref();
        if period_us == 0 || raw.high_us > period_us {
            return Err(self.fault(
                raw.period_us.span(),
                format!("a pulse of {} us in a period of {period_us} us", raw.high_us),
            ));
        }
        Ok(Shape::Square { low: raw.low, high: raw.high, high_us: raw.high_us, period_us })
    }

    fn bursts(&self, raw: RawBursts) -> Result<Shape, Diagnostic> {
        let (slot_us, busy_pct) = (*raw.slot_us.get_ref(), *raw.busy_pct.get_ref());
        if slot_us == 0 {
            return Err(self.fault(raw.slot_us.span(), "slots of 0 us"));
        }
        if busy_pct > 100 {
            return Err(self.fault(raw.busy_pct.span(), format!("{busy_pct} % of the slots")));
        }
        Ok(Shape::Bursts { low: raw.low, high: raw.high, slot_us, busy_pct, seed: raw.seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "schema = 1
name = \"x\"
what = \"a test\"
[[phase]]
name = \"a\"
ms = 100
cpu_pct = 50
[[phase.stream]]
type = \"W/seq\"
working_set_kB = 64
demand_kBps = 5
";

    fn none(_: TraceRequest<'_>) -> Result<Trace, String> {
        Err("no journal here".into())
    }

    fn refused(from: &str, to: &str) -> (usize, String) {
        assert!(GOOD.contains(from));
        let fault = parse("s.toml", &GOOD.replacen(from, to, 1), &mut none).unwrap_err();
        (fault.place.map_or(0, |place| place.line), fault.message)
    }

    #[test]
    fn a_good_file_gives_a_workload() {
        let workload = parse("s.toml", GOOD, &mut none).unwrap();
        assert_eq!(workload.length(), Nanos(100 * Nanos::PER_MS));
        assert_eq!(workload.phases().len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(refused("ms = 100", "ms = 0").0, 6);
        assert_eq!(refused("ms = 100", "ms = -5").0, 6);
        assert_eq!(refused("cpu_pct = 50", "cpu_pct = 500").0, 7);
        assert_eq!(refused("cpu_pct = 50", "cpu_pct = 50\nasleep_pct = 60").0, 8);
        assert_eq!(refused("working_set_kB = 64", "working_set_kB = 0").0, 10);
        assert_eq!(refused("demand_kBps = 5", "demand_kBps = -5").0, 11);
        let (line, message) = refused("demand_kBps = 5", "demand = 5");
        assert_eq!(line, 11);
        assert!(message.contains("demand_kBps"), "{message}");
        assert!(refused("W/seq", "W/sec").1.contains("W/seq"));
        assert_eq!(refused("demand_kBps = 5", "demand_kBps = 5\nramp_kBps = [1, 2]").0, 8);
        assert_eq!(refused("type = \"W/seq\"\n", "").0, 8);
        assert_eq!(refused("type", "dma = true\ntype").0, 8);
        assert_eq!(refused("schema = 1", "schema = 3").0, 1);
        let square = "square = { low_kBps = 1, high_kBps = 2, high_us = 9, period_us = 0 }";
        assert_eq!(refused("demand_kBps = 5", square).0, 11);
        let trace = "trace = { journal = \"j\", domain = \"ddr\" }";
        assert_eq!(refused("demand_kBps = 5", trace), (11, "no journal here".into()));
    }

    #[test]
    fn a_file_without_phases_is_refused() {
        let end = GOOD.find("[[phase]]").unwrap();
        assert!(parse("s.toml", &GOOD[..end], &mut none).is_err());
    }
}
