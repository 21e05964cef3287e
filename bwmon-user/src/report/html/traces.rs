//! Bandwidth and votes over time, by workload and subject.

use super::subjects;
use crate::chart::{Chart, Inline, Series, Style, inline};
use crate::report::view::{View, one_line};
use crate::units::{Kbps, Nanos};
use maud::{Markup, PreEscaped, html};

/// Bandwidth and votes of one domain in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The workload.
    pub workload: String,
    /// The subject.
    pub subject: String,
    /// The domain.
    pub domain: String,
    /// What was known when, in any order. Each point holds until the next.
    pub points: Vec<TracePoint>,
}

/// What was known of a domain at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracePoint {
    /// Time since the run began.
    pub at: Nanos,
    /// The measured bandwidth; `None` is unknown.
    pub bandwidth: Option<Kbps>,
    /// The level in force; `None` is unknown.
    pub vote: Option<Kbps>,
}

const WIDTH: u32 = 360;
const PLOT_HEIGHT: f64 = 110.0;
/// Traces at most; a page of more cannot be read, and the rest would be megabytes.
const MOST: usize = 300;
/// Characters for all curves together, about; a column of one curve takes up to 13.
const BUDGET: usize = 1_000_000;
const CURVES_COLUMN: usize = 26;
/// Columns of a chart: no more than half pixels, no fewer than show a shape.
const FINEST: usize = 560;
const COARSEST: usize = 100;

/// The charts by workload, or why there are none.
pub(super) fn section(view: &View<'_>, traces: &[Trace]) -> Markup {
    let mut shown: Vec<&Trace> = traces.iter().collect();
    shown.sort_by_key(|trace| {
        let workload = view.judged.workloads.iter().position(|name| same(&trace.workload, name));
        let subject = subjects::place(view, &one_line(&trace.subject));
        (workload.unwrap_or(usize::MAX), subject)
    });
    shown.truncate(MOST);
    let columns = (BUDGET / CURVES_COLUMN / shown.len().max(1)).clamp(COARSEST, FINEST);
    let workloads = shown.chunk_by(|a, b| a.workload == b.workload);
    html! {
        h2 { "Bandwidth and votes over time" }
        @if traces.is_empty() {
            p.detail { "Not drawn: no journal was kept." }
        } @else {
            p.detail {
                "One run of each. Where several values fall together the highest is drawn. Charts "
                "of one domain under one workload have the same axis."
                @if traces.len() > MOST { " The first " (MOST) " of " (traces.len()) " are shown." }
            }
        }
        @for group in workloads {
            h3 { (group.first().map(|trace| one_line(&trace.workload)).unwrap_or_default()) }
            div.grid {
                @for trace in group {
                    figure { (PreEscaped(drawn(trace, highest(group, &trace.domain), columns))) }
                }
            }
        }
    }
}

fn same(name: &str, cleaned: &str) -> bool {
    name == cleaned || one_line(name) == cleaned
}

/// The highest value of a domain in all these traces.
fn highest(traces: &[&Trace], domain: &str) -> f64 {
    let points = traces.iter().filter(|t| t.domain == domain).flat_map(|trace| &trace.points);
    let values = points.flat_map(|point| [point.bandwidth, point.vote]).flatten();
    values.map(|kbps| kbps.0).max().unwrap_or(0) as f64
}

/// One chart. It has escaped its texts itself.
fn drawn(trace: &Trace, highest: f64, columns: usize) -> String {
    let mut points = trace.points.clone();
    points.sort_by_key(|point| point.at);
    let series = |name, style, value: fn(&TracePoint) -> Option<Kbps>| {
        let points = points.iter().map(|point| (point.at, value(point).map(|kbps| kbps.0 as f64)));
        Series::new(name, style, points.collect())
    };
    let curves = [
        series("bandwidth", Style::Area, |point| point.bandwidth),
        series("vote in force", Style::Step, |point| point.vote),
    ];
    let chart = Chart {
        title: format!("{}: {}", trace.subject, trace.domain),
        unit: "kBps",
        duration: Nanos(0),
        // They are sorted: none is refused.
        series: curves.into_iter().flatten().collect(),
        marks: Vec::new(),
    };
    inline(&chart, &Inline { width: WIDTH, plot_height: PLOT_HEIGHT, columns, highest })
}
