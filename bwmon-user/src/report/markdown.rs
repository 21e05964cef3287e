//! A report for a mailing list or an issue: tables of plain pipes, aligned so that they can be
//! read as they stand.

use super::number::{estimate, interval, number, probability, with_unit};
use super::view::{View, cleaned};
use super::words::{self, wrapped};
use crate::experiment::{Judged, MeasureInfo};

/// Characters in a line of sentences.
const WIDTH: usize = 80;

/// The report as Markdown.
pub fn markdown(judged: &Judged) -> String {
    let judged = &escaped(judged);
    let view = View::new(judged);
    let mut parts = vec![
        format!("# {}", judged.name),
        wrapped(&judged.what, WIDTH, ""),
        wrapped(&words::setting(judged), WIDTH, ""),
        wrapped(&words::tally(&view), WIDTH, ""),
    ];
    for measure in view.measures(true) {
        parts.push(format!("## {}", measure.name));
        parts.push(format!("{}.", words::measure_details(measure)));
        parts.push(effects(&view, measure));
        parts.extend(details(&view, measure));
    }
    let mut exploratory = view.measures(false).peekable();
    if exploratory.peek().is_some() {
        parts.push(format!("## Exploratory\n\n{}", wrapped(words::EXPLORATORY, WIDTH, "")));
    }
    for measure in exploratory {
        parts.push(format!("{}:", words::measure(measure)));
        parts.push(effects(&view, measure));
    }
    parts.push(runs(judged));
    if !judged.notes.is_empty() {
        let notes: Vec<String> = judged.notes.iter().map(|note| bullet(note)).collect();
        parts.push(format!("## Notes\n\n{}", notes.join("\n")));
    }
    parts.push("## What the numbers are".to_owned());
    parts.push(wrapped(&words::method(judged), WIDTH, ""));
    parts.push(wrapped(words::VERDICTS, WIDTH, ""));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

/// Workloads by subjects: the baseline's median, then effects in short.
fn effects(view: &View<'_>, measure: &MeasureInfo) -> String {
    let baseline = view.judged.baseline.as_str();
    let others = view.others();
    let header = [&["workload", baseline], others.as_slice()].concat();
    let unit = View::effect_unit(measure);
    let row = |workload: &String| {
        let of_baseline = match view.cell(workload, &measure.name, baseline) {
            Some(cell) => with_unit(median(cell.quartiles), &measure.unit),
            None => view.absent(workload, baseline).to_owned(),
        };
        let other = |subject: &&str| match view.cell(workload, &measure.name, subject) {
            Some(cell) => match &cell.effect {
                Some(effect) => words::compact(effect, unit),
                None => format!("{} (no pairs)", with_unit(median(cell.quartiles), &measure.unit)),
            },
            None => view.absent(workload, subject).to_owned(),
        };
        [workload.clone(), of_baseline].into_iter().chain(others.iter().map(other)).collect()
    };
    pipes(&header, &view.judged.workloads.iter().map(row).collect::<Vec<_>>())
}

/// Every effect in full, one row each; nothing where there is none.
fn details(view: &View<'_>, measure: &MeasureInfo) -> Option<String> {
    let mut rows = Vec::new();
    for workload in &view.judged.workloads {
        for subject in view.others() {
            let Some(cell) = view.cell(workload, &measure.name, subject) else { continue };
            let Some(effect) = &cell.effect else { continue };
            let unit = View::effect_unit(measure);
            rows.push(vec![
                workload.clone(),
                subject.to_owned(),
                number(median(cell.quartiles)),
                format!("{} {}", estimate(effect, unit), interval(effect)),
                probability(effect.p_adjusted),
                effect.pairs.to_string(),
                words::verdict(effect),
            ]);
        }
    }
    let median = match measure.unit.as_str() {
        "" => "median".to_owned(),
        unit => format!("median, {unit}"),
    };
    let header = ["workload", "subject", &median, "effect", "p", "pairs", "verdict"];
    (!rows.is_empty()).then(|| pipes(&header, &rows))
}

fn median([_, median, _]: [f64; 3]) -> f64 {
    median
}

/// A table whose pipes stand under each other.
fn pipes(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|name| name.chars().count().max(3)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("| {} |", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut lines =
        vec![line(header.to_vec()), line(rule.iter().map(String::as_str).collect::<Vec<_>>())];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}

/// How runs ended, and why some do not count.
fn runs(judged: &Judged) -> String {
    let mut text = format!("## Runs\n\n{}.", words::runs(judged));
    let reasons = words::reasons(judged);
    for (index, (kind, said)) in reasons.into_iter().enumerate() {
        text.push_str(if index == 0 { "\n\n" } else { "\n" });
        let said = said.iter().map(|said| bullet(&format!("{kind}: {}", words::reason(said))));
        text.push_str(&said.collect::<Vec<_>>().join("\n"));
    }
    text
}

fn bullet(text: &str) -> String {
    let lines = wrapped(text, WIDTH, "  ");
    format!("- {}", lines.strip_prefix("  ").unwrap_or(""))
}

/// The same results with every text such that Markdown shows it as it is.
fn escaped(judged: &Judged) -> Judged {
    let mut judged = cleaned(judged);
    for text in super::view::texts(&mut judged) {
        *text = escape(text);
    }
    judged
}

/// Only what Markdown would take for markup inside a line: a name stays readable in a mail.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '<' | '&' | '*' | '`' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{any_judged, said, two_workloads};
    use proptest::prelude::*;

    #[test]
    fn tables_are_aligned_pipes() {
        let drawn = markdown(&two_workloads());
        let effects = "
| workload | V              | adaptive        |
| -------- | -------------- | --------------- |
| burst    | 2 119 000 kB/s | +240.6 % better |
| idle     | 1 000 kB/s     | ~ +0.34 %       |
";
        assert!(drawn.contains(effects), "{drawn}");
        // p is the corrected one: 2 * 0.0009 and 2 * 0.3.
        let details = "
| workload | subject  | median, kB/s | effect                    | p     | pairs | verdict               |
| -------- | -------- | ------------ | ------------------------- | ----- | ----- | --------------------- |
| burst    | adaptive | 7 216 000    | +240.6 % [+238.1, +243.0] | 0.002 | 20    | better                |
| idle     | adaptive | 1 003        | +0.34 % [-0.20, +0.90]    | 0.60  | 20    | undecided (34 needed) |
";
        assert!(drawn.contains(details), "{drawn}");
        assert!(drawn.contains("\n- failed: adaptive, idle: exit status 1\n"), "{drawn}");
    }

    #[test]
    fn sentences_fit_eighty_columns() {
        let drawn = markdown(&two_workloads());
        let sentences = drawn.lines().filter(|line| !line.starts_with('|'));
        assert!(sentences.clone().count() > 10);
        assert!(sentences.map(|line| line.chars().count()).all(|width| width <= 80), "{drawn}");
    }

    #[test]
    fn names_are_text_and_never_markup() {
        let mut judged = two_workloads();
        judged.workloads[0] = "a|b".to_owned();
        judged.notes = vec!["<script>alert(1)</script>".to_owned()];
        judged.void = vec![said("`V`", "", "[x](http://x)")];
        let drawn = markdown(&judged);
        assert!(drawn.contains("| a\\|b "), "{drawn}");
        assert!(drawn.contains("\\<script>alert(1)\\</script>"), "{drawn}");
        assert!(drawn.contains("\\`V\\`: \\[x\\](http://x)"), "{drawn}");
    }

    #[test]
    fn nothing_measured_is_said_and_not_drawn_as_zero() {
        let mut judged = two_workloads();
        judged.cells.clear();
        judged.failed.clear();
        let drawn = markdown(&judged);
        assert!(drawn.contains("| burst    | unknown | unknown  |"), "{drawn}");
    }

    proptest! {
        #[test]
        fn any_results_make_tables_of_one_width(judged in any_judged()) {
            let drawn = markdown(&judged);
            prop_assert!(!drawn.contains("NaN"));
            let pipes = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            let lines: Vec<&str> = drawn.lines().collect();
            for pair in lines.windows(2).filter(|pair| pair.iter().all(|l| l.starts_with("| "))) {
                prop_assert_eq!(pipes(pair[0]), pipes(pair[1]));
            }
        }
    }
}
