//! The report for people.

use crate::cli::output::grouped;
use crate::live::Report;
use crate::live::in_force::{InForce, Node};
use crate::live::reached::{Fit, Reached};

pub(super) fn text(report: &Report) -> String {
    let mut parts = vec![
        format!(
            "kernel {}, board {}: {}",
            report.kernel.as_deref().unwrap_or("unknown"),
            report.board.as_deref().unwrap_or("none"),
            report.board_why
        ),
        capabilities(report),
    ];
    parts.extend(ways(report));
    parts.extend(votes(&report.in_force));
    parts.extend(bandwidth(&report.bandwidth));
    parts.push(verdict(report));
    parts.join("\n\n")
}

fn capabilities(report: &Report) -> String {
    let width = report.capabilities.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
    let rows: Vec<String> = report
        .capabilities
        .iter()
        .map(|c| {
            let mark = if c.present { "yes" } else { "no" };
            let mut row = format!(" {mark:3}  {:width$}  {}", c.name, c.how);
            if !c.present && !c.without_it.is_empty() {
                row += &format!("\n      {:width$}  without it: {}", "", c.without_it);
            }
            row
        })
        .collect();
    rows.join("\n")
}

/// The ways that are there; the table above says what is missing.
fn ways(report: &Report) -> Option<String> {
    let there = report.ways.iter().filter(|way| way.present);
    let rows: Vec<String> =
        there.map(|way| format!(" {}: {} ({})", way.domain, way.by, way.how)).collect();
    (!rows.is_empty()).then(|| format!("ways to vote:\n{}", rows.join("\n")))
}

fn votes(in_force: &InForce) -> Option<String> {
    let mut rows: Vec<String> = in_force.nodes.iter().flat_map(node).collect();
    rows.extend(in_force.floors.iter().map(|floor| format!(" nobody\u{2019}s floor: {floor}")));
    if !in_force.waiting.is_empty() {
        let waiting = in_force.waiting.join(", ");
        rows.push(format!(" {waiting}: not all consumers have come up, boot floors are kept"));
    }
    for domain in &in_force.no_savings {
        rows.push(format!(" {domain}: savings impossible now, whatever is voted"));
    }
    (!rows.is_empty()).then(|| format!("in force:\n{}", rows.join("\n")))
}

fn node(node: &Node) -> Vec<String> {
    let votes = &node.votes;
    let of = if node.domains.is_empty() {
        String::new()
    } else {
        format!(" ({})", node.domains.join(", "))
    };
    let mut rows = vec![format!(
        " {}{of}: peak {} kBps, average {} kBps",
        votes.node,
        grouped(votes.peak_kbps.0),
        grouped(votes.avg_kbps.0)
    )];
    rows.extend(votes.votes.iter().zip(&node.owners).map(|(vote, owner)| {
        format!(
            "   {} tag {}: peak {}, average {}: {owner}",
            vote.consumer,
            vote.tag,
            grouped(vote.peak_kbps.0),
            grouped(vote.avg_kbps.0)
        )
    }));
    rows
}

fn bandwidth(all: &[Reached]) -> Option<String> {
    let rows: Vec<String> = all
        .iter()
        .map(|reached| {
            let fit = match reached.fit {
                Fit::Fits => "fits",
                Fit::TooLow => "too low",
                Fit::TooHigh => "too high",
                Fit::Unknown => "unknown",
            };
            format!(" {}: {fit}: {}", reached.domain, reached.why)
        })
        .collect();
    (!rows.is_empty())
        .then(|| format!("bandwidth reached, against the level:\n{}", rows.join("\n")))
}

fn verdict(report: &Report) -> String {
    let verdict = match (report.can_govern, report.can_shadow) {
        (true, _) => "this machine can be governed: `bwmon run`",
        (false, true) => {
            "this machine can be watched beside the kernel's driver: `bwmon run --shadow`"
        }
        (false, false) => {
            "this machine cannot be governed; `bwmon sim` runs everything on a simulated board"
        }
    };
    verdict.to_owned()
}
