//! Lines to an answer. Pure: the same lines are judged the same years later.

mod notes;

use super::agenda::{Agenda, Better, Compare, Measure, Place};
use super::judged::{Effect, Judged, JudgedCell, MeasureInfo, Runs, Said, Verdict};
use super::line::{Line, Status};
use crate::stats::{self, Paired, Question, StatsError};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons that are told of each kind; a broken rig says the same a thousand times.
const MOST_SAID: usize = 20;

/// What `lines` say about the questions of `agenda`.
///
/// # Errors
/// When a value is not finite, or the numbers are too many to be paired.
pub fn judge(agenda: &Agenda, lines: &[Line]) -> Result<Judged, StatsError> {
    let table = Table::new(lines);
    let baseline = agenda.baseline().map(|subject| subject.name.clone()).unwrap_or_default();
    let mut cells = Vec::new();
    for workload in &agenda.workloads {
        for measure in &agenda.measures {
            for subject in agenda.subject_names() {
                let values = table.values(&workload.name, &measure.name, subject);
                let plain: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
                let Some(q) = stats::quartiles(&plain) else { continue };
                cells.push(JudgedCell {
                    workload: workload.name.clone(),
                    measure: measure.name.clone(),
                    subject: subject.to_owned(),
                    values,
                    quartiles: [q.lower, q.median, q.upper],
                    effect: None,
                });
            }
        }
    }
    compare_all(agenda, &baseline, &mut cells)?;
    let mut judged = Judged {
        name: agenda.name.clone(),
        what: agenda.what.clone(),
        place: place(&agenda.place),
        baseline,
        subjects: agenda.subject_names().map(str::to_owned).collect(),
        workloads: agenda.workloads.iter().map(|workload| workload.name.clone()).collect(),
        measures: agenda.measures.iter().map(info).collect(),
        blocks: agenda.blocks,
        confidence_pct: agenda.judging.confidence_pct,
        cells,
        runs: runs(lines),
        skipped: said(lines, Status::Skipped),
        failed: said(lines, Status::Failed),
        void: said(lines, Status::Void),
        notes: Vec::new(),
    };
    judged.notes = notes::notes(agenda, &table, &judged)?;
    Ok(judged)
}

fn place(place: &Place) -> String {
    match place {
        Place::Simulator => "simulator".to_owned(),
        Place::Machine => "machine".to_owned(),
        Place::Ssh(host) => format!("ssh {host}"),
    }
}

fn info(measure: &Measure) -> MeasureInfo {
    let (by_ratio, smallest_effect) = match measure.compare {
        Compare::Ratio { smallest_effect_pct } => (true, smallest_effect_pct),
        Compare::Difference { smallest_effect } => (false, smallest_effect),
    };
    MeasureInfo {
        name: measure.name.clone(),
        unit: measure.unit.clone(),
        better: measure.better,
        primary: measure.primary,
        by_ratio,
        smallest_effect,
    }
}

/// Lines that count: those of a block's last attempt, if none of them is void.
struct Table<'a> {
    lines: BTreeMap<(&'a str, u32, &'a str), &'a Line>,
    void: BTreeSet<(&'a str, u32)>,
}

impl<'a> Table<'a> {
    fn new(lines: &'a [Line]) -> Self {
        let mut last: BTreeMap<(&str, u32), u32> = BTreeMap::new();
        for line in lines {
            let attempt = last.entry((line.workload.as_str(), line.block)).or_default();
            *attempt = line.attempt.max(*attempt);
        }
        let of_last =
            |line: &&Line| last.get(&(line.workload.as_str(), line.block)) == Some(&line.attempt);
        let mut table = Self { lines: BTreeMap::new(), void: BTreeSet::new() };
        for line in lines.iter().filter(of_last) {
            if line.status == Status::Void {
                table.void.insert((line.workload.as_str(), line.block));
            }
            let key = (line.workload.as_str(), line.block, line.subject.as_str());
            table.lines.insert(key, line);
        }
        table
    }

    fn counting(&self) -> impl Iterator<Item = &'a Line> + '_ {
        let void = |key: &(&'a str, u32, &'a str)| self.void.contains(&(key.0, key.1));
        self.lines
            .iter()
            .filter(move |(key, line)| !void(key) && line.status == Status::Done)
            .map(|(_, line)| *line)
    }

    /// Values by block.
    fn values(&self, workload: &str, measure: &str, subject: &str) -> Vec<(u32, f64)> {
        self.counting()
            .filter(|line| line.workload == workload && line.subject == subject)
            .filter_map(|line| line.measures.get(measure).map(|value| (line.block, *value)))
            .collect()
    }
}

/// A comparison whose p is still to be corrected.
struct Compared {
    cell: usize,
    paired: Paired,
    primary: bool,
}

fn compare_all(
    agenda: &Agenda,
    baseline: &str,
    cells: &mut [JudgedCell],
) -> Result<(), StatsError> {
    let confidence = agenda.judging.confidence_pct / 100.0;
    let mut compared = Vec::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.subject != baseline) {
        let is_base = |base: &&JudgedCell| {
            (&base.workload, &base.measure, base.subject.as_str())
                == (&cell.workload, &cell.measure, baseline)
        };
        let Some(base) = cells.iter().find(is_base) else { continue };
        let Some(measure) = agenda.measures.iter().find(|m| m.name == cell.measure) else {
            continue;
        };
        let differences = differences(&measure.compare, &base.values, &cell.values);
        if differences.is_empty() {
            continue;
        }
        let paired = stats::paired(&differences, confidence)?;
        compared.push(Compared { cell: index, paired, primary: measure.primary });
    }
    let primary: Vec<f64> =
        compared.iter().filter(|one| one.primary).map(|one| one.paired.p).collect();
    let mut corrected = stats::holm(&primary).into_iter();
    for one in compared {
        let p = one.paired.p;
        let adjusted = if one.primary { corrected.next().unwrap_or(p) } else { p };
        let Some(cell) = cells.get_mut(one.cell) else { continue };
        let Some(measure) = agenda.measures.iter().find(|m| m.name == cell.measure) else {
            continue;
        };
        cell.effect = Some(effect(measure, &one.paired, adjusted, 1.0 - confidence)?);
    }
    Ok(())
}

/// Per complete pair: log ratios, or differences. A value that is not above zero has no ratio.
fn differences(compare: &Compare, base: &[(u32, f64)], other: &[(u32, f64)]) -> Vec<f64> {
    let base: BTreeMap<u32, f64> = base.iter().copied().collect();
    let pairs = other.iter().filter_map(|(block, value)| Some((*base.get(block)?, *value)));
    match compare {
        Compare::Ratio { .. } => {
            pairs.filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| (b / a).ln()).collect()
        }
        Compare::Difference { .. } => pairs.map(|(a, b)| b - a).collect(),
    }
}

fn effect(
    measure: &Measure,
    paired: &Paired,
    p_adjusted: f64,
    alpha: f64,
) -> Result<Effect, StatsError> {
    let (smallest_effect, shown): (f64, fn(f64) -> f64) = match measure.compare {
        Compare::Ratio { smallest_effect_pct } => {
            ((smallest_effect_pct / 100.0).ln_1p(), |log| log.exp_m1() * 100.0)
        }
        Compare::Difference { smallest_effect } => (smallest_effect, |difference| difference),
    };
    let question =
        Question { smallest_effect, lower_is_better: measure.better == Better::Lower, alpha };
    let (verdict, pairs_needed) = match stats::verdict(paired, &question, p_adjusted)? {
        stats::Verdict::Better => (Verdict::Better, None),
        stats::Verdict::Worse => (Verdict::Worse, None),
        stats::Verdict::Equivalent => (Verdict::Equivalent, None),
        stats::Verdict::Undecided { pairs_needed } => (Verdict::Undecided, pairs_needed),
    };
    Ok(Effect {
        pairs: paired.n as u64,
        estimate: shown(paired.estimate),
        low: shown(paired.low),
        high: shown(paired.high),
        p: paired.p,
        p_adjusted,
        verdict,
        pairs_needed,
    })
}

fn runs(lines: &[Line]) -> Runs {
    let count = |status| lines.iter().filter(|line| line.status == status).count() as u64;
    Runs {
        done: count(Status::Done),
        failed: count(Status::Failed),
        void: count(Status::Void),
        skipped: count(Status::Skipped),
    }
}

/// Reasons of one kind, each once.
fn said(lines: &[Line], status: Status) -> Vec<Said> {
    let mut all: Vec<Said> = Vec::new();
    for line in lines.iter().filter(|line| line.status == status) {
        // What cannot run at all cannot run under any workload.
        let workload =
            if status == Status::Skipped { String::new() } else { line.workload.clone() };
        let what = line.why.clone().unwrap_or_default();
        let said = Said { subject: line.subject.clone(), workload, what };
        if !all.contains(&said) && all.len() < MOST_SAID {
            all.push(said);
        }
    }
    all
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
