//! Two experiments with the same question: did something get worse?

use super::agenda::{Agenda, Better, Compare, Measure, Place};
use super::judge::judge;
use super::judged::{Judged, JudgedCell, Verdict};
use super::line::Line;
use crate::stats::{self, StatsError};
use serde::Serialize;
use std::collections::BTreeMap;

/// What changed from an old experiment to a new one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The experiments' name.
    pub name: String,
    /// Block by block (both on the model with the same seed), else as two samples.
    pub paired: bool,
    /// One for each workload, measure and subject that both have.
    pub changes: Vec<Change>,
    /// What the old one has by a primary measure and the new one has not.
    pub missing: Vec<String>,
    /// What only one of the agendas asks for.
    pub different: Vec<String>,
}

/// One subject under one workload by one measure, then and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The workload.
    pub workload: String,
    /// The measure.
    pub measure: String,
    /// The subject.
    pub subject: String,
    /// Whether the answer rests on it.
    pub primary: bool,
    /// The measure's unit.
    pub unit: String,
    /// Compared by ratio (the change is in percent), not by difference.
    pub by_ratio: bool,
    /// Median of the old values.
    pub old: f64,
    /// Median of the new values.
    pub new: f64,
    /// The change: in percent, or in the measure's unit.
    pub estimate: f64,
    /// The interval's ends.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Two-sided p: Wilcoxon signed-rank if paired, else Mann-Whitney.
    pub p: f64,
    /// Corrected within the primary measures (Holm).
    pub p_adjusted: f64,
    /// What follows.
    pub verdict: Verdict,
}

impl Comparison {
    /// Whether something got worse by a primary measure, or is gone.
    pub fn is_worse(&self) -> bool {
        let worse = |change: &Change| change.primary && change.verdict == Verdict::Worse;
        !self.missing.is_empty() || self.changes.iter().any(worse)
    }
}

/// An experiment: its agenda and its lines.
pub type Experiment<'a> = (&'a Agenda, &'a [Line]);

/// Compares `new` with `old`; smallest effects and confidence are those of the new agenda.
///
/// # Errors
/// When a value is not finite, or the numbers are too many to be compared.
pub fn compare(old: Experiment<'_>, new: Experiment<'_>) -> Result<Comparison, StatsError> {
    let (then, now) = (judge(old.0, old.1)?, judge(new.0, new.1)?);
    let paired = old.0.place == Place::Simulator
        && new.0.place == Place::Simulator
        && old.0.seed == new.0.seed;
    let mut comparison = Comparison {
        name: now.name.clone(),
        paired,
        changes: Vec::new(),
        missing: Vec::new(),
        different: different(&then, &now),
    };
    for cell in &then.cells {
        let Some(measure) = new.0.measures.iter().find(|m| m.name == cell.measure) else {
            continue;
        };
        let key = |c: &JudgedCell| (c.workload.clone(), c.measure.clone(), c.subject.clone());
        match now.cells.iter().find(|c| key(c) == key(cell)) {
            Some(fresh) => comparison.changes.push(change(
                measure,
                cell,
                fresh,
                paired,
                new.0.judging.confidence_pct / 100.0,
            )?),
            None if measure.primary && asked(&now, cell) => comparison
                .missing
                .push(format!("{} of {} under {}", cell.measure, cell.subject, cell.workload)),
            None => {}
        }
    }
    settle(&mut comparison, new.0);
    Ok(comparison)
}

/// Whether the new agenda asks for it at all.
fn asked(now: &Judged, cell: &JudgedCell) -> bool {
    now.subjects.contains(&cell.subject) && now.workloads.contains(&cell.workload)
}

fn different(then: &Judged, now: &Judged) -> Vec<String> {
    let measures = |judged: &Judged| -> Vec<String> {
        judged.measures.iter().map(|measure| measure.name.clone()).collect()
    };
    let lists = [
        ("subject", then.subjects.clone(), now.subjects.clone()),
        ("workload", then.workloads.clone(), now.workloads.clone()),
        ("measure", measures(then), measures(now)),
    ];
    let mut told = Vec::new();
    for (what, then, now) in lists {
        let gone = then.iter().filter(|name| !now.contains(name));
        told.extend(gone.map(|name| format!("{what} {name}: in the old one only")));
        let fresh = now.iter().filter(|name| !then.contains(name));
        told.extend(fresh.map(|name| format!("{what} {name}: in the new one only")));
    }
    told
}

fn change(
    measure: &Measure,
    old: &JudgedCell,
    new: &JudgedCell,
    paired: bool,
    confidence: f64,
) -> Result<Change, StatsError> {
    let by_ratio = matches!(measure.compare, Compare::Ratio { .. });
    // A value without a logarithm makes the whole cell a matter of differences.
    let positive = |cell: &JudgedCell| cell.values.iter().all(|(_, value)| *value > 0.0);
    let by_ratio = by_ratio && positive(old) && positive(new);
    let of = |value: f64| if by_ratio { value.ln() } else { value };
    let (estimate, low, high, p, enough) = if paired {
        let base: BTreeMap<u32, f64> = old.values.iter().copied().collect();
        let pairs = new.values.iter().filter_map(|(b, v)| Some(of(*v) - of(*base.get(b)?)));
        let pairs: Vec<f64> = pairs.collect();
        let found = stats::paired(&pairs, confidence)?;
        (found.estimate, found.low, found.high, found.p, found.achieved >= confidence)
    } else {
        let plain = |cell: &JudgedCell| -> Vec<f64> {
            cell.values.iter().map(|(_, value)| of(*value)).collect()
        };
        let found = stats::unpaired(&plain(new), &plain(old), confidence)?;
        (found.shift, found.low, found.high, found.p, found.achieved >= confidence)
    };
    let shown = |x: f64| if by_ratio { x.exp_m1() * 100.0 } else { x };
    Ok(Change {
        workload: old.workload.clone(),
        measure: old.measure.clone(),
        subject: old.subject.clone(),
        primary: measure.primary,
        unit: measure.unit.clone(),
        by_ratio,
        old: old.quartiles[1],
        new: new.quartiles[1],
        estimate: shown(estimate),
        low: shown(low),
        high: shown(high),
        p,
        p_adjusted: p,
        // Until all p are there; an interval that could not be had decides nothing.
        verdict: if enough { Verdict::Equivalent } else { Verdict::Undecided },
    })
}

/// Corrects the primary p, and says what follows.
fn settle(comparison: &mut Comparison, agenda: &Agenda) {
    let alpha = 1.0 - agenda.judging.confidence_pct / 100.0;
    let primary: Vec<f64> =
        comparison.changes.iter().filter(|change| change.primary).map(|c| c.p).collect();
    let mut corrected = stats::holm(&primary).into_iter();
    for change in &mut comparison.changes {
        if change.primary {
            change.p_adjusted = corrected.next().unwrap_or(change.p);
        }
        let Some(measure) = agenda.measures.iter().find(|m| m.name == change.measure) else {
            continue;
        };
        if change.verdict != Verdict::Undecided {
            change.verdict = verdict(change, measure, alpha);
        }
    }
}

fn verdict(change: &Change, measure: &Measure, alpha: f64) -> Verdict {
    let smallest = match measure.compare {
        Compare::Ratio { smallest_effect_pct } if change.by_ratio => smallest_effect_pct,
        // Ratios that were none: a change of nothing is equivalent, all else is looked at.
        Compare::Ratio { .. } => 0.0,
        Compare::Difference { smallest_effect } => smallest_effect,
    };
    if change.low.abs() <= smallest && change.high.abs() <= smallest {
        return Verdict::Equivalent;
    }
    let sure = change.p_adjusted <= alpha;
    let up_is_good = measure.better == Better::Higher;
    match (sure && change.low > 0.0, sure && change.high < 0.0) {
        (true, _) if up_is_good => Verdict::Better,
        (_, true) if !up_is_good => Verdict::Better,
        (true, _) | (_, true) => Verdict::Worse,
        _ => Verdict::Undecided,
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
