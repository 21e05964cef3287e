//! A report as one page of HTML that stands alone: no script, no font, no link to elsewhere; light
//! and dark, and on paper.
//!
//! Names come from operators: `maud` escapes every text and attribute, and the page forbids scripts
//! in its own header besides.

mod distributions;
mod forest;
mod pareto;
mod scale;
mod style;
mod subjects;
mod tables;
mod traces;

use super::view::{View, cleaned};
use super::words;
use crate::experiment::{Judged, MeasureInfo};
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

pub use traces::{Trace, TracePoint};

/// Nothing but what stands in the page itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The report as one self-contained page, with bandwidth and votes over time from `traces`.
pub fn html(judged: &Judged, traces: &[Trace]) -> String {
    let judged = &cleaned(judged);
    let view = &View::new(judged);
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (judged.name) }
                style { (PreEscaped(crate::chart::STYLE)) (PreEscaped(style::PAGE)) }
            }
            body { main { (body(view, traces)) } }
        }
    };
    page.into_string()
}

fn body(view: &View<'_>, traces: &[Trace]) -> Markup {
    let judged = view.judged;
    let exploratory: Vec<&MeasureInfo> = view.measures(false).collect();
    markup! {
        h1 { (judged.name) }
        p.lead { (judged.what) }
        p { (words::setting(judged)) " Runs: " (words::runs(judged)) "." }
        p { strong { (words::tally(view)) } }
        (contents(view))
        @for (index, measure) in view.measures(true).enumerate() {
            section id=(format!("m{index}")) { (primary(view, measure)) }
        }
        section id="pareto" { (pareto::section(view)) }
        section id="time" { (traces::section(view, traces)) }
        @if !exploratory.is_empty() {
            section id="exploratory" {
                h2 { "Exploratory measures" }
                p { (words::EXPLORATORY) }
                @for measure in exploratory {
                    h3 { (measure.name) }
                    p.detail { (words::measure_details(measure)) }
                    (tables::effects(view, measure))
                    (distributions::section(view, measure))
                }
            }
        }
        section id="runs" { (tables::runs(judged)) }
        section id="method" {
            h2 { "What the numbers are" }
            p { (words::method(judged)) }
            p { (words::VERDICTS) }
        }
    }
}

fn contents(view: &View<'_>) -> Markup {
    markup! {
        nav aria-label="contents" {
            @for (index, measure) in view.measures(true).enumerate() {
                a href=(format!("#m{index}")) { (measure.name) } " "
            }
            a href="#pareto" { "Performance against votes" } " "
            a href="#time" { "Over time" } " "
            @if view.measures(false).next().is_some() {
                a href="#exploratory" { "Exploratory" } " "
            }
            a href="#runs" { "Runs and notes" } " "
            a href="#method" { "What the numbers are" }
        }
    }
}

fn primary(view: &View<'_>, measure: &MeasureInfo) -> Markup {
    markup! {
        h2 { (measure.name) }
        p.detail { (words::measure_details(measure)) }
        (tables::effects(view, measure))
        h3 { "Effects" }
        (forest::figure(view, measure))
        h3 { "Distributions" }
        (distributions::section(view, measure))
    }
}

/// A coordinate: tenths of a pixel are enough.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
