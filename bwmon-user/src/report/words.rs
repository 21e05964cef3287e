//! What every kind of report says in the same words.

use super::number::{estimate, number, with_unit};
use super::view::View;
use crate::experiment::{Better, Effect, Judged, MeasureInfo, Said, Verdict};

/// The first line after the title.
pub(super) fn setting(judged: &Judged) -> String {
    format!(
        "Place: {}. Blocks per workload: {}. Baseline: {}.",
        judged.place, judged.blocks, judged.baseline
    )
}

/// What the primary measures say, counted.
pub(super) fn tally(view: &View<'_>) -> String {
    let judged = view.judged;
    let mut counts = [0u64; 4];
    for measure in view.measures(true) {
        for workload in &judged.workloads {
            for subject in view.others() {
                let Some(effect) = view.effect(workload, &measure.name, subject) else { continue };
                let [better, worse, equivalent, undecided] = &mut counts;
                *match effect.verdict {
                    Verdict::Better => better,
                    Verdict::Worse => worse,
                    Verdict::Equivalent => equivalent,
                    Verdict::Undecided => undecided,
                } += 1;
            }
        }
    }
    let [better, worse, equivalent, undecided] = counts;
    format!(
        "{} primary comparisons: {better} better, {worse} worse, {equivalent} equivalent, \
         {undecided} undecided.",
        counts.iter().sum::<u64>()
    )
}

/// What the numbers are.
pub(super) fn method(judged: &Judged) -> String {
    let level = (100.0 - judged.confidence_pct) / 100.0;
    format!(
        "In each block every subject runs once, in random order; a pair is a subject and {} in one \
         block. Cells show the median. An effect is the Hodges-Lehmann estimate over the pairs: in \
         percent of {}, or in the unit of a measure that is compared by difference. In brackets is \
         its {} % interval; p is Wilcoxon's signed-rank test, two-sided, Holm-corrected within the \
         primary measures and judged at {}.",
        judged.baseline,
        judged.baseline,
        number(judged.confidence_pct),
        number((level * 1e6).round() / 1e6),
    )
}

/// What the verdicts mean.
pub(super) const VERDICTS: &str = "better, worse: differs from the baseline. equivalent: the \
     interval lies within the smallest effect of interest. undecided: too few pairs to say; in \
     parentheses about how many it would take. ~ marks what is undecided or equivalent.";

/// What measures are that are not primary.
pub(super) const EXPLORATORY: &str =
    "Not corrected for being several: hints for the next experiment, not answers.";

/// A measure's title: unit, direction, and what matters.
pub(super) fn measure(measure: &MeasureInfo) -> String {
    format!("{} ({})", measure.name, measure_details(measure))
}

/// What belongs to a measure's name.
pub(super) fn measure_details(measure: &MeasureInfo) -> String {
    let unit = if measure.unit.is_empty() { "no unit" } else { &measure.unit };
    let smallest = with_unit(measure.smallest_effect, View::effect_unit(measure));
    format!("{unit}, {}; smallest effect of interest {smallest}", direction(measure.better))
}

pub(super) fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    }
}

/// The verdict in a word, without how many pairs are needed.
pub(super) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    }
}

/// The verdict with how many pairs it would take.
pub(super) fn verdict(effect: &Effect) -> String {
    match (effect.verdict, effect.pairs_needed) {
        (Verdict::Undecided, Some(pairs)) => format!("undecided ({pairs} needed)"),
        (verdict, _) => verdict_name(verdict).to_owned(),
    }
}

/// An effect in few characters: `+240.6 % better`, `~ +0.30 %`.
pub(super) fn compact(effect: &Effect, unit: &str) -> String {
    let estimate = estimate(effect, unit);
    match effect.verdict {
        Verdict::Better | Verdict::Worse => format!("{estimate} {}", verdict_name(effect.verdict)),
        Verdict::Equivalent | Verdict::Undecided => format!("~ {estimate}"),
    }
}

/// How the runs ended.
pub(super) fn runs(judged: &Judged) -> String {
    let runs = judged.runs;
    format!(
        "{} done, {} failed, {} void, {} skipped",
        runs.done, runs.failed, runs.void, runs.skipped
    )
}

/// What was said about runs that do not count, by kind.
pub(super) fn reasons(judged: &Judged) -> Vec<(&'static str, &[Said])> {
    let kinds: [(&'static str, &[Said]); 3] =
        [("failed", &judged.failed), ("void", &judged.void), ("skipped", &judged.skipped)];
    kinds.into_iter().filter(|(_, said)| !said.is_empty()).collect()
}

/// One of them in a line.
pub(super) fn reason(said: &Said) -> String {
    let about: Vec<&str> =
        [said.subject.as_str(), &said.workload].into_iter().filter(|s| !s.is_empty()).collect();
    match about.is_empty() {
        true => said.what.clone(),
        false => format!("{}: {}", about.join(", "), said.what),
    }
}

/// `text` in lines of at most `width` characters, each after `indent`; words stay whole.
pub(super) fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_stand_alone_and_no_line_is_longer_than_asked() {
        assert_eq!(wrapped("a bb ccccccc d", 5, " "), " a bb\n ccccccc\n d");
        assert_eq!(wrapped("", 5, " "), "");
    }
}
