//! `series = [ … ]`: the steps of a scenario, checked against the board.

use super::parse::MAX_MS;
use super::raw::{RawSquare, RawStep};
use super::series::{Lane, Load, Series, Step};
use super::text::{Bytes, Text};
use super::value::{Flag, PerDomain, Profile, Whole};
use crate::board::{Board, Domain};
use crate::bwmon::COUNT_MAX;
use crate::diag::Diagnostic;
use crate::sim::Shape;
use crate::units::{Kbps, Khz, Nanos};
use toml::Spanned;

/// Steps of a series.
const MAX_STEPS: usize = 1_000;

/// A bandwidth beyond any bus; probes may report what they like below it.
const MAX_KBPS: u64 = 1_000_000_000_000;

/// Checks the steps of a series at `span`, whose ticks are `period_ms` apart.
pub(super) fn series(
    text: Text<'_>,
    board: &Board,
    period_ms: u64,
    raw: Spanned<Vec<Spanned<RawStep>>>,
) -> Result<Series, Diagnostic> {
    let span = raw.span();
    let raw = raw.into_inner();
    if raw.is_empty() {
        return Err(text
            .fault(&span, "the series has no steps")
            .help("write for example: series = [{ ms = 200, peak_kBps = 3_000_000 }]"));
    }
    if raw.len() > MAX_STEPS {
        let message = format!("the series has {} steps, at most {MAX_STEPS} are read", raw.len());
        return Err(text.fault(&span, message));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(raw.len());
    for raw in raw {
        let start = steps.last().map_or(Nanos(0), |step| step.start.plus(step.length));
        let check = Check { text, board, period_ms, span: raw.span() };
        let step = check.step(raw.into_inner(), start)?;
        if let Some(name) = &step.name
            && steps.iter().any(|other| other.name.as_ref() == Some(name))
        {
            return Err(text.fault(&check.span, format!("a second step is called \"{name}\"")));
        }
        steps.push(step);
    }
    Ok(Series { steps })
}

struct Check<'a> {
    text: Text<'a>,
    board: &'a Board,
    period_ms: u64,
    span: Bytes,
}

impl Check<'_> {
    fn step(&self, raw: RawStep, start: Nanos) -> Result<Step, Diagnostic> {
        let Whole(ms) = *raw.ms.get_ref();
        if ms == 0 || !ms.is_multiple_of(self.period_ms) {
            let period = self.period_ms;
            let near = (ms / period * period).max(period);
            return Err(self
                .text
                .fault(&raw.ms.span(), format!("a step of {ms} ms in ticks of {period} ms"))
                .help(format!("give a multiple of {period}, {near} for example")));
        }
        if ms > MAX_MS {
            let message = format!("a step of {ms} ms, at most {MAX_MS} are simulated");
            return Err(self.text.fault(&raw.ms.span(), message));
        }
        self.check_names(&raw)?;
        let mut lanes = Vec::with_capacity(self.board.domains.len());
        let length = Nanos(ms * Nanos::PER_MS);
        for domain in &self.board.domains {
            lanes.push(self.lane(&raw, domain)?);
        }
        self.check_shared(&lanes)?;
        let cpu_max = raw.cpu_max.as_ref().map(|khz| Khz(khz.get_ref().0));
        Ok(Step { name: raw.name, start, length, lanes, cpu_max })
    }

    /// Every domain that the step names exists, and has what it is named for.
    fn check_names(&self, raw: &RawStep) -> Result<(), Diagnostic> {
        let flags = [&raw.saturated, &raw.missing, &raw.interrupt].into_iter().flatten();
        let flags = flags.flat_map(|flag| {
            flag.get_ref().names().iter().map(move |name| (flag.span(), name.as_str(), true))
        });
        let peaks = raw.peak.iter().flat_map(|value| named(value, true));
        let others = raw.others.iter().flat_map(|value| named(value, false));
        let kernel = raw.kernel.iter().flat_map(|value| named(value, true));
        for (span, name, measured) in flags.chain(peaks).chain(others).chain(kernel) {
            let Some(domain) = self.board.domains.iter().find(|domain| domain.name == name) else {
                let known = self.board.domains.iter().map(|domain| domain.name.as_str());
                return Err(self.text.unknown(&span, "domain", name, known));
            };
            if measured && domain.monitor.is_none() {
                return Err(self
                    .text
                    .fault(&span, format!("no monitor reads the domain \"{name}\""))
                    .help("a reading can be given for domains with a monitor only"));
            }
        }
        let says = raw.peak.is_some() || raw.square.is_some();
        if says || set(&raw.saturated) || set(&raw.missing) {
            return Ok(());
        }
        Err(self
            .text
            .fault(&self.span, "the step does not say what the monitors read")
            .help("give peak_kBps, square, saturated = true, or missing = true"))
    }

    fn lane(&self, raw: &RawStep, domain: &Domain) -> Result<Lane, Diagnostic> {
        let name = domain.name.as_str();
        let value = |of: &Option<Spanned<PerDomain<Whole>>>| {
            of.as_ref().and_then(|of| of.get_ref().get(name)).map(|Whole(kbps)| Kbps(*kbps))
        };
        let (others, kernel) = (value(&raw.others), value(&raw.kernel));
        for (kbps, at) in [(others, &raw.others), (kernel, &raw.kernel)] {
            if let (Some(Kbps(kbps)), Some(at)) = (kbps, at)
                && kbps > MAX_KBPS
            {
                return Err(self.text.fault(&at.span(), format!("{kbps} kBps is beyond any bus")));
            }
        }
        if domain.monitor.is_none() {
            return Ok(Lane { load: Load::Missing, interrupt: false, kernel: None, others });
        }
        let load = self.load(raw, domain)?;
        let interrupt = flag(&raw.interrupt, name);
        if interrupt && load == Load::Missing {
            let message = format!("an interrupt without a reading for \"{name}\"");
            return Err(self.text.fault(&self.span, message));
        }
        if let (Some(_), false, Some(at)) = (kernel, interrupt, &raw.kernel) {
            return Err(self
                .text
                .fault(&at.span(), "kernel_kBps without interrupt = true")
                .help("the kernel's choice comes with its driver's readings"));
        }
        Ok(Lane { load, interrupt, kernel, others })
    }

    /// The one thing that is said of what `domain` reads; nothing said is no reading.
    fn load(&self, raw: &RawStep, domain: &Domain) -> Result<Load, Diagnostic> {
        let name = domain.name.as_str();
        let mut loads = Vec::new();
        let mut peaked = false;
        if let Some(peak) = &raw.peak
            && let Some(profile) = peak.get_ref().get(name)
        {
            peaked = matches!(peak.get_ref(), PerDomain::Each(_));
            loads.push(("peak_kBps", Load::Shape(self.shape(&peak.span(), *profile, domain)?)));
        }
        // A square is for the domains that peak_kBps does not name.
        if let Some(square) = raw.square.as_ref().filter(|_| !peaked) {
            loads.push((
                "square",
                Load::Shape(self.square(&square.span(), square.get_ref(), domain)?),
            ));
        }
        if flag(&raw.saturated, name) {
            loads.push(("saturated", Load::Saturated));
        }
        if flag(&raw.missing, name) {
            loads.push(("missing", Load::Missing));
        }
        if let [(first, _), (second, _), ..] = loads.as_slice() {
            return Err(self
                .text
                .fault(&self.span, format!("both {first} and {second} for the domain \"{name}\""))
                .help("a monitor reads one thing at a time; keep one of them"));
        }
        Ok(loads.pop().map_or(Load::Missing, |(_, load)| load))
    }

    fn shape(&self, span: &Bytes, profile: Profile, domain: &Domain) -> Result<Shape, Diagnostic> {
        let shape = match profile {
            Profile::Constant(kbps) => Shape::Constant(Kbps(kbps)),
            Profile::Ramp(from, to) => Shape::Ramp(Kbps(from), Kbps(to)),
        };
        let most = match profile {
            Profile::Constant(kbps) => kbps,
            Profile::Ramp(from, to) => from.max(to),
        };
        self.countable(span, most, domain)?;
        Ok(shape)
    }

    fn square(&self, span: &Bytes, raw: &RawSquare, domain: &Domain) -> Result<Shape, Diagnostic> {
        let us = |Whole(us): Whole| u32::try_from(us).ok();
        let (Some(high_us), Some(period_us)) = (us(raw.high_us), us(*raw.period_us.get_ref()))
        else {
            return Err(self.text.fault(span, "a square longer than an hour"));
        };
        if period_us == 0 || high_us > period_us {
            let message = format!("a pulse of {high_us} us in a period of {period_us} us");
            return Err(self.text.fault(&raw.period_us.span(), message));
        }
        self.countable(span, raw.high.0.max(raw.low.0), domain)?;
        Ok(Shape::Square { low: Kbps(raw.low.0), high: Kbps(raw.high.0), high_us, period_us })
    }

    /// Whether the monitor of `domain` can count `kbps`.
    fn countable(&self, span: &Bytes, kbps: u64, domain: &Domain) -> Result<(), Diagnostic> {
        let Some(monitor) = self.board.monitor_of(domain) else { return Ok(()) };
        let most = monitor.scale.kbps(COUNT_MAX);
        if kbps < most.0 {
            return Ok(());
        }
        let message = format!("{kbps} kBps fills the counter of \"{}\" ({most} kBps)", domain.name);
        Err(self.text.fault(span, message).help("write saturated = true for a full counter"))
    }

    /// Domains with one monitor read the same.
    fn check_shared(&self, lanes: &[Lane]) -> Result<(), Diagnostic> {
        let measured = || self.board.domains.iter().zip(lanes).filter(|(d, _)| d.monitor.is_some());
        for (one, lane) in measured() {
            let other = measured().find(|(other, of)| {
                other.monitor == one.monitor
                    && (&of.load, of.interrupt) != (&lane.load, lane.interrupt)
            });
            if let Some((other, _)) = other {
                return Err(self.text.fault(
                    &self.span,
                    format!(
                        "\"{}\" and \"{}\" have one monitor: they read the same",
                        one.name, other.name
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// The domains that a value names, with the value's place.
fn named<T>(
    value: &Spanned<PerDomain<T>>,
    measured: bool,
) -> impl Iterator<Item = (Bytes, &str, bool)> {
    value.get_ref().names().map(move |name| (value.span(), name, measured))
}

fn flag(of: &Option<Spanned<Flag>>, name: &str) -> bool {
    of.as_ref().is_some_and(|of| of.get_ref().is_set(name))
}

/// Whether a flag is true for any domain.
fn set(of: &Option<Spanned<Flag>>) -> bool {
    of.as_ref().is_some_and(|of| match of.get_ref() {
        Flag::All(all) => *all,
        Flag::Of(names) => !names.is_empty(),
    })
}
