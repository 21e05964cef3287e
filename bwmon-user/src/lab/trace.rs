//! What a run looked like over time, kept for the charts of a report: bandwidth and level of each
//! domain, in few points.

use crate::units::{Kbps, Nanos};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The file in a run's folder.
pub const TRACE_FILE: &str = "trace.json";

/// Points kept of a domain: about what a chart can show.
const MOST_POINTS: usize = 600;

/// One domain of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DomainTrace {
    /// Its name.
    pub domain: String,
    /// Its points.
    pub points: Vec<TracePoint>,
}

/// A moment: the greatest bandwidth since the moment before it, and the level then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Since the counted part began.
    pub ms: f64,
    /// What was measured; `None` where nothing was.
    #[serde(rename = "peak_kBps", default)]
    pub peak_kbps: Option<u64>,
    /// The level decided; `None` where nothing is voted.
    #[serde(rename = "vote_kBps", default)]
    pub vote_kbps: Option<u64>,
}

/// Collects the traces of a run's domains.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    domains: Vec<DomainTrace>,
    begin: Option<Nanos>,
}

impl Tracer {
    /// Takes a tick of the domain number `index`, which ended at `now`: its busiest window, and what
    /// its level carries in kB/s.
    pub fn tick(
        &mut self,
        index: usize,
        name: &str,
        now: Nanos,
        peak: Option<Kbps>,
        vote: Option<u64>,
    ) {
        let begin = *self.begin.get_or_insert(now);
        while self.domains.len() <= index {
            self.domains.push(DomainTrace::default());
        }
        let Some(domain) = self.domains.get_mut(index) else { return };
        if domain.domain.is_empty() {
            domain.domain = name.to_owned();
        }
        domain.points.push(TracePoint {
            ms: now.since(begin).0 as f64 / Nanos::PER_MS as f64,
            peak_kbps: peak.map(|kbps| kbps.0),
            vote_kbps: vote,
        });
        if domain.points.len() >= 2 * MOST_POINTS {
            halve(&mut domain.points);
        }
    }

    /// Writes what was collected into the run's folder. A report can do without it.
    pub fn keep(&self, folder: &Path) {
        let written = fs::create_dir_all(folder).and_then(|()| {
            fs::write(folder.join(TRACE_FILE), serde_json::to_string(&self.domains)?)
        });
        // Charts are no reason to stop an experiment.
        let _ = written;
    }
}

/// Of two neighbours one: the greater bandwidth, the later level.
fn halve(points: &mut Vec<TracePoint>) {
    let joined = points.chunks(2).filter_map(|pair| {
        let (first, last) = (pair.first()?, pair.last()?);
        let peak_kbps = [first.peak_kbps, last.peak_kbps].into_iter().flatten().max();
        Some(TracePoint { peak_kbps, ..*last })
    });
    *points = joined.collect();
}

/// The traces in a run's folder; none where there are none.
pub fn traces_of(folder: &Path) -> Vec<DomainTrace> {
    let text = fs::read_to_string(folder.join(TRACE_FILE)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_points_the_greater_bandwidth_and_the_later_level_stay() {
        let point = |ms, peak, vote| TracePoint { ms, peak_kbps: peak, vote_kbps: Some(vote) };
        let mut points = vec![
            point(0.0, Some(9), 1),
            point(4.0, Some(5), 2),
            point(8.0, None, 3),
            point(12.0, Some(7), 4),
            point(16.0, None, 5),
        ];
        halve(&mut points);
        let expected = [point(4.0, Some(9), 2), point(12.0, Some(7), 4), point(16.0, None, 5)];
        assert_eq!(points, expected);
    }
}
