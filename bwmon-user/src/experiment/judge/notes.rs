//! What a reader should know besides the numbers: drift, outliers, what is missing.

use super::Table;
use crate::experiment::agenda::{Agenda, Compare};
use crate::experiment::judged::Judged;
use crate::stats::{self, StatsError};

pub(super) fn notes(
    agenda: &Agenda,
    table: &Table<'_>,
    judged: &Judged,
) -> Result<Vec<String>, StatsError> {
    let mut notes = Vec::new();
    missing(agenda, table, judged, &mut notes);
    unpaired(agenda, judged, &mut notes);
    let alpha = 1.0 - agenda.judging.confidence_pct / 100.0;
    drift(judged, alpha, &mut notes)?;
    outliers(judged, &mut notes)?;
    Ok(notes)
}

/// Blocks without a value for a subject that did run.
fn missing(agenda: &Agenda, table: &Table<'_>, judged: &Judged, notes: &mut Vec<String>) {
    let expected = agenda.blocks as usize;
    for workload in &judged.workloads {
        for measure in judged.measures.iter().filter(|measure| measure.primary) {
            for subject in &judged.subjects {
                let got = table.values(workload, &measure.name, subject).len();
                let skipped = judged.skipped.iter().any(|said| &said.subject == subject);
                if got < expected && !skipped {
                    notes.push(format!(
                        "{subject} under {workload}: {} in {got} of {expected} blocks",
                        measure.name
                    ));
                }
            }
        }
    }
}

/// Zeros have no ratio.
fn unpaired(agenda: &Agenda, judged: &Judged, notes: &mut Vec<String>) {
    for cell in &judged.cells {
        let by_ratio = agenda
            .measures
            .iter()
            .any(|m| m.name == cell.measure && matches!(m.compare, Compare::Ratio { .. }));
        let zeros = cell.values.iter().filter(|(_, value)| *value <= 0.0).count();
        if by_ratio && zeros > 0 {
            notes.push(format!(
                "{} under {}: {zeros} value(s) of {} are not above zero and have no ratio; \
                 smallest_effect in its unit compares by difference",
                cell.subject, cell.workload, cell.measure
            ));
        }
    }
}

/// The baseline over time. Pairs are next to each other, so a drift does not make an effect; it says
/// that the rig was not steady.
fn drift(judged: &Judged, alpha: f64, notes: &mut Vec<String>) -> Result<(), StatsError> {
    for cell in judged.cells.iter().filter(|cell| cell.subject == judged.baseline) {
        let values: Vec<f64> = cell.values.iter().map(|(_, value)| *value).collect();
        if values.len() < 8 {
            continue;
        }
        let drift = stats::drift(&values)?;
        if drift.p <= alpha {
            notes.push(format!(
                "drift: {} of {} under {} {} over the blocks (Kendall tau {:.2}, p {:.3})",
                cell.measure,
                cell.subject,
                cell.workload,
                if drift.tau > 0.0 { "rose" } else { "fell" },
                drift.tau,
                drift.p
            ));
        }
    }
    Ok(())
}

/// Places that are named of a measure's outliers.
const MOST_NAMED: usize = 4;

/// Pointed out and kept; of each measure a few places, since values that hardly scatter have many.
fn outliers(judged: &Judged, notes: &mut Vec<String>) -> Result<(), StatsError> {
    for measure in &judged.measures {
        let (mut named, mut count, mut of) = (Vec::new(), 0, 0);
        for cell in judged.cells.iter().filter(|cell| cell.measure == measure.name) {
            let values: Vec<f64> = cell.values.iter().map(|(_, value)| *value).collect();
            of += values.len();
            for index in stats::outliers(&values)? {
                count += 1;
                if let Some((block, _)) = cell.values.get(index) {
                    named
                        .push(format!("{} under {} in block {block}", cell.subject, cell.workload));
                }
            }
        }
        if count > 0 {
            let more = named.len() > MOST_NAMED;
            named.truncate(MOST_NAMED);
            notes.push(format!(
                "outliers (kept): {count} of {of} values of {}: {}{}",
                measure.name,
                named.join(", "),
                if more { ", …" } else { "" }
            ));
        }
    }
    Ok(())
}
