//! A chart as text, in one colour.

use super::axis::Axis;
use super::hold::{column, columns};
use super::marks::{self, Label};
use super::{Chart, Series, Style, one_line, shortened};
use std::iter::repeat;

/// Columns that a plot needs at least.
const NARROWEST: usize = 8;
/// Columns and rows at most, whatever is asked for.
const WIDEST: usize = 1_000;
const TALLEST: usize = 200;
/// Columns per tick of the time axis.
const TICK_EVERY: usize = 10;

/// The characters of one drawing.
struct Glyphs {
    /// A cell filled by one to eight eighths, for the first area.
    filled: [char; 8],
    /// The same for other areas.
    other_filled: [char; 8],
    steps: [StepGlyphs; 2],
    dot: char,
    unknown: char,
    mark: char,
    axis: char,
    axis_tick: char,
    floor: char,
    floor_tick: char,
    corner: char,
    /// Stands for what was cut off.
    cut: char,
}

/// The parts of a step line: along, up and down, and the four ends of a jump.
struct StepGlyphs {
    along: char,
    jump: char,
    leave_up: char,
    arrive_up: char,
    leave_down: char,
    arrive_down: char,
}

const fn step_glyphs(
    [along, jump, leave_up, arrive_up, leave_down, arrive_down]: [char; 6],
) -> StepGlyphs {
    StepGlyphs { along, jump, leave_up, arrive_up, leave_down, arrive_down }
}

const UNICODE: Glyphs = Glyphs {
    filled: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
    other_filled: [' ', '░', '░', '░', '░', '░', '░', '░'],
    steps: [
        step_glyphs(['─', '│', '┘', '┌', '┐', '└']),
        step_glyphs(['═', '║', '╝', '╔', '╗', '╚']),
    ],
    dot: '·',
    unknown: '?',
    mark: '▲',
    axis: '│',
    axis_tick: '┤',
    floor: '─',
    floor_tick: '┬',
    corner: '└',
    cut: '…',
};

const ASCII: Glyphs = Glyphs {
    filled: ['.', '.', ':', ':', ':', '#', '#', '#'],
    other_filled: [' ', '%', '%', '%', '%', '%', '%', '%'],
    steps: [
        step_glyphs(['-', '|', '+', '+', '+', '+']),
        step_glyphs(['=', '|', '+', '+', '+', '+']),
    ],
    dot: '*',
    unknown: '?',
    mark: '^',
    axis: '|',
    axis_tick: '+',
    floor: '-',
    floor_tick: '+',
    corner: '+',
    cut: '~',
};

/// The chart in at most `width` columns, with `height` rows for the plot itself; above it the
/// title, below it the time axis, the marks (if any) and the legend. Each line ends in a newline.
///
/// A column shows the highest value that held within it, for traffic and votes alike: a peak
/// stays visible however short it was. Traffic is filled in eighths of a row, and some traffic,
/// however little, fills one; none fills none. A vote is a line through the row in which it lies
/// and covers the traffic there. A column of which nothing was measured has a `?` in the
/// time axis.
/// `unicode: false` draws the same in ASCII; titles and names are printed as they are.
pub fn text(chart: &Chart, width: usize, height: usize, unicode: bool) -> String {
    let (width, height) = (width.min(WIDEST), height.clamp(1, TALLEST));
    let glyphs = if unicode { &UNICODE } else { &ASCII };
    let values = Axis::value_rows(chart.highest(), height, chart.unit);
    let labels = values.ticks.iter().map(|tick| values.label(*tick).chars().count());
    // The labels, a space, the axis.
    let gutter = labels.chain([values.unit.chars().count()]).max().unwrap_or(0) + 2;
    let mut lines = Vec::new();
    match width.checked_sub(gutter).filter(|columns| *columns >= NARROWEST) {
        Some(columns) => {
            let title = shortened(&chart.title, columns, glyphs.cut);
            lines.push(format!("{:>1$}  {title}", values.unit, gutter - 2));
            let plot = Plot { chart, glyphs, gutter, columns, rows: height };
            lines.extend(plot.values(&values));
            lines.extend(plot.time());
            lines.extend(plot.marks());
            lines.extend(plot.legend());
        }
        None => {
            lines.push(shortened(&chart.title, width, glyphs.cut));
            lines.push(format!("(a chart needs {} columns)", gutter + NARROWEST));
        }
    }
    let mut text = String::new();
    for line in lines {
        let cut: String = line.chars().take(width).collect();
        text.push_str(cut.trim_end());
        text.push('\n');
    }
    text
}

/// What all parts of one drawing share.
struct Plot<'a> {
    chart: &'a Chart,
    glyphs: &'static Glyphs,
    gutter: usize,
    columns: usize,
    rows: usize,
}

impl Plot<'_> {
    /// The plot with the value axis at its left, and the floor under it.
    fn values(&self, axis: &Axis) -> Vec<String> {
        let mut grid = Grid::new(self.columns, self.rows);
        let of = |style| self.chart.series.iter().filter(move |series| series.style == style);
        for (nth, area) in of(Style::Area).enumerate().collect::<Vec<_>>().into_iter().rev() {
            self.area(&mut grid, axis, area, nth);
        }
        for line in of(Style::Line) {
            self.dots(&mut grid, axis, line);
        }
        for (step, glyphs) in of(Style::Step).zip(self.glyphs.steps.iter().cycle()) {
            self.step(&mut grid, axis, step, glyphs);
        }
        let edge = |tick: f64| (axis.share(tick) * self.rows as f64).round() as usize;
        let label = |row: usize| axis.ticks.iter().find(|tick| edge(**tick) == row);
        let mut lines: Vec<String> = Vec::new();
        for (row, cells) in grid.cells.iter().enumerate().rev() {
            let (label, stroke) = match label(row + 1) {
                Some(tick) => (axis.label(*tick), self.glyphs.axis_tick),
                None => (String::new(), self.glyphs.axis),
            };
            lines.push(self.line(&label, stroke, cells));
        }
        let mut floor = vec![self.glyphs.floor; self.columns];
        for at in self.unknown() {
            put(&mut floor, at, self.glyphs.unknown);
        }
        for (at, _) in self.time_ticks().1 {
            put(&mut floor, at, self.glyphs.floor_tick);
        }
        lines.push(self.line("0", self.glyphs.corner, &floor));
        lines
    }

    fn line(&self, label: &str, stroke: char, cells: &[char]) -> String {
        let cells: String = cells.iter().collect();
        format!("{label:>0$} {stroke}{cells}", self.gutter - 2)
    }

    fn area(&self, grid: &mut Grid, axis: &Axis, series: &Series, nth: usize) {
        let filled = if nth == 0 { &self.glyphs.filled } else { &self.glyphs.other_filled };
        for (x, value) in columns(series, self.chart.span(), self.columns).iter().enumerate() {
            let Some(value) = value else { continue };
            let eighths = (axis.share(*value) * self.rows as f64 * 8.0).round() as usize;
            let eighths = if *value > 0.0 { eighths.max(1) } else { 0 };
            for y in 0..eighths.div_ceil(8) {
                let within = (eighths - y * 8).min(8);
                let glyph = filled.get(within - 1).copied().unwrap_or(' ');
                grid.put(x, y, glyph);
            }
        }
    }

    fn dots(&self, grid: &mut Grid, axis: &Axis, series: &Series) {
        for (x, value) in columns(series, self.chart.span(), self.columns).iter().enumerate() {
            if let Some(value) = value {
                grid.put(x, self.row(axis, *value), self.glyphs.dot);
            }
        }
    }

    fn step(&self, grid: &mut Grid, axis: &Axis, series: &Series, glyphs: &StepGlyphs) {
        let mut before: Option<usize> = None;
        for (x, value) in columns(series, self.chart.span(), self.columns).iter().enumerate() {
            let now = value.map(|value| self.row(axis, value));
            if let Some(now) = now {
                match before {
                    Some(before) if before != now => {
                        let (low, high) = (before.min(now), before.max(now));
                        (low..high).for_each(|y| grid.put(x, y, glyphs.jump));
                        let (leave, arrive) = match before < now {
                            true => (glyphs.leave_up, glyphs.arrive_up),
                            false => (glyphs.leave_down, glyphs.arrive_down),
                        };
                        grid.put(x, before, leave);
                        grid.put(x, now, arrive);
                    }
                    _ => grid.put(x, now, glyphs.along),
                }
            }
            before = now;
        }
    }

    /// The row in which `value` lies; an exact edge belongs to the row below it.
    fn row(&self, axis: &Axis, value: f64) -> usize {
        let height = axis.share(value) * self.rows as f64;
        ((height - 1e-9).ceil() as usize).clamp(1, self.rows) - 1
    }

    /// The columns in which some traffic is not known.
    fn unknown(&self) -> Vec<usize> {
        let areas = self.chart.series.iter().filter(|series| series.style == Style::Area);
        areas
            .flat_map(|area| columns(area, self.chart.span(), self.columns).into_iter().enumerate())
            .filter_map(|(x, value)| value.is_none().then_some(x))
            .collect()
    }

    /// The unit of time, and the columns of its ticks with their labels.
    fn time_ticks(&self) -> (&'static str, Vec<(usize, String)>) {
        let span = self.chart.span();
        let axis = Axis::time(span, (self.columns / TICK_EVERY).max(1));
        let place = |tick: &f64| (column(*tick as u64, span, self.columns), axis.label(*tick));
        (axis.unit, axis.ticks.iter().map(place).collect())
    }

    /// The labels of the time axis, centred under their ticks; the last one has the unit.
    fn time(&self) -> Option<String> {
        let (unit, ticks) = self.time_ticks();
        let last = ticks.len().checked_sub(1)?;
        let mut cells = vec![' '; self.columns];
        let mut free = 0;
        for (i, (at, label)) in ticks.into_iter().enumerate() {
            // The unit hangs on at the right, so that the number stays under its tick.
            let number = label.chars().count();
            let label = if i == last { format!("{label} {unit}") } else { label };
            let length = label.chars().count();
            let start = at.saturating_sub(number / 2).min(self.columns.saturating_sub(length));
            if start >= free {
                write(&mut cells, start, &label);
                free = start + length + 1;
            }
        }
        Some(self.line("", ' ', &cells))
    }

    /// A row with a tick and a name for each mark, and a row for the names that had no room there.
    fn marks(&self) -> Vec<String> {
        let marks = self.chart.marks_in_order();
        let places: Vec<(usize, String)> = marks
            .into_iter()
            .map(|mark| {
                let label = format!("{}{}", self.glyphs.mark, one_line(&mark.label));
                (column(mark.at.0, self.chart.span(), self.columns), label)
            })
            .collect();
        let labels: Vec<Label> = places
            .iter()
            .map(|(at, label)| Label { at: *at as f64, length: label.chars().count() as f64 })
            .collect();
        let rows = marks::rows(&labels, self.columns as f64, 1.0);
        let mut upper = vec![' '; self.columns];
        let mut lower = upper.clone();
        for ((at, label), row) in places.iter().zip(rows) {
            put(&mut upper, *at, self.glyphs.mark);
            match row {
                Some(0) => write(&mut upper, *at, label),
                Some(_) => {
                    write(&mut lower, *at, label.get(self.glyphs.mark.len_utf8()..).unwrap_or(""))
                }
                None => {}
            }
        }
        let used = |row: &[char]| row.iter().any(|c| *c != ' ');
        [upper, lower].iter().filter(|row| used(row)).map(|row| self.line("", ' ', row)).collect()
    }

    /// Which character is which series, on as many lines as it takes.
    fn legend(&self) -> Vec<String> {
        let later = self.glyphs.other_filled.last().copied().unwrap_or(' ');
        let mut areas = self.glyphs.filled.last().copied().into_iter().chain(repeat(later));
        let mut steps = self.glyphs.steps.iter().cycle().map(|glyphs| glyphs.along);
        let mut items = Vec::new();
        for series in &self.chart.series {
            let glyph = match series.style {
                Style::Area => areas.next(),
                Style::Step => steps.next(),
                Style::Line => Some(self.glyphs.dot),
            };
            items.push(format!("{} {}", glyph.unwrap_or(' '), one_line(&series.name)));
        }
        if !self.unknown().is_empty() {
            items.push(format!("{} unknown", self.glyphs.unknown));
        }
        let mut lines: Vec<String> = Vec::new();
        for item in items {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 3 + item.chars().count() <= self.columns => {
                    line.push_str("   ");
                    line.push_str(&item);
                }
                _ => lines.push(item),
            }
        }
        lines.iter().map(|line| format!("{}{line}", " ".repeat(self.gutter))).collect()
    }
}

/// Character cells, row 0 at the bottom.
struct Grid {
    cells: Vec<Vec<char>>,
}

impl Grid {
    fn new(columns: usize, rows: usize) -> Self {
        Self { cells: vec![vec![' '; columns]; rows] }
    }

    fn put(&mut self, x: usize, y: usize, glyph: char) {
        if let Some(row) = self.cells.get_mut(y) {
            put(row, x, glyph);
        }
    }
}

fn put(cells: &mut [char], at: usize, glyph: char) {
    if let Some(cell) = cells.get_mut(at) {
        *cell = glyph;
    }
}

fn write(cells: &mut [char], at: usize, text: &str) {
    for (cell, glyph) in cells.iter_mut().skip(at).zip(text.chars()) {
        *cell = glyph;
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
