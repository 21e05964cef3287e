//! Every value, with quartiles and median: one small chart for each workload.

use super::scale::Scale;
use super::{px, subjects};
use crate::experiment::{JudgedCell, MeasureInfo};
use crate::report::number::with_unit;
use crate::report::view::View;
use maud::{Markup, html};
use std::fmt::Write;

const WIDTH: f64 = 360.0;
const ROW: f64 = 24.0;
/// Room for the ticks' labels.
const FLOOR: f64 = 24.0;
const RIGHT: f64 = 14.0;
/// Width of a character of small text, on the wide side.
const CHARACTER: f64 = 7.6;
/// Characters of a subject's name that are shown.
const NAME: usize = 18;

/// A chart for each workload.
pub(super) fn section(view: &View<'_>, measure: &MeasureInfo) -> Markup {
    html! {
        p.detail {
            "Each dot is a run; the box goes from the first to the third quartile, the bar is the "
            "median. The axes do not begin at zero and differ between workloads."
        }
        div.grid {
            @for workload in &view.judged.workloads { (figure(view, measure, workload)) }
        }
    }
}

fn figure(view: &View<'_>, measure: &MeasureInfo, workload: &str) -> Markup {
    let names = &view.judged.subjects;
    let cells: Vec<_> =
        names.iter().map(|name| (name, view.cell(workload, &measure.name, name))).collect();
    let values =
        || cells.iter().filter_map(|(_, cell)| *cell).flat_map(|c| numbers(c).map(|v| v.1));
    if values().next().is_none() {
        return html! { figure { figcaption { (workload) } p.detail { "nothing known" } } };
    }
    let longest = names.iter().map(|name| name.chars().count().min(NAME)).max().unwrap_or(0);
    // Nine characters leave room for a unit beside a tick at the very left.
    let left = longest.max(9) as f64 * CHARACTER + 10.0;
    let scale = Scale::over(values(), &measure.unit, 4.0);
    let floor = names.len() as f64 * ROW + 6.0;
    let x = |value: f64| left + scale.share(value) * (WIDTH - left - RIGHT);
    let label = format!("{} under {workload}: every value by subject", measure.name);
    html! {
        figure {
            figcaption { (workload) }
            svg class="chart" role="img" aria-label=(label) width=(px(WIDTH)) height=(px(floor + FLOOR))
                viewBox=(format!("0 0 {} {}", px(WIDTH), px(floor + FLOOR))) {
                title { (label) }
                @for tick in &scale.ticks {
                    line class="grid" x1=(px(x(*tick))) x2=(px(x(*tick))) y1="0" y2=(px(floor)) {}
                    text class="middle" x=(px(x(*tick))) y=(px(floor + 16.0)) { (scale.label(*tick)) }
                }
                text x="0" y=(px(floor + 16.0)) { (scale.unit) }
                @for (index, (name, cell)) in cells.iter().enumerate() {
                    @let y = (index as f64 + 0.5) * ROW + 3.0;
                    text class="end name" x=(px(left - 10.0)) y=(px(y + 4.0)) { (short(name, NAME)) }
                    @match cell {
                        Some(cell) => (strip(view, cell, &measure.unit, y, &x)),
                        None => text x=(px(left)) y=(px(y + 4.0)) { (view.absent(workload, name)) },
                    }
                }
            }
        }
    }
}

/// One subject's values around the height `y`.
fn strip(
    view: &View<'_>,
    cell: &JudgedCell,
    unit: &str,
    y: f64,
    x: &impl Fn(f64) -> f64,
) -> Markup {
    let [q1, median, q3] = cell.quartiles;
    let known = cell.quartiles.iter().all(|value| value.is_finite());
    let mut dots = String::new();
    for (block, value) in numbers(cell) {
        // Spread by block, so that equal values do not hide each other.
        let spread = f64::from(block % 5 * 3 % 5) * 2.0 - 4.0;
        let _ = write!(dots, "M{} {}h0", px(x(value)), px(y + spread));
    }
    let said = format!(
        "{}: median {}, quartiles {} and {}, {} values",
        cell.subject,
        with_unit(median, unit),
        with_unit(q1, unit),
        with_unit(q3, unit),
        cell.values.len()
    );
    html! {
        g class=(subjects::class(subjects::place(view, &cell.subject))) {
            title { (said) }
            @if known {
                rect class="box" x=(px(x(q1.min(q3)))) y=(px(y - 8.0))
                    width=(px((x(q3) - x(q1)).abs().max(1.0))) height="16" {}
            }
            path class="dots" d=(dots) {}
            @if known {
                line class="median" x1=(px(x(median))) x2=(px(x(median))) y1=(px(y - 9.0)) y2=(px(y + 9.0)) {}
            }
        }
    }
}

fn numbers(cell: &JudgedCell) -> impl Iterator<Item = (u32, f64)> {
    cell.values.iter().copied().filter(|(_, value)| value.is_finite())
}

/// The first `most` characters of a name.
pub(super) fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
