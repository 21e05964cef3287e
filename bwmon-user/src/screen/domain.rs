//! One domain: two lines and the last half minute.

use super::{Mark, View, graph, put};
use crate::status::DomainStatus;
use crate::text_table::grouped;
use crate::units::Kbps;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws `domain` into `area`, at least two rows high.
pub(super) fn paint(buffer: &mut Buffer, area: Rect, domain: &DomainStatus, view: View) {
    let (level, measured) = (level(domain), measured(domain));
    let state = state(domain);
    let first = [
        (format!("{:<8}", domain.name), Mark::Title),
        (format!("{level:<30}"), Mark::Plain),
        (measured, if domain.peak_kbps.is_some() { Mark::Plain } else { Mark::Doubt }),
    ];
    let wish = if domain.why.is_empty() {
        domain.ask.clone()
    } else {
        format!("{} \"{}\"", domain.ask, domain.why)
    };
    let by = match domain.by.as_str() {
        "fallback" => " by the native rule",
        "demoted" => " by the native rule (demoted)",
        _ => "",
    };
    let second = [
        ("        ".to_owned(), Mark::Plain),
        (format!("{wish}{by}"), if by.is_empty() { Mark::Plain } else { Mark::Bad }),
        (made(domain), Mark::Doubt),
        (state.0, state.1),
    ];
    for (row, parts) in [(area.y, &first[..]), (area.y + 1, &second[..])] {
        let parts: Vec<(&str, Mark)> = parts.iter().map(|(t, m)| (t.as_str(), *m)).collect();
        put(buffer, area, row, &parts, view);
    }
    // The last row stays free between two domains.
    if area.height > 3 {
        let inner = Rect { x: area.x, y: area.y + 2, width: area.width, height: area.height - 3 };
        graph::paint(buffer, inner, domain, view);
    }
}

fn kbps(value: Option<Kbps>) -> String {
    value.map_or_else(|| "-".to_owned(), |kbps| grouped(kbps.0))
}

fn level(domain: &DomainStatus) -> String {
    let top = domain.table_kbps.len().saturating_sub(1);
    let bounds = match (domain.min_level, domain.max_level) {
        (0, max) if max == top => String::new(),
        (min, max) => format!(" ({min}..{max})"),
    };
    let level = domain.level.map_or_else(|| "-".to_owned(), |level| level.to_string());
    format!("level {level}/{top}{bounds} {}", kbps(domain.level_kbps))
}

fn measured(domain: &DomainStatus) -> String {
    let peak = match (&domain.peak_kbps, &domain.missing) {
        (None, Some(why)) => format!("- ({why})"),
        (peak, _) => kbps(*peak),
    };
    let mean = domain.mean_kbps.map(|mean| format!(" mean {}", grouped(mean.0)));
    let mean = mean.unwrap_or_default();
    format!("peak {peak}{mean} others {}", kbps(domain.others_kbps))
}

/// What the guard rails made of the wish, where that is something else.
fn made(domain: &DomainStatus) -> String {
    match domain.reason.as_str() {
        "" | "policy" => String::new(),
        reason => format!(" -> {reason}"),
    }
}

fn state(domain: &DomainStatus) -> (String, Mark) {
    match (domain.owner.as_str(), &domain.answer) {
        ("ours", Some(answer)) if domain.refused > 0 => {
            (format!("  {answer} ({} refused)", domain.refused), Mark::Bad)
        }
        ("ours", Some(answer)) => (format!("  {answer}"), Mark::Good),
        ("ours", None) => (String::new(), Mark::Plain),
        (owner, Some(answer)) => (format!("  {owner}: {answer}"), Mark::Bad),
        (owner, None) => (format!("  {owner}"), Mark::Bad),
    }
}
