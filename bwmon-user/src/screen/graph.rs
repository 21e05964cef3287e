//! The last half minute: what was measured as bars, the level as a line above or in them.

use super::{Mark, View};
use crate::status::DomainStatus;
use crate::units::Kbps;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Eighths of a cell.
const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws the history, the newest at the right edge. The top of `area` is the highest level, or the
/// highest reading where that is more.
pub(super) fn paint(buffer: &mut Buffer, area: Rect, domain: &DomainStatus, view: View) {
    let width = usize::from(area.width);
    let skip = domain.history.len().saturating_sub(width);
    let shown = domain.history.get(skip..).unwrap_or_default();
    let readings = shown.iter().filter_map(|bucket| bucket.peak_kbps);
    let Some(top) = domain.table_kbps.last().copied().into_iter().chain(readings).max() else {
        return;
    };
    let start = area.x + area.width - u16::try_from(shown.len()).unwrap_or(area.width);
    for (column, bucket) in (start..).zip(shown) {
        let bar = bucket.peak_kbps.map(|peak| eighths(peak, top, area.height));
        let line = bucket.level_kbps.map(|level| row_of(level, top, area.height));
        for row in 0..area.height {
            // From the bottom.
            let up = area.height - 1 - row;
            let (symbol, mark) = cell(bar, line, up, view);
            if let Some(cell) = buffer.cell_mut((column, area.y + row)) {
                cell.set_symbol(symbol).set_style(view.style(mark));
            }
        }
    }
}

/// The symbol of the cell `up` rows above the bottom.
fn cell(bar: Option<u64>, line: Option<u16>, up: u16, view: View) -> (&'static str, Mark) {
    if line == Some(up) {
        return (if view.ascii { "-" } else { "─" }, Mark::Title);
    }
    let Some(bar) = bar else {
        // Unknown is not empty.
        return if up == 0 {
            (if view.ascii { "?" } else { "·" }, Mark::Dim)
        } else {
            (" ", Mark::Dim)
        };
    };
    let filled = bar.saturating_sub(u64::from(up) * 8).min(8);
    if view.ascii {
        return (if filled >= 4 { "#" } else { " " }, Mark::Good);
    }
    let index = usize::try_from(filled).unwrap_or(0);
    (BARS.get(index).copied().unwrap_or(" "), Mark::Good)
}

/// How many eighths of a column of `height` cells `value` fills; something is never nothing.
fn eighths(value: Kbps, top: Kbps, height: u16) -> u64 {
    let all = u128::from(height) * 8;
    let part = u128::from(value.0) * all / u128::from(top.0.max(1));
    let part = u64::try_from(part).unwrap_or(u64::MAX);
    if value.0 > 0 { part.max(1) } else { 0 }
}

/// The row, from the bottom, in which a level's line stands.
fn row_of(level: Kbps, top: Kbps, height: u16) -> u16 {
    let part = u128::from(level.0) * u128::from(height) / u128::from(top.0.max(1));
    u16::try_from(part).unwrap_or(height).min(height.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_eighths_of_the_highest_and_a_line_stands_in_a_row() {
        // 4 rows are 32 eighths; half of the top is 16.
        assert_eq!(eighths(Kbps(50), Kbps(100), 4), 16);
        assert_eq!(eighths(Kbps(100), Kbps(100), 4), 32);
        assert_eq!((eighths(Kbps(0), Kbps(100), 4), eighths(Kbps(1), Kbps(10_000), 4)), (0, 1));
        assert_eq!((row_of(Kbps(100), Kbps(100), 4), row_of(Kbps(49), Kbps(100), 4)), (3, 1));
        assert_eq!(row_of(Kbps(0), Kbps(0), 4), 0);
    }

    #[test]
    fn what_is_not_known_is_marked_and_not_empty() {
        let view = View { colour: false, ascii: true, gone: false };
        assert_eq!(cell(None, None, 0, view).0, "?");
        assert_eq!(cell(Some(0), None, 0, view).0, " ");
        assert_eq!(cell(Some(8), Some(0), 0, view).0, "-");
        assert_eq!(cell(Some(12), None, 1, view).0, "#");
    }
}
