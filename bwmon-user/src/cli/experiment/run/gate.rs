//! `--aa`: the baseline against itself. A rig in which A differs from A tells nothing of B.

use super::{Session, open};
use crate::cli::output::say;
use crate::experiment::{Judged, Verdict, judge};
use crate::lab::Plan;
use std::path::Path;

/// Whether the rig sees no difference where there is none; says the noise floor.
pub(super) fn is_fit(
    session: &Session,
    text: &str,
    plan: &Plan,
    out: &Path,
    resume: bool,
) -> anyhow::Result<bool> {
    let plan = Plan { aa: true, ..plan.clone() };
    let twin = session.twin(&plan, text)?;
    let folder = open(&twin, text, plan, &out.join("aa"), resume)?;
    twin.collect(&folder)?;
    let judged = judge(folder.agenda(), &folder.lines()?)?;
    for note in floors(&judged) {
        say(&format!("bwmon: {note}"));
    }
    let different = differing(&judged);
    for what in &different {
        say(&format!("bwmon: {what}"));
    }
    if !different.is_empty() {
        say(
            "bwmon: the baseline differs from itself, so this rig cannot compare it with anything: \
             look for drift, throttling and other load, use more blocks or longer runs",
        );
    }
    Ok(different.is_empty())
}

/// Primary measures by which the baseline differs from itself.
fn differing(judged: &Judged) -> Vec<String> {
    let primary = |name: &str| judged.measures.iter().any(|m| m.primary && m.name == name);
    let cells = judged.cells.iter().filter(|cell| primary(&cell.measure));
    cells
        .filter_map(|cell| {
            let effect = cell.effect.as_ref()?;
            let differs = matches!(effect.verdict, Verdict::Better | Verdict::Worse);
            differs.then(|| {
                format!(
                    "A/A: {} under {}: {} differs from itself by {:+.2} [{:+.2}, {:+.2}], p {:.4}",
                    judged.baseline,
                    cell.workload,
                    cell.measure,
                    effect.estimate,
                    effect.low,
                    effect.high,
                    effect.p_adjusted
                )
            })
        })
        .collect()
}

/// For each primary measure the widest interval: what this rig cannot see.
fn floors(judged: &Judged) -> Vec<String> {
    let of = |name: &str| {
        let effects = judged.cells.iter().filter(|cell| cell.measure == name);
        let effects = effects.filter_map(|cell| Some((cell.effect.as_ref()?, &cell.workload)));
        let wide = effects.map(|(effect, workload)| ((effect.high - effect.low) / 2.0, workload));
        wide.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(half, workload)| (half, workload.clone()))
    };
    judged
        .measures
        .iter()
        .filter(|measure| measure.primary)
        .filter_map(|measure| {
            let (half, workload) = of(&measure.name)?;
            let unit = if measure.by_ratio { "%" } else { measure.unit.as_str() };
            Some(format!(
                "A/A: noise floor of {}: +-{half:.2} {unit} (worst under {workload})",
                measure.name
            ))
        })
        .collect()
}
