//! A report for the terminal: one table for each primary measure, the rest in one.

use super::number::{estimate, interval, number, with_unit};
use super::view::{View, cleaned};
use super::words::{self, wrapped};
use crate::experiment::{Judged, JudgedCell, MeasureInfo};
use crate::text_table::table;

/// Characters in a line.
const WIDTH: usize = 100;

/// The report as text for a terminal of about 100 columns.
pub fn text(judged: &Judged) -> String {
    let judged = &cleaned(judged);
    let view = View::new(judged);
    let mut parts = vec![
        [
            wrapped(&format!("{}: {}", judged.name, judged.what), WIDTH, ""),
            words::setting(judged),
            words::tally(&view),
        ]
        .join("\n"),
    ];
    for measure in view.measures(true) {
        parts.push(format!("{}\n\n{}", words::measure(measure), table_of(&view, measure, effect)));
        parts.push(format!("In full:\n\n{}", table_of(&view, measure, in_full)));
    }
    if view.measures(false).next().is_some() {
        parts.push(format!("Exploratory. {}", words::EXPLORATORY));
    }
    for measure in view.measures(false) {
        parts.push(format!(
            "{}\n\n{}",
            words::measure(measure),
            table_of(&view, measure, in_short)
        ));
    }
    parts.push(runs(judged));
    if !judged.notes.is_empty() {
        let notes = judged.notes.iter().map(|note| bullet(note));
        parts.push(format!("Notes\n{}", notes.collect::<Vec<_>>().join("\n")));
    }
    parts.push(wrapped(&words::method(judged), WIDTH, ""));
    parts.push(wrapped(words::VERDICTS, WIDTH, ""));
    parts.join("\n\n") + "\n"
}

/// Workloads by subjects, as many abreast as fit. `compared` makes the cell of a subject that is
/// not the baseline, from the unit of effects.
fn table_of(
    view: &View<'_>,
    measure: &MeasureInfo,
    compared: fn(&JudgedCell, &str) -> String,
) -> String {
    let row = |workload: &String, subjects: &[&str]| {
        let cell = |subject: &str, shown: &dyn Fn(&JudgedCell) -> String| match view.cell(
            workload,
            &measure.name,
            subject,
        ) {
            Some(cell) => shown(cell),
            None => view.absent(workload, subject).to_owned(),
        };
        let baseline = cell(&view.judged.baseline, &|c| with_unit(median(c), &measure.unit));
        let unit = View::effect_unit(measure);
        let others = subjects.iter().map(|subject| cell(subject, &|c| compared(c, unit)));
        [workload.clone(), baseline].into_iter().chain(others).collect()
    };
    let table = |subjects: &[&str]| {
        let header = [&["workload", view.judged.baseline.as_str()], subjects].concat();
        table(&header, &[], view.judged.workloads.iter().map(|w| row(w, subjects)).collect())
    };
    let others = view.others();
    let mut tables = vec![table(&others)];
    for abreast in (1..others.len()).rev() {
        if tables.iter().all(|table| table.lines().all(|line| line.chars().count() <= WIDTH)) {
            break;
        }
        tables = others.chunks(abreast).map(table).collect();
    }
    tables.join("\n\n")
}

fn median(cell: &JudgedCell) -> f64 {
    let [_, median, _] = cell.quartiles;
    median
}

/// Two lines: median and verdict, effect and interval.
fn in_full(cell: &JudgedCell, unit: &str) -> String {
    let Some(effect) = &cell.effect else {
        return format!("{}\nno pairs", number(median(cell)));
    };
    format!(
        "{}  {}\n{} {}",
        number(median(cell)),
        words::verdict(effect),
        estimate(effect, unit),
        interval(effect)
    )
}

/// The effect alone, as in the seed's table; without one, the median.
fn effect(cell: &JudgedCell, unit: &str) -> String {
    match &cell.effect {
        Some(effect) => words::compact(effect, unit),
        None => format!("{} (no pairs)", number(median(cell))),
    }
}

/// One line: median and effect.
fn in_short(cell: &JudgedCell, unit: &str) -> String {
    match &cell.effect {
        Some(effect) => format!("{}  {}", number(median(cell)), words::compact(effect, unit)),
        None => format!("{}  no pairs", number(median(cell))),
    }
}

/// How runs ended, and why some do not count.
fn runs(judged: &Judged) -> String {
    let mut lines = vec![format!("Runs: {}.", words::runs(judged))];
    for (kind, said) in words::reasons(judged) {
        lines.extend(said.iter().map(|s| bullet(&format!("{kind}: {}", words::reason(s)))));
    }
    lines.join("\n")
}

/// `text` after a dash, later lines under the first.
fn bullet(text: &str) -> String {
    let lines = wrapped(text, WIDTH, "  ");
    let rest = lines.strip_prefix("  ").unwrap_or("");
    format!("- {rest}")
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
