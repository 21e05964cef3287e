//! What happened in a scenario, tick by tick: the journal of a run as values to judge.

use super::series::Series;
use crate::board::{Board, Level, OppTable};
use crate::governor::Origin;
use crate::journal::{EntryView, JournalError};
use crate::policy::Why;
use crate::ports::JournalSink;
use crate::units::{Kbps, Nanos};
use std::sync::Arc;

/// One domain at one tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// What the monitor read.
    pub(super) reading: Option<Kbps>,
    /// What the series showed it, where that is known.
    pub(super) shown: Option<Kbps>,
    /// The level in force from the end of the tick on.
    pub(super) level: Level,
    /// It changed at the end of this tick.
    pub(super) changed: bool,
    /// The policy's reason; `None` if it was not the policy that proposed.
    pub(super) why: Option<Why>,
}

impl Seen {
    /// The lowest level that carries the reading.
    pub(super) fn need(&self, table: &OppTable) -> Option<Level> {
        self.reading.map(|kbps| table.ceil(kbps))
    }

    /// What is said of the demand: what the operator wrote, and what a counter made of it.
    pub(super) fn demand(&self) -> String {
        match (self.shown, self.reading) {
            (Some(shown), Some(read)) if shown != read => format!("{shown} kBps (read as {read})"),
            (Some(kbps), _) | (None, Some(kbps)) => format!("{kbps} kBps"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

/// A fault of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FirstFault {
    pub(super) at_ms: u64,
    pub(super) domain: String,
    pub(super) line: String,
}

/// The story of one run.
#[derive(Debug)]
pub(super) struct History {
    pub(super) board: Arc<Board>,
    pub(super) period_ms: u64,
    /// One list for each domain, one entry for each tick.
    pub(super) domains: Vec<Vec<Seen>>,
    /// Whether a step begins with the tick.
    pub(super) begins: Vec<bool>,
    pub(super) faults: u64,
    pub(super) first_fault: Option<FirstFault>,
    /// Time in which each domain's clock held traffic back; empty for a series.
    pub(super) held_back_ms: Vec<u64>,
    series: Option<Arc<Series>>,
}

impl History {
    pub(super) fn new(board: Arc<Board>, period_ms: u64, series: Option<Arc<Series>>) -> Self {
        Self {
            domains: vec![Vec::new(); board.domains.len()],
            board,
            period_ms,
            begins: Vec::new(),
            faults: 0,
            first_fault: None,
            held_back_ms: Vec::new(),
            series,
        }
    }

    /// When tick `index` begins.
    pub(super) fn start_ms(&self, index: usize) -> u64 {
        index as u64 * self.period_ms
    }

    /// When tick `index` ends, and its decision is in force.
    pub(super) fn end_ms(&self, index: usize) -> u64 {
        self.start_ms(index + 1)
    }

    /// The ticks whose decisions fall after `from_ms` and not after `to_ms`.
    pub(super) fn ticks(&self, from_ms: u64, to_ms: u64) -> std::ops::Range<usize> {
        let period = self.period_ms.max(1);
        (from_ms / period) as usize..((to_ms / period) as usize).min(self.begins.len())
    }

    /// What the series shows the monitor of `domain` in the window that ends with a tick.
    fn shown(&self, domain: usize, start: Nanos, end: Nanos) -> Option<Kbps> {
        let described = self.board.domains.get(domain)?;
        let window = self.board.monitor_of(described)?.scale.window();
        let peak = self.series.as_ref()?.peak(domain, start, end, window)?;
        peak.is_finite().then(|| Kbps(peak.ceil() as u64))
    }
}

impl JournalSink for History {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        let window = entry.sample().window;
        let begins = self.series.as_ref().is_some_and(|s| s.begins_at(window.start_ns));
        self.begins.push(begins);
        for (index, (name, tick, answer)) in entry.domains().enumerate() {
            if let Origin::Fault(fault) = &tick.origin {
                self.faults += 1;
                self.first_fault.get_or_insert_with(|| FirstFault {
                    at_ms: window.end_ns.as_ms(),
                    domain: name.to_owned(),
                    line: fault.line(),
                });
            }
            let reading = tick.observation.measured.map(|measured| measured.peak_kbps);
            let shown = reading.and_then(|_| self.shown(index, window.start_ns, window.end_ns));
            let in_force = answer.is_some_and(|answer| answer.in_force());
            let vote = tick.vote.filter(|_| in_force);
            let Some(seen) = self.domains.get_mut(index) else { continue };
            let before = seen.last().map_or(Level::LOWEST, |seen| seen.level);
            seen.push(Seen {
                reading,
                shown,
                level: vote.map_or(before, |vote| vote.level),
                changed: vote.is_some_and(|vote| vote.change),
                why: (tick.origin == Origin::Policy).then(|| tick.proposal.why.clone()),
            });
        }
        Ok(())
    }
}
