//! Charts of bandwidth and votes over time: for the terminal ([`text`]) and as one SVG file
//! ([`svg`]).
//!
//! A chart is made of values that hold: a measured window counts from its start to the start of
//! the next one, a vote until the next vote. What is not known is a gap, never a zero. Where
//! several values fall into one column or pixel the highest is shown, so a peak cannot disappear;
//! what can disappear is a dip, or a gap, that is shorter than a column.
//!
//! Why no plotting crate: `plotters` with only its SVG backend is three more crates and draws no
//! text, so the axes and the reduction would be here all the same. Its SVG (plotters-svg 0.3)
//! writes colours into each element and has neither `<title>` for screen readers nor classes, on
//! which the dark palette hangs; both would have to be patched into its output.

mod axis;
mod hold;
mod marks;
mod svg;
mod text;

#[cfg(test)]
mod samples;

use crate::units::Nanos;

pub(crate) use axis::step;
pub use svg::svg;
pub(crate) use svg::{Inline, STYLE, inline};
pub use text::text;

/// One picture: what was measured and what was asked for, over one stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What is shown, in one line.
    pub title: String,
    /// The unit of all values. `kBps` is scaled and shown as kB/s, MB/s, GB/s or TB/s (decimal);
    /// any other unit is shown as it stands.
    pub unit: &'static str,
    /// The time axis runs from 0 to here; points beyond are not shown. Zero: up to the last point.
    pub duration: Nanos,
    /// The curves. The first area lies over later ones, lines lie over areas.
    pub series: Vec<Series>,
    /// Moments worth a name, in any order.
    pub marks: Vec<Mark>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Filled from zero: measured traffic.
    Area,
    /// A line that holds and jumps: votes, levels in force.
    Step,
    /// A thin line from point to point (dots in a terminal): bounds, averages.
    Line,
}

/// One curve. Its points are in order of time, and each value is finite and not negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    name: String,
    style: Style,
    points: Vec<(Nanos, Option<f64>)>,
}

/// A moment with a name, such as the start of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: Nanos,
    /// Its name.
    pub label: String,
}

/// The points of a series are not in order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "chart series {name}: point {index} is at {} ns, before its neighbour at {} ns; sort the \
     points by time",
    at.0,
    before.0
)]
pub struct Unsorted {
    /// The series.
    pub name: String,
    /// The offending point, from 0.
    pub index: usize,
    /// Its time.
    pub at: Nanos,
    /// The time of the point ahead of it.
    pub before: Nanos,
}

impl Series {
    /// A curve through `points`. Each value holds until the next point, the last one to the end of
    /// the chart; of two points at one moment the later wins. `None` is unknown, and so is every
    /// value that is not a finite number of at least zero.
    ///
    /// # Errors
    /// A point lies before the one ahead of it.
    pub fn new(
        name: impl Into<String>,
        style: Style,
        mut points: Vec<(Nanos, Option<f64>)>,
    ) -> Result<Self, Unsorted> {
        let name = name.into();
        let neighbours = points.iter().zip(points.iter().skip(1)).enumerate();
        for (index, ((before, _), (at, _))) in neighbours {
            if at < before {
                return Err(Unsorted { name, index: index + 1, at: *at, before: *before });
            }
        }
        for (_, value) in &mut points {
            *value = value.filter(|value| value.is_finite() && *value >= 0.0);
        }
        Ok(Self { name, style, points })
    }
}

impl Chart {
    /// Nanoseconds on the time axis, at least one.
    fn span(&self) -> u64 {
        let last = || self.series.iter().filter_map(|s| s.points.last()).map(|(at, _)| at.0).max();
        match self.duration.0 {
            0 => last().unwrap_or(0).max(1),
            span => span,
        }
    }

    /// The highest value on show.
    fn highest(&self) -> f64 {
        let span = self.span();
        let values = self.series.iter().flat_map(|s| hold::pieces(s, span)).filter_map(|p| p.value);
        values.fold(0.0, f64::max)
    }

    /// The marks on show, in order of time.
    fn marks_in_order(&self) -> Vec<&Mark> {
        let span = self.span();
        let mut marks: Vec<&Mark> = self.marks.iter().filter(|mark| mark.at.0 <= span).collect();
        marks.sort_by_key(|mark| mark.at);
        marks
    }
}

/// `text` as one line: control characters become spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `text` in one line of at most `width` characters; `cut` stands for what was cut off.
fn shortened(text: &str, width: usize, cut: char) -> String {
    let line = one_line(text);
    if line.chars().count() <= width {
        return line;
    }
    line.chars().take(width.saturating_sub(1)).chain([cut]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_out_of_order_are_refused_and_named() {
        let points = vec![(Nanos(5), Some(1.0)), (Nanos(9), None), (Nanos(8), Some(2.0))];
        let refused = Series::new("vote", Style::Step, points).unwrap_err();
        assert_eq!(
            refused,
            Unsorted { name: "vote".to_owned(), index: 2, at: Nanos(8), before: Nanos(9) }
        );
        assert_eq!(
            refused.to_string(),
            "chart series vote: point 2 is at 8 ns, before its neighbour at 9 ns; sort the points \
             by time"
        );
    }

    #[test]
    fn what_is_no_bandwidth_is_unknown() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 7.0];
        let points = odd.iter().map(|value| (Nanos(0), Some(*value))).collect();
        let series = Series::new("odd", Style::Area, points).unwrap();
        let kept: Vec<_> = series.points.iter().map(|(_, value)| *value).collect();
        assert_eq!(kept, [None, None, None, None, Some(7.0)]);
    }

    #[test]
    fn without_a_duration_the_axis_ends_at_the_last_point() {
        let series = |at| Series::new("s", Style::Step, vec![(Nanos(at), Some(1.0))]).unwrap();
        let chart = |duration, series| Chart {
            title: String::new(),
            unit: "kBps",
            duration: Nanos(duration),
            series,
            marks: Vec::new(),
        };
        assert_eq!(chart(0, vec![series(30), series(70)]).span(), 70);
        assert_eq!(chart(50, vec![series(30), series(70)]).span(), 50);
        assert_eq!(chart(0, Vec::new()).span(), 1);
    }
}
