//! The picture of `bwmon top`: a status on a terminal's cells; pure. All meaning is in the text, colour
//! only helps to find it. What is not known is `-`, never 0.

mod domain;
mod graph;
mod heading;
mod text;

pub use text::{frame_text, svg};

use crate::status::Status;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// Columns and rows below which nothing fits.
const LEAST: (u16, u16) = (60, 9);

/// How it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// With colour.
    pub colour: bool,
    /// With plain characters where others may not be there.
    pub ascii: bool,
    /// The agent has gone: this is its last picture.
    pub gone: bool,
}

/// What a part of the picture is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Title,
    Plain,
    Dim,
    Good,
    Doubt,
    Bad,
}

impl View {
    fn style(self, mark: Mark) -> Style {
        let plain = Style::default();
        let emphasis = match mark {
            Mark::Title | Mark::Bad => plain.add_modifier(Modifier::BOLD),
            _ => plain,
        };
        if !self.colour {
            return emphasis;
        }
        match mark {
            Mark::Title => emphasis.fg(Color::Cyan),
            Mark::Plain => plain,
            Mark::Dim => plain.fg(Color::DarkGray),
            Mark::Good => plain.fg(Color::Green),
            Mark::Doubt => plain.fg(Color::Yellow),
            Mark::Bad => emphasis.fg(Color::Red),
        }
    }
}

/// Draws `status` over the whole frame.
pub fn draw(frame: &mut Frame<'_>, status: &Status, view: View) {
    let area = frame.area();
    paint(frame.buffer_mut(), area, status, view);
}

/// Draws `status` into `area` of `buffer`.
pub fn paint(buffer: &mut Buffer, area: Rect, status: &Status, view: View) {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (columns, rows) = LEAST;
        let text = format!("at least {columns}x{rows}, this is {}x{}", area.width, area.height);
        buffer.set_stringn(area.x, area.y, text, area.width.into(), Style::default());
        return;
    }
    let used = heading::paint(buffer, area, status, view);
    let bottom = area.y + area.height - 1;
    let foot = if view.gone { "the agent has gone; waiting for it    q quit" } else { "q quit" };
    let mark = if view.gone { Mark::Bad } else { Mark::Dim };
    put(buffer, area, bottom, &[(foot, mark)], view);
    let mut top = area.y + used;
    let count = u16::try_from(status.domains.len()).unwrap_or(u16::MAX).max(1);
    let room = bottom.saturating_sub(top);
    // Two lines of text each and a graph, of at most so many rows that all fit.
    let each = (room / count).clamp(2, 12);
    for domain in &status.domains {
        if top + 2 > bottom {
            let line = "… more domains than rows; `bwmon status` shows all";
            put(buffer, area, bottom - 1, &[(line, Mark::Doubt)], view);
            break;
        }
        let height = each.min(bottom - top);
        domain::paint(buffer, Rect { y: top, height, ..area }, domain, view);
        top += height;
    }
}

/// Writes `parts` one after the other in row `row`; what does not fit is cut off.
fn put(buffer: &mut Buffer, area: Rect, row: u16, parts: &[(&str, Mark)], view: View) {
    let mut column = area.x;
    let end = area.x + area.width;
    for (text, mark) in parts {
        let room = usize::from(end.saturating_sub(column));
        if room == 0 {
            return;
        }
        let clean: String = text.chars().map(crate::diag::printable).collect();
        (column, _) = buffer.set_stringn(column, row, clean, room, view.style(*mark));
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
pub(crate) mod tests;
