//! What the agent's journal tells of a run: figures of the span that counts, and disturbances.

use crate::board::{Board, Level};
use crate::experiment::{Meter, Ticked};
use crate::journal::Header;
use crate::lab::trace::Tracer;
use crate::sample::{Reading, Sample};
use crate::units::{Kbps, Nanos};
use crate::vote::Applied;
use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// A tick's line, as far as it is looked at here.
#[derive(Debug, Deserialize)]
struct Entry {
    sample: Sample,
    domains: Vec<DomainEntry>,
}

#[derive(Debug, Deserialize)]
struct DomainEntry {
    name: String,
    #[serde(rename = "peak_kBps")]
    peak_kbps: Option<Kbps>,
    #[serde(default)]
    fault: Option<String>,
    decision: Decided,
    applied: Option<Applied>,
}

#[derive(Debug, Deserialize)]
struct Decided {
    level: Option<Level>,
    reason: String,
}

/// Whose levels are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The agent's own.
    Agents,
    /// Those of the kernel's driver, as its updates tell them; the agent only looks on.
    Kernels,
}

/// A span of the journal's own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    /// The sample after which it begins.
    pub(super) begin: Nanos,
    /// The sample with which it ends.
    pub(super) end: Nanos,
}

/// What a journal tells.
#[derive(Debug)]
pub(super) struct Told {
    /// Figures of the span.
    pub(super) meter: Meter,
    /// How the span looked, for charts.
    pub(super) tracer: Tracer,
    /// What makes the run void.
    pub(super) disturbed: Option<String>,
    /// For the run's conditions.
    pub(super) facts: BTreeMap<String, Value>,
}

/// Reads the journal `path` and counts `span`.
///
/// # Errors
/// When it cannot be read or has no header. A last line that was cut off is left away.
pub(super) fn read(path: &Path, span: Span, whose: Whose) -> anyhow::Result<Told> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut input = BufReader::new(file);
    let header = header(path, &mut input)?;
    let mut walk = Walk::new(&header, span, whose);
    let mut line = String::new();
    loop {
        line.clear();
        let read = input.read_line(&mut line).with_context(|| path.display().to_string())?;
        if read == 0 || !line.ends_with('\n') {
            return Ok(walk.told(&header));
        }
        if !line.starts_with(r#"{"note":"#) {
            let entry = serde_json::from_str(&line);
            walk.entry(&entry.with_context(|| format!("{}: {line}", path.display()))?);
        }
    }
}

/// The header of the journal `path`.
///
/// # Errors
/// When there is none.
pub(super) fn header_of(path: &Path) -> anyhow::Result<Header> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    header(path, &mut BufReader::new(file))
}

fn header(path: &Path, input: &mut impl BufRead) -> anyhow::Result<Header> {
    let mut line = String::new();
    input.read_line(&mut line).with_context(|| path.display().to_string())?;
    if !line.ends_with('\n') {
        bail!("{} has no header", path.display());
    }
    serde_json::from_str(&line).with_context(|| format!("the header of {}", path.display()))
}

/// When the last sample in the end of a journal was taken.
pub(super) fn last_moment(tail: &str) -> Option<Nanos> {
    #[derive(Deserialize)]
    struct Timed {
        sample: Sample,
    }
    let whole = tail.rsplit_once('\n')?.0;
    let times = whole.lines().rev().filter_map(|line| serde_json::from_str::<Timed>(line).ok());
    times.map(|timed| timed.sample.window.end_ns).next()
}

struct Walk<'a> {
    board: &'a Board,
    span: Span,
    whose: Whose,
    meter: Meter,
    tracer: Tracer,
    levels: Vec<Option<Level>>,
    begun: bool,
    last_tick: Option<u64>,
    ticks: u64,
    missed: u64,
    not_honoured: BTreeSet<String>,
    disturbed: Option<String>,
}

impl<'a> Walk<'a> {
    fn new(header: &'a Header, span: Span, whose: Whose) -> Self {
        let levels = match whose {
            Whose::Agents => header.levels.clone(),
            Whose::Kernels => vec![None; header.board.domains.len()],
        };
        Self {
            board: &header.board,
            span,
            whose,
            meter: Meter::new(&header.board),
            tracer: Tracer::default(),
            levels,
            begun: false,
            last_tick: None,
            ticks: 0,
            missed: 0,
            not_honoured: BTreeSet::new(),
            disturbed: None,
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let window = entry.sample.window;
        let counts = window.start_ns >= self.span.begin && window.end_ns <= self.span.end;
        if counts && !self.begun {
            self.begun = true;
            for (index, level) in self.levels.iter().enumerate() {
                self.meter.settled(index, *level);
            }
        }
        for (index, domain) in entry.domains.iter().enumerate() {
            let level = self.level(index, &entry.sample, domain);
            if let Some(known) = self.levels.get_mut(index) {
                *known = level.or(*known);
            }
            if counts {
                let span = window.end_ns.since(window.start_ns);
                let (peak, fault) = (domain.peak_kbps, domain.fault.is_some());
                self.meter.tick(index, Ticked { span, peak, level, fault });
                let vote = self.levels.get(index).copied().flatten();
                let vote = vote.map(|level| self.meter.kbps_of(index, level));
                self.tracer.tick(index, &domain.name, window.end_ns, peak, vote);
            }
            // A domain that was given up before the span stays so.
            if window.end_ns <= self.span.end {
                self.disturbance(domain, counts);
            }
        }
        if counts {
            self.grid(&entry.sample);
        }
    }

    /// The level that `domain` is at after this tick, where it is known.
    fn level(&self, index: usize, sample: &Sample, domain: &DomainEntry) -> Option<Level> {
        if self.whose == Whose::Agents {
            return domain
                .applied
                .as_ref()
                .filter(|said| said.in_force())
                .and(domain.decision.level);
        }
        let domain = self.board.domains.get(index)?;
        let Some(Reading::Kernel { up_kbps, .. }) = sample.monitors.get(domain.monitor?) else {
            return None;
        };
        // The driver wakes one kBps above the level that it chose.
        let chosen = Kbps(up_kbps.0.checked_sub(1)?);
        let level = domain.table.ceil(chosen);
        (domain.table.kbps_of(level) == chosen).then_some(level)
    }

    fn disturbance(&mut self, domain: &DomainEntry, counts: bool) {
        let name = &domain.name;
        let what = match &domain.applied {
            Some(Applied::Foreign { what }) => Some(format!("{name}: {what}")),
            Some(Applied::Gone { what }) => Some(format!("{name}: {what} vanished")),
            Some(Applied::Refused { why }) if counts => Some(format!("{name}: {why}")),
            Some(Applied::Clamped { found }) if counts => {
                Some(format!("{name}: the vote was clamped to {found} by somebody else's limit"))
            }
            Some(Applied::NotHonoured { found }) => {
                self.not_honoured.insert(format!("{name}: runs at {found}"));
                None
            }
            _ => match domain.decision.reason.as_str() {
                "manual" => Some(format!("{name}: somebody else votes")),
                "gone" => Some(format!("{name}: its device vanished")),
                _ => None,
            },
        };
        if self.whose == Whose::Agents && self.disturbed.is_none() {
            self.disturbed = what;
        }
    }

    fn grid(&mut self, sample: &Sample) {
        self.ticks += 1;
        if let Some(last) = self.last_tick {
            self.missed += sample.tick.saturating_sub(last + 1);
        }
        self.last_tick = Some(sample.tick);
        if sample.probes.slept_ns.0 > 0 && self.disturbed.is_none() {
            let ms = sample.probes.slept_ns.as_ms();
            self.disturbed = Some(format!("the machine was suspended for {ms} ms"));
        }
    }

    fn told(self, header: &Header) -> Told {
        let policy = &header.policy;
        let mut facts: BTreeMap<String, Value> = [
            ("mode", json!(header.mode)),
            ("policy", json!(policy.name)),
            ("policy_digest", json!(policy.digest)),
            ("params", json!(policy.params)),
            ("program", json!(header.program)),
            ("ticks", json!(self.ticks)),
            ("missed_ticks", json!(self.missed)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        if !self.not_honoured.is_empty() {
            facts.insert("not_honoured".into(), json!(self.not_honoured));
        }
        let nothing = "the agent's journal has no tick of the time that counts".to_owned();
        let blind = self.ticks == 0 && self.whose == Whose::Agents;
        let disturbed = self.disturbed.or(blind.then_some(nothing));
        Told { meter: self.meter, tracer: self.tracer, disturbed, facts }
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
