//! A governor on readings that say a demand.

use super::demand::Track;
use crate::board::{Board, Level};
use crate::bwmon::ZoneMaxima;
use crate::decide::{Rails, Reason, Unvoted};
use crate::governor::{Governor, Origin};
use crate::policy::{Policy, PolicyFault};
use crate::sample::{Missing, ProbeFacts, Reading, Sample, Window};
use crate::units::Nanos;
use crate::vote::Applied;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The policy faulted: the native rule stands in from here on, so that nothing more is told.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) domain: usize,
    pub(super) fault: PolicyFault,
}

/// A policy that governs.
pub(super) struct Drive {
    governor: Governor,
    /// One count for each monitor of the board.
    counts: Vec<Option<u16>>,
    now: Nanos,
    tick: u64,
    /// Calls of the policy so far.
    pub(super) calls: usize,
    /// Levels that were chosen, for each domain.
    chosen: Vec<BTreeSet<Level>>,
}

impl Drive {
    pub(super) fn new(board: &Arc<Board>, policy: Box<dyn Policy>, tracks: &[Track]) -> Self {
        let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
        let mut drive = Self {
            governor: Governor::new(board.clone(), policy, rails, &[]),
            counts: vec![None; board.monitors.len()],
            now: Nanos(0),
            tick: 0,
            calls: 0,
            chosen: vec![BTreeSet::new(); board.domains.len()],
        };
        for track in tracks {
            drive.ask(track, Some(0));
        }
        drive
    }

    /// From now on the monitor of `track` counts this much in each window.
    pub(super) fn ask(&mut self, track: &Track, count: Option<u16>) {
        if let Some(place) = self.counts.get_mut(track.monitor) {
            *place = count;
        }
    }

    /// The level in force.
    pub(super) fn level(&self, track: &Track) -> Level {
        self.governor.level(track.domain).unwrap_or(Level::LOWEST)
    }

    /// Levels that were chosen so far.
    pub(super) fn chosen(&self, track: &Track) -> BTreeSet<Level> {
        self.chosen.get(track.domain).cloned().unwrap_or_default()
    }

    /// One tick, `period` after the last.
    pub(super) fn step(&mut self, period: Nanos) -> Result<(), Stop> {
        let start_ns = self.now;
        self.now = start_ns.plus(period);
        let reading = |count: &Option<u16>| match count {
            Some(count) => {
                Reading::Polled { zone_max: ZoneMaxima([0, *count, 0, 0]), elapsed_ns: period }
            }
            None => Reading::Missing(Missing::Absent),
        };
        let sample = Sample {
            tick: self.tick,
            window: Window { start_ns, end_ns: self.now },
            monitors: self.counts.iter().map(reading).collect(),
            probes: ProbeFacts::default(),
        };
        self.tick += 1;
        self.calls += self.chosen.len();
        let mut votes = Vec::new();
        for (domain, ticked) in self.governor.tick(&sample).iter().enumerate() {
            if let Origin::Fault(fault) = &ticked.origin {
                return Err(Stop { domain, fault: fault.clone() });
            }
            let Some(vote) = ticked.vote else { continue };
            // The highest level that stands in for none was not chosen.
            let by_policy = ticked.decision.reason != Reason::Unvoted;
            if let Some(chosen) = self.chosen.get_mut(domain).filter(|_| by_policy) {
                chosen.insert(vote.level);
            }
            votes.push(vote);
        }
        for vote in votes {
            self.governor.answer(&vote, &Applied::Placed, self.now);
        }
        Ok(())
    }
}
