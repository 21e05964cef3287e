//! `--plot` and `--svg`: traffic and votes over time.

use crate::board::Board;
use crate::chart::{self, Chart, Mark, Series, Style};
use crate::journal::EntryView;
use crate::sim::Workload;
use crate::units::Nanos;

/// Columns of a chart where the terminal does not say how wide it is.
const WIDTH: usize = 80;
/// Rows of a chart's plot.
const HEIGHT: usize = 10;
/// Pixels of the SVG.
const SVG_WIDTH: u32 = 900;

/// Collects what charts need.
pub(super) struct Recorder {
    workload: Workload,
    domains: Vec<Recorded>,
    end: Nanos,
}

struct Recorded {
    title: String,
    traffic: Vec<(Nanos, Option<f64>)>,
    votes: Vec<(Nanos, Option<f64>)>,
}

impl Recorder {
    pub(super) fn new(board: &Board, workload: Workload) -> Self {
        let domains = board.domains.iter().map(|domain| Recorded {
            title: format!("{}: traffic and vote ({}, simulated)", domain.name, board.id),
            traffic: Vec::new(),
            votes: Vec::new(),
        });
        Self { workload, domains: domains.collect(), end: Nanos(0) }
    }

    pub(super) fn note(&mut self, entry: &EntryView<'_>) {
        let window = entry.sample().window;
        self.end = window.end_ns;
        for (recorded, (_, tick, _)) in self.domains.iter_mut().zip(entry.domains()) {
            let peak = tick.observation.measured.map(|m| m.peak_kbps.0 as f64);
            recorded.traffic.push((window.start_ns, peak));
            // A vote holds from the end of the window that it answers.
            recorded.votes.push((window.end_ns, tick.vote.map(|vote| vote.peak_kbps.0 as f64)));
        }
    }

    fn charts(&self) -> anyhow::Result<Vec<Chart>> {
        self.domains
            .iter()
            .map(|recorded| {
                let series = vec![
                    Series::new("busiest window", Style::Area, recorded.traffic.clone())?,
                    Series::new("vote", Style::Step, recorded.votes.clone())?,
                ];
                Ok(Chart {
                    title: recorded.title.clone(),
                    unit: "kBps",
                    duration: self.end,
                    series,
                    marks: self.marks(),
                })
            })
            .collect()
    }

    /// Where phases begin, as far as the run went.
    fn marks(&self) -> Vec<Mark> {
        let (mut marks, mut at) = (Vec::new(), Nanos(0));
        for phase in self.workload.phases().iter().cycle() {
            if at >= self.end || marks.len() >= 64 {
                break;
            }
            marks.push(Mark { at, label: phase.name.clone() });
            at = at.plus(phase.length);
        }
        marks
    }

    pub(super) fn text(&self) -> anyhow::Result<String> {
        let unicode = !matches!(std::env::var("LC_ALL").as_deref(), Ok("C" | "POSIX"));
        let charts: Vec<String> = self
            .charts()?
            .iter()
            .map(|chart| chart::text(chart, WIDTH, HEIGHT, unicode).trim_end().to_owned())
            .collect();
        Ok(charts.join("\n\n"))
    }

    pub(super) fn svg(&self) -> anyhow::Result<String> {
        Ok(chart::svg(&self.charts()?, SVG_WIDTH))
    }
}
