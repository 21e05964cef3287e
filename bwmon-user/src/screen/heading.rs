//! What runs, and what was counted.

use super::{Mark, View, put};
use crate::command::PauseAt;
use crate::status::Status;
use crate::text_table::grouped;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the heading; answers how many rows it took.
pub(super) fn paint(buffer: &mut Buffer, area: Rect, status: &Status, view: View) -> u16 {
    let lines = lines(status);
    for (row, line) in (area.y..).zip(&lines) {
        let parts: Vec<(&str, Mark)> =
            line.iter().map(|(text, mark)| (text.as_str(), *mark)).collect();
        put(buffer, area, row, &parts, view);
    }
    u16::try_from(lines.len()).unwrap_or(u16::MAX)
}

type Parts = Vec<(String, Mark)>;

fn lines(status: &Status) -> Vec<Parts> {
    let mut lines = vec![first(status), policy(status), counts(status)];
    if let Some(canary) = &status.canary {
        let text = format!("canary {} for {} ms, by {}", canary.name, canary.ms, canary.rule);
        lines.push(vec![(text, Mark::Doubt)]);
    }
    let mut standing = Parts::new();
    match status.pause {
        Some(PauseAt::Top) => standing.push(("PAUSED at the top  ".into(), Mark::Bad)),
        Some(PauseAt::Keep) => standing.push(("PAUSED where it is  ".into(), Mark::Bad)),
        None => {}
    }
    if !status.holds.is_empty() {
        let by: Vec<&str> = status.holds.iter().map(|hold| hold.by.as_str()).collect();
        standing.push((format!("{} hold(s): {}", by.len(), by.join("; ")), Mark::Doubt));
    }
    if !standing.is_empty() {
        lines.push(standing);
    }
    if let Some(fault) = &status.first_fault {
        lines.push(vec![(format!("first fault: {fault}"), Mark::Bad)]);
    }
    lines.push(Parts::new());
    lines
}

fn first(status: &Status) -> Parts {
    let version: Vec<&str> = status.program.split(' ').take(2).collect();
    vec![
        (version.join(" "), Mark::Title),
        (format!("  {}  {}  up {}", status.board, status.mode, up(status.uptime_ms)), Mark::Plain),
        (format!("  every {} us  pid {}", grouped(status.period_us), status.pid), Mark::Dim),
    ]
}

fn up(ms: u64) -> String {
    let s = ms / 1_000;
    format!("{}:{:02}:{:02}", s / 3_600, s % 3_600 / 60, s % 60)
}

/// A file without its folders, which would push out what stands behind it; `bwmon status` has them.
fn short(name: &str) -> String {
    let file = name.rsplit('/').next().filter(|_| !name.starts_with("chain:"));
    file.unwrap_or(name).to_owned()
}

fn policy(status: &Status) -> Parts {
    let mut parts = vec![
        ("policy ".into(), Mark::Dim),
        (short(&status.policy.name), Mark::Plain),
        (format!(" {}", status.policy.digest), Mark::Dim),
    ];
    if let Some(product) = &status.product {
        let version = product.version.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
        parts.push(("  product ".into(), Mark::Dim));
        parts.push((format!("{}{version}", product.name), Mark::Plain));
        if let Some(bundle) = &product.bundle {
            parts.push(("  bundle ".into(), Mark::Dim));
            parts.push((bundle.title(), Mark::Plain));
        }
    }
    parts
}

fn counts(status: &Status) -> Parts {
    let counts = &status.counts;
    let bad = |n: u64| if n > 0 { Mark::Bad } else { Mark::Plain };
    let mut parts = vec![
        (format!("ticks {}", grouped(counts.ticks)), Mark::Plain),
        (format!("  missed {}", grouped(counts.missed)), Mark::Plain),
        (format!("  moves {}", grouped(counts.transitions)), Mark::Plain),
        (format!("  refused {}", grouped(counts.refused)), bad(counts.refused)),
        (format!("  faults {}", grouped(counts.faults)), bad(counts.faults)),
    ];
    let lost = match counts.lost_events {
        Some(lost) => (format!("  lost events {}", grouped(lost)), bad(lost)),
        None => ("  lost events -".to_owned(), Mark::Dim),
    };
    parts.push(lost);
    if counts.journal_errors > 0 {
        parts.push((format!("  journal errors {}", grouped(counts.journal_errors)), Mark::Bad));
    }
    parts
}
