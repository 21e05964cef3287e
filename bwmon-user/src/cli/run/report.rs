//! What `bwmon run` says at its end.

use crate::agent::Summary;
use crate::cli::output::{json, line, say};

/// Prints the summary.
pub(super) fn report(as_json: bool, summary: &Summary) -> anyhow::Result<()> {
    if as_json {
        return json(summary);
    }
    let lost = summary
        .lost_events
        .map_or_else(|| "no probes".to_owned(), |lost| format!("{lost} probe events lost"));
    let woken = match summary.wakes {
        0 => String::new(),
        wakes => format!(" ({wakes} by interrupt)"),
    };
    line(&format!(
        "{} on {} ({}): {} ticks{woken}, {} missed, {} transitions, {} votes refused, {} policy faults, \
         {lost}",
        summary.policy,
        summary.board,
        summary.mode,
        summary.ticks,
        summary.missed,
        summary.transitions,
        summary.refused,
        summary.faults,
    ))?;
    if let Some(fault) = &summary.first_fault {
        line(&format!(
            "the native rule decided {} times instead of the policy; its first fault: {fault}",
            summary.fallbacks
        ))?;
    }
    if summary.demoted > 0 {
        line(&format!(
            "{} domain(s) ended on the native rule: the policy is demoted",
            summary.demoted
        ))?;
    }
    for what in summary.restored.iter().chain(&summary.kept) {
        line(what)?;
    }
    if summary.journal_errors > 0 {
        say(&format!("warning: {} journal entries could not be written", summary.journal_errors));
    }
    Ok(())
}
