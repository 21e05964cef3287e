//! Every effect with its interval on one axis: what is near zero, what is beyond what matters.

use super::scale::Scale;
use super::{distributions::short, px};
use crate::experiment::{Better, Effect, MeasureInfo};
use crate::report::number::{estimate, interval, number};
use crate::report::view::View;
use crate::report::words;
use maud::{Markup, html};

const WIDTH: f64 = 940.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 340.0;
const ROW: f64 = 19.0;
/// Room above for ticks and direction, below for ticks.
const TOP: f64 = 40.0;
const FLOOR: f64 = 26.0;
/// Characters of a name that are shown.
const NAME: usize = 28;

/// A line of the plot: a workload's name, or a subject under it.
enum Row<'a> {
    Workload(&'a str),
    Subject(&'a str, Result<&'a Effect, &'static str>),
}

/// The plot of one measure; a sentence where there is no effect at all.
pub(super) fn figure(view: &View<'_>, measure: &MeasureInfo) -> Markup {
    let rows = rows(view, measure);
    let effects = || {
        rows.iter().filter_map(|row| match row {
            Row::Subject(_, Ok(effect)) => Some(*effect),
            _ => None,
        })
    };
    if effects().next().is_none() {
        return html! { p.detail { "No effect is known: no pair is complete." } };
    }
    let unit = View::effect_unit(measure);
    let scale = Scale::over(extent(effects(), measure.smallest_effect), unit, 7.0);
    let floor = TOP + rows.len() as f64 * ROW + 4.0;
    let x = |value: f64| LEFT + scale.share(value) * (WIDTH - LEFT - RIGHT);
    let smallest = measure.smallest_effect.abs();
    let label =
        format!("{}: effects against {} with intervals", measure.name, view.judged.baseline);
    html! {
        p.detail {
            "Against " (view.judged.baseline) "; lines are " (number(view.judged.confidence_pct))
            " % intervals. Shaded: smaller than the smallest effect of interest. Hollow: undecided "
            "or equivalent. An arrow: the interval goes on beyond the axis."
        }
        div.wide {
            svg class="chart" role="img" aria-label=(label) width=(px(WIDTH)) height=(px(floor + FLOOR))
                viewBox=(format!("0 0 {} {}", px(WIDTH), px(floor + FLOOR))) {
                title { (label) }
                @if smallest.is_finite() {
                    rect class="band" x=(px(x(-smallest))) y=(px(TOP))
                        width=(px(x(smallest) - x(-smallest))) height=(px(floor - TOP)) {}
                }
                @for tick in &scale.ticks {
                    line class="grid" x1=(px(x(*tick))) x2=(px(x(*tick))) y1=(px(TOP)) y2=(px(floor)) {}
                    // At both ends: a plot of many workloads is higher than a screen.
                    @for y in [TOP - 6.0, floor + 16.0] {
                        text class="middle" x=(px(x(*tick))) y=(px(y)) { (scale.label(*tick)) }
                    }
                }
                @for y in [TOP - 6.0, floor + 16.0] {
                    text class="end" x=(px(LEFT - 34.0)) y=(px(y)) { (scale.unit) }
                }
                line class="zero" x1=(px(x(0.0))) x2=(px(x(0.0))) y1=(px(TOP)) y2=(px(floor)) {}
                (direction(measure.better, x(0.0)))
                @for (index, row) in rows.iter().enumerate() {
                    (line(row, TOP + (index as f64 + 0.5) * ROW + 2.0, &scale, &x, unit))
                }
            }
        }
    }
}

fn rows<'a>(view: &View<'a>, measure: &'a MeasureInfo) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for workload in &view.judged.workloads {
        rows.push(Row::Workload(workload));
        for subject in view.others() {
            let cell = view.cell(workload, &measure.name, subject);
            let effect = match cell {
                Some(cell) => cell.effect.as_ref().ok_or("no pairs"),
                None => Err(view.absent(workload, subject)),
            };
            rows.push(Row::Subject(subject, effect));
        }
    }
    rows
}

/// What the axis has to hold: zero, what matters, every estimate, and intervals as far as they do
/// not go far beyond: one of two pairs must not press all others together.
fn extent<'a>(
    effects: impl Iterator<Item = &'a Effect> + Clone,
    smallest: f64,
) -> impl Iterator<Item = f64> {
    let estimates = effects.clone().map(|effect| effect.estimate);
    let near: Vec<f64> =
        estimates.chain([0.0, smallest, -smallest]).filter(|v| v.is_finite()).collect();
    let least = near.iter().copied().fold(0.0, f64::min);
    let most = near.iter().copied().fold(0.0, f64::max);
    let reach = most / 2.0 - least / 2.0;
    let (low, high) = (least - reach, most + reach);
    let ends: Vec<f64> = effects
        .flat_map(|effect| [effect.low, effect.high])
        .filter(|end| end.is_finite())
        .map(|end| end.max(low).min(high))
        .collect();
    near.into_iter().chain(ends)
}

fn direction(better: Better, zero: f64) -> Markup {
    let (left, right) = match better {
        Better::Higher => ("← worse", "better →"),
        Better::Lower => ("← better", "worse →"),
    };
    html! {
        text class="end" x=(px(zero - 8.0)) y=(px(TOP - 23.0)) { (left) }
        text x=(px(zero + 8.0)) y=(px(TOP - 23.0)) { (right) }
    }
}

fn line(row: &Row<'_>, y: f64, scale: &Scale, x: &impl Fn(f64) -> f64, unit: &str) -> Markup {
    let base = px(y + 4.0);
    match row {
        Row::Workload(name) => html! {
            text class="title" x="4" y=(base) { (short(name, NAME)) }
            line class="rule" x1="4" x2=(px(WIDTH)) y1=(px(y - ROW / 2.0)) y2=(px(y - ROW / 2.0)) {}
        },
        Row::Subject(name, Err(why)) => html! {
            text class="end" x=(px(LEFT - 12.0)) y=(base) { (short(name, NAME)) }
            text x=(px(WIDTH - RIGHT + 14.0)) y=(base) { (why) }
        },
        Row::Subject(name, Ok(effect)) => {
            let words = format!(
                "{} {} {}",
                estimate(effect, unit),
                interval(effect),
                words::verdict(effect)
            );
            html! {
                text class="end" x=(px(LEFT - 12.0)) y=(base) { (short(name, NAME)) }
                g class=(words::verdict_name(effect.verdict)) {
                    title { (name) ": " (words) }
                    (whisker(effect, y, scale, x))
                }
                text class="number" x=(px(WIDTH - RIGHT + 14.0)) y=(base) { (words) }
            }
        }
    }
}

/// The interval and the estimate on it; an end beyond the axis is an arrow, one unknown is open.
fn whisker(effect: &Effect, y: f64, scale: &Scale, x: &impl Fn(f64) -> f64) -> Markup {
    let end = |value: f64, towards: f64| {
        let at = x(value);
        match scale.holds(value) {
            true => format!("M{} {}v8", px(at), px(y - 4.0)),
            false => {
                let back = px(at - 5.0 * towards);
                format!("M{back} {}L{} {}L{back} {}", px(y - 4.0), px(at), px(y), px(y + 4.0))
            }
        }
    };
    let (low, high) = (effect.low, effect.high);
    html! {
        @if !low.is_nan() && !high.is_nan() {
            line class="interval" x1=(px(x(low))) x2=(px(x(high))) y1=(px(y)) y2=(px(y)) {}
            path class="interval" d=(format!("{}{}", end(low, -1.0), end(high, 1.0))) {}
        }
        @if effect.estimate.is_finite() {
            circle class="estimate" cx=(px(x(effect.estimate))) cy=(px(y)) r="4.2" {}
        }
    }
}
