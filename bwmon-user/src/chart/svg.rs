//! Charts as one SVG file that stands alone: no script, no font, no link; light and dark.

use super::axis::Axis;
use super::hold::{Run, merged, runs};
use super::marks::{self, Label};
use super::{Chart, Series, Style, shortened};
use std::fmt::Write;

const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
/// Height of a plot in a document of its own.
const PLOT_HEIGHT: f64 = 170.0;
/// Height of a line of small text.
const LINE: f64 = 16.0;
/// Width of a character of small text, on the wide side: nothing here can measure a font.
const CHARACTER: f64 = 6.3;
/// The same for the title.
const TITLE_CHARACTER: f64 = 8.4;
/// Pixels per tick of the time axis.
const TICK_EVERY: f64 = 110.0;

/// Colours: blue traffic, orange and purple votes, green and grey lines; votes and lines also
/// differ in their dashes.
pub(crate) const STYLE: &str = "\
.bwmon{font:11px system-ui,'Segoe UI',Helvetica,Arial,sans-serif}
.bwmon text{fill:#424a53}
.bwmon .paper{fill:#fff}
.bwmon .title{font-size:14px;font-weight:600;fill:#1f2328}
.bwmon .end{text-anchor:end}
.bwmon .middle{text-anchor:middle}
.bwmon path,.bwmon line{fill:none;stroke-width:1}
.bwmon .grid{stroke:#e1e5ea}
.bwmon .axis{stroke:#8c959f}
.bwmon .mark{stroke:#8c959f;stroke-dasharray:2 3}
.bwmon .unknown{fill:#8c959f;fill-opacity:.18}
.bwmon .area0{fill:#54aeff;fill-opacity:.55;stroke:#0969da}
.bwmon .area1{fill:#8c959f;fill-opacity:.35;stroke:#6e7781}
.bwmon .step0{stroke:#bc4c00;stroke-width:2}
.bwmon .step1{stroke:#8250df;stroke-width:2;stroke-dasharray:7 3}
.bwmon .line0{stroke:#1a7f37;stroke-width:1.5;stroke-linecap:round}
.bwmon .line1{stroke:#57606a;stroke-width:1.5;stroke-linecap:round;stroke-dasharray:1 4}
@media (prefers-color-scheme:dark){
.bwmon text{fill:#9ea7b3}
.bwmon .paper{fill:#0d1117}
.bwmon .title{fill:#e6edf3}
.bwmon .grid{stroke:#262c36}
.bwmon .axis,.bwmon .mark{stroke:#6e7681}
.bwmon .area0{fill:#1f6feb;stroke:#58a6ff}
.bwmon .step0{stroke:#f0883e}
.bwmon .step1{stroke:#bc8cff}
.bwmon .line0{stroke:#3fb950}
.bwmon .line1{stroke:#9ea7b3}
}
";

/// The charts as one SVG document of `width` pixels (320 to 4000), one panel under the other.
///
/// A series of more points than the plot has half pixels is reduced like columns of text: the
/// highest value of each half pixel is drawn. A stretch in which an area is unknown is shaded.
pub fn svg(charts: &[Chart], width: u32) -> String {
    let mut drawing = Drawing::new(width, PLOT_HEIGHT);
    for chart in charts {
        let most = (drawing.plot_width() * 2.0) as usize;
        drawing.panel(chart, most, chart.highest());
    }
    if charts.is_empty() {
        drawing.text("", LEFT, drawing.y + LINE, "nothing to show");
        drawing.y += 2.0 * LINE;
    }
    let (width, height) = (drawing.width, drawing.y.ceil());
    let titles: Vec<String> = charts.iter().map(|chart| escaped(&chart.title)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bwmon\" role=\"group\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n\
         <style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
        titles.join("; "),
        drawing.out,
    )
}

/// How a chart is drawn inside of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inline {
    /// Pixels, 320 to 4000.
    pub(crate) width: u32,
    /// Height of the plot alone.
    pub(crate) plot_height: f64,
    /// A series of more points is reduced to so many columns.
    pub(crate) columns: usize,
    /// The axis reaches so far at least, so that charts beside each other can be compared.
    pub(crate) highest: f64,
}

/// A chart as an SVG element for a page that has [`STYLE`] once.
pub(crate) fn inline(chart: &Chart, how: &Inline) -> String {
    let mut drawing = Drawing::new(how.width, how.plot_height);
    drawing.panel(chart, how.columns, chart.highest().max(how.highest));
    let (width, height) = (drawing.width, drawing.y.ceil());
    format!(
        "<svg class=\"bwmon\" role=\"group\" aria-label=\"{}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n{}</svg>\n",
        escaped(&chart.title),
        drawing.out,
    )
}

/// The document so far, and where the next thing goes.
struct Drawing {
    out: String,
    width: f64,
    plot_height: f64,
    y: f64,
}

/// Where the plot of one panel lies.
#[derive(Clone, Copy)]
struct Plot {
    width: f64,
    height: f64,
    top: f64,
}

impl Plot {
    fn x(self, share: f64) -> f64 {
        LEFT + share * self.width
    }

    fn y(self, share: f64) -> f64 {
        self.top + (1.0 - share) * self.height
    }

    fn floor(self) -> f64 {
        self.top + self.height
    }
}

impl Drawing {
    fn new(width: u32, plot_height: f64) -> Self {
        let width = f64::from(width.clamp(320, 4_000));
        Self { out: String::new(), width, plot_height, y: 8.0 }
    }

    fn plot_width(&self) -> f64 {
        self.width - LEFT - RIGHT
    }

    /// Writing into a `String` cannot fail.
    fn write(&mut self, what: std::fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(what);
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.write(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n",
            escaped(text)
        ));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.write(format_args!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\n",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A chart with at most `most` columns of values, its axis for values up to `highest`.
    fn panel(&mut self, chart: &Chart, most: usize, highest: f64) {
        self.write(format_args!("<g role=\"img\"><title>{}</title>\n", escaped(&chart.title)));
        let room = ((self.width - LEFT) / TITLE_CHARACTER) as usize;
        self.text("title", LEFT, self.y + 16.0, &shortened(&chart.title, room, '…'));
        self.y += 24.0;
        let names = classes(&chart.series);
        let curves: Vec<Vec<Run>> =
            chart.series.iter().map(|series| runs(series, chart.span(), most)).collect();
        let unknown: Vec<Run> = chart
            .series
            .iter()
            .zip(&curves)
            .filter(|(series, _)| series.style == Style::Area)
            .flat_map(|(_, runs)| merged(runs.clone()))
            .filter(|run| run.value.is_none())
            .collect();
        self.legend(chart, &names, !unknown.is_empty());
        let (labels, strip) = self.mark_labels(chart);
        let top = self.y + strip + 4.0;
        let plot = Plot { width: self.plot_width(), height: self.plot_height, top };
        let axis = Axis::values(highest, chart.unit);
        self.axes(chart, &axis, plot);
        for run in unknown {
            let (x, width) = (plot.x(run.from), (run.to - run.from) * plot.width);
            self.write(format_args!(
                "<rect class=\"unknown\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" \
                 height=\"{}\"><title>unknown</title></rect>\n",
                plot.top, plot.height
            ));
        }
        let curves: Vec<_> = chart.series.iter().zip(curves).zip(names).collect();
        let areas = curves.iter().rev().filter(|((s, _), _)| s.style == Style::Area);
        let lines = curves.iter().filter(|((s, _), _)| s.style != Style::Area);
        for ((series, runs), class) in areas.chain(lines) {
            let path = match series.style {
                Style::Area => steps(&merged(runs.clone()), &axis, plot, true),
                Style::Step => steps(&merged(runs.clone()), &axis, plot, false),
                Style::Line => slopes(runs, &axis, plot),
            };
            self.write(format_args!(
                "<path class=\"{class}\" d=\"{path}\"><title>{}</title></path>\n",
                escaped(&series.name)
            ));
        }
        self.marks(chart, &labels, plot);
        self.y = plot.floor() + 2.0 * LINE + 12.0;
        self.out.push_str("</g>\n");
    }

    /// Swatches and names, on as many lines as it takes.
    fn legend(&mut self, chart: &Chart, classes: &[String], unknown: bool) {
        let series = chart.series.iter().zip(classes);
        let mut items: Vec<(bool, &str, &str)> = series
            .map(|(s, class)| (s.style == Style::Area, class.as_str(), s.name.as_str()))
            .collect();
        if unknown {
            items.push((true, "unknown", "unknown"));
        }
        let mut x = LEFT;
        for (filled, class, name) in items {
            let length = 22.0 + name.chars().count() as f64 * CHARACTER + 18.0;
            if x > LEFT && x + length > self.width - RIGHT {
                x = LEFT;
                self.y += LINE;
            }
            let middle = self.y + 7.0;
            match filled {
                true => self.write(format_args!(
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"16\" height=\"9\"/>\n",
                    middle - 4.5
                )),
                false => self.line(class, (x, middle), (x + 16.0, middle)),
            }
            self.text("", x + 22.0, middle + 4.0, name);
            x += length;
        }
        self.y += LINE + 4.0;
    }

    /// The row of each mark's name in the strip above the plot, and the height of the strip.
    fn mark_labels(&self, chart: &Chart) -> (Vec<Option<usize>>, f64) {
        let marks = chart.marks_in_order();
        let wanted: Vec<Label> = marks
            .iter()
            .map(|mark| Label {
                at: LEFT + share(mark.at.0, chart) * self.plot_width(),
                length: 3.0 + mark.label.chars().count() as f64 * CHARACTER,
            })
            .collect();
        let rows = marks::rows(&wanted, self.width - 4.0, 4.0);
        let height = rows.iter().flatten().max().map_or(0, |row| row + 1);
        (rows, height as f64 * LINE)
    }

    fn axes(&mut self, chart: &Chart, axis: &Axis, plot: Plot) {
        for tick in &axis.ticks {
            let y = plot.y(axis.share(*tick));
            self.line("grid", (LEFT, y), (LEFT + plot.width, y));
            self.text("end", LEFT - 7.0, y + 4.0, &axis.label(*tick));
        }
        self.text("end", LEFT - 7.0, plot.top - 6.0, axis.unit);
        let span = chart.span();
        let time = Axis::time(span, (plot.width / TICK_EVERY) as usize);
        for tick in &time.ticks {
            let x = plot.x(time.share(*tick));
            self.line("axis", (x, plot.floor()), (x, plot.floor() + 4.0));
            let label = format!("{} {}", time.label(*tick), time.unit);
            self.text("middle", x, plot.floor() + LINE + 2.0, &label);
        }
        self.line("axis", (LEFT, plot.floor()), (LEFT + plot.width, plot.floor()));
    }

    fn marks(&mut self, chart: &Chart, rows: &[Option<usize>], plot: Plot) {
        for (mark, row) in chart.marks_in_order().into_iter().zip(rows) {
            let x = plot.x(share(mark.at.0, chart));
            let top = plot.top - row.map_or(0.0, |row| (row + 1) as f64 * LINE);
            self.write(format_args!("<g><title>{}</title>\n", escaped(&mark.label)));
            self.line("mark", (x, top), (x, plot.floor()));
            if row.is_some() {
                self.text("", x + 3.0, top + 10.0, &mark.label);
            }
            self.out.push_str("</g>\n");
        }
    }
}

/// The class of each series: its style, and a number so that two of one style differ.
fn classes(series: &[Series]) -> Vec<String> {
    let (mut areas, mut steps, mut lines) = (0, 0, 0);
    let class = |series: &Series| {
        let (name, count) = match series.style {
            Style::Area => ("area", &mut areas),
            Style::Step => ("step", &mut steps),
            Style::Line => ("line", &mut lines),
        };
        *count += 1;
        format!("{name}{}", (*count - 1) % 2)
    };
    series.iter().map(class).collect()
}

/// A moment as a share of the time axis.
fn share(at: u64, chart: &Chart) -> f64 {
    at as f64 / chart.span() as f64
}

/// A path that holds and jumps; each stretch between gaps is closed along the floor if `filled`.
fn steps(runs: &[Run], axis: &Axis, plot: Plot, filled: bool) -> String {
    let mut path = String::new();
    for known in runs.split(|run| run.value.is_none()) {
        for (i, run) in known.iter().enumerate() {
            let (x, y) = (plot.x(run.from), plot.y(axis.share(run.value.unwrap_or(0.0))));
            let _ = match (i, filled) {
                (0, true) => write!(path, "M{x:.1} {:.1}V{y:.1}", plot.floor()),
                (0, false) => write!(path, "M{x:.1} {y:.1}"),
                _ => write!(path, "V{y:.1}"),
            };
            let _ = write!(path, "H{:.1}", plot.x(run.to));
        }
        if filled && !known.is_empty() {
            let _ = write!(path, "V{:.1}Z", plot.floor());
        }
    }
    path
}

/// A path from point to point; the last value of each stretch holds to its end.
fn slopes(runs: &[Run], axis: &Axis, plot: Plot) -> String {
    let mut path = String::new();
    for known in runs.split(|run| run.value.is_none()) {
        for (i, run) in known.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            let y = plot.y(axis.share(run.value.unwrap_or(0.0)));
            let _ = write!(path, "{command}{:.1} {y:.1}", plot.x(run.from));
        }
        if let Some(last) = known.last() {
            let _ = write!(path, "H{:.1}", plot.x(last.to));
        }
    }
    path
}

/// `text` for XML: its own characters escaped, characters that XML does not know left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "svg_tests.rs"]
mod tests;
