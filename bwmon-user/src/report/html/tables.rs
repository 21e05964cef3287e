//! The tables of the page: the same as the terminal's.

use super::distributions::short;
use crate::experiment::{Effect, Judged, JudgedCell, MeasureInfo};
use crate::report::number::{estimate, interval, number, probability, with_unit};
use crate::report::view::View;
use crate::report::words;
use maud::{Markup, html};

/// Workloads by subjects: medians, and under them effects with their intervals.
pub(super) fn effects(view: &View<'_>, measure: &MeasureInfo) -> Markup {
    let baseline = &view.judged.baseline;
    let cell = |workload: &String, subject: &str, shown: &dyn Fn(&JudgedCell) -> Markup| match view
        .cell(workload, &measure.name, subject)
    {
        Some(cell) => shown(cell),
        None => html! { td.absent { (view.absent(workload, subject)) } },
    };
    let of_baseline = |cell: &JudgedCell| {
        html! { td { (with_unit(median(cell), &measure.unit)) } }
    };
    let compared = |cell: &JudgedCell| compared(cell, measure);
    html! {
        div.wide {
            table {
                caption { (words::measure(measure)) }
                thead {
                    tr {
                        th scope="col" { "workload" }
                        th scope="col" { (short(baseline, 40)) " (baseline)" }
                        @for subject in view.others() { th scope="col" { (short(subject, 40)) } }
                    }
                }
                tbody {
                    @for workload in &view.judged.workloads {
                        tr {
                            th scope="row" { (workload) }
                            (cell(workload, baseline, &of_baseline))
                            @for subject in view.others() { (cell(workload, subject, &compared)) }
                        }
                    }
                }
            }
        }
    }
}

fn compared(cell: &JudgedCell, measure: &MeasureInfo) -> Markup {
    let median = number(median(cell));
    match &cell.effect {
        None => html! { td { (median) div { span.interval { "no pairs" } } } },
        Some(effect) => html! {
            td title=(in_words(effect)) {
                (median) " " span class=(format!("verdict {}", words::verdict_name(effect.verdict))) {
                    (words::verdict(effect))
                }
                div { (estimate(effect, View::effect_unit(measure))) " "
                    span.interval { (interval(effect)) }
                }
            }
        },
    }
}

fn in_words(effect: &Effect) -> String {
    format!(
        "{} pairs, p {}, corrected {}",
        effect.pairs,
        probability(effect.p),
        probability(effect.p_adjusted)
    )
}

fn median(cell: &JudgedCell) -> f64 {
    let [_, median, _] = cell.quartiles;
    median
}

/// How runs ended, why some do not count, and what else a reader should know.
pub(super) fn runs(judged: &Judged) -> Markup {
    html! {
        h2 { "Runs and notes" }
        p { "Runs: " (words::runs(judged)) "." }
        @for (kind, said) in words::reasons(judged) {
            h3 { (kind) }
            ul { @for said in said { li { (words::reason(said)) } } }
        }
        @if !judged.notes.is_empty() {
            h3 { "Notes" }
            ul { @for note in &judged.notes { li { (note) } } }
        }
    }
}
