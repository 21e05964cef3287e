//! A picture without a terminal: as plain text, and as SVG for the docs.

use super::{View, paint};
use crate::status::Status;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use std::fmt::Write;

fn buffer(status: &Status, columns: u16, rows: u16, view: View) -> Buffer {
    let area = Rect { x: 0, y: 0, width: columns, height: rows };
    let mut buffer = Buffer::empty(area);
    paint(&mut buffer, area, status, view);
    buffer
}

/// The picture as lines of text.
pub fn frame_text(status: &Status, columns: u16, rows: u16, view: View) -> String {
    let buffer = buffer(status, columns, rows, View { colour: false, ..view });
    let mut text = String::new();
    for row in 0..rows {
        let line: String = (0..columns)
            .filter_map(|column| buffer.cell((column, row)))
            .map(|c| c.symbol())
            .collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Size of a cell in the picture's own units.
const CELL: (u16, u16) = (8, 17);

/// The picture as SVG.
pub fn svg(status: &Status, columns: u16, rows: u16) -> String {
    let view = View { colour: true, ascii: false, gone: false };
    let buffer = buffer(status, columns, rows, view);
    let (width, height) = (columns * CELL.0 + 16, rows * CELL.1 + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"monospace\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#16181d\"/>\n"
    );
    for row in 0..rows {
        for column in 0..columns {
            let Some(cell) = buffer.cell((column, row)) else { continue };
            let symbol = cell.symbol();
            if symbol == " " {
                continue;
            }
            let (x, y) = (8 + column * CELL.0, 8 + row * CELL.1 + 13);
            let symbol = symbol.replace('&', "&amp;").replace('<', "&lt;");
            // Writing to a string cannot fail.
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{y}\" fill=\"{}\">{symbol}</text>",
                fill(cell.fg)
            );
        }
    }
    svg + "</svg>\n"
}

fn fill(colour: Color) -> &'static str {
    match colour {
        Color::Cyan => "#5cc8d8",
        Color::DarkGray => "#7d8590",
        Color::Green => "#7ec87e",
        Color::Yellow => "#e0c060",
        Color::Red => "#f07070",
        _ => "#d8dce2",
    }
}
