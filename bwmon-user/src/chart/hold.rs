//! Values that hold: points as stretches of time, and their reduction to columns.

use super::Series;
use std::iter::once;

/// One value and the stretch `from..to` (ns) in which it holds; `None` is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) value: Option<f64>,
}

/// One value and where it is drawn, as shares of the time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) value: Option<f64>,
}

/// The series from 0 to `span` without holes: the time before the first point is unknown.
pub(super) fn pieces(series: &Series, span: u64) -> impl Iterator<Item = Piece> {
    let starts = once((0, None)).chain(series.points.iter().map(|(at, value)| (at.0, *value)));
    let ends = series.points.iter().map(|(at, _)| at.0).chain(once(span));
    starts
        .zip(ends)
        .map(move |((from, value), to)| Piece { from, to: to.min(span), value })
        .filter(|piece| piece.from < piece.to)
}

/// The highest value in each of `count` equal columns. A column is unknown only if nothing is
/// known in all of it.
pub(super) fn columns(series: &Series, span: u64, count: usize) -> Vec<Option<f64>> {
    let mut columns: Vec<Option<f64>> = vec![None; count];
    for piece in pieces(series, span) {
        let Some(value) = piece.value else { continue };
        let (first, last) = (column(piece.from, span, count), column(piece.to - 1, span, count));
        for cell in columns.iter_mut().take(last + 1).skip(first) {
            *cell = Some(cell.map_or(value, |known| known.max(value)));
        }
    }
    columns
}

/// The column in which the moment `at` lies; the end of the axis lies in the last one.
pub(super) fn column(at: u64, span: u64, count: usize) -> usize {
    let place = u128::from(at) * count as u128 / u128::from(span.max(1));
    usize::try_from(place).unwrap_or(usize::MAX).min(count.saturating_sub(1))
}

/// The series as runs: exact if it has at most `most` points, else reduced to `most` columns.
pub(super) fn runs(series: &Series, span: u64, most: usize) -> Vec<Run> {
    if series.points.len() <= most {
        let share = |at: u64| at as f64 / span.max(1) as f64;
        return pieces(series, span)
            .map(|p| Run { from: share(p.from), to: share(p.to), value: p.value })
            .collect();
    }
    let share = |column: usize| column as f64 / most.max(1) as f64;
    let columns = columns(series, span, most).into_iter().enumerate();
    columns.map(|(i, value)| Run { from: share(i), to: share(i + 1), value }).collect()
}

/// Neighbouring runs of one value as one.
pub(super) fn merged(runs: Vec<Run>) -> Vec<Run> {
    let mut merged: Vec<Run> = Vec::new();
    for run in runs {
        match merged.last_mut() {
            Some(last) if last.value == run.value => last.to = run.to,
            _ => merged.push(run),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;
    use crate::units::Nanos;

    fn series(points: &[(u64, Option<f64>)]) -> Series {
        let points = points.iter().map(|(at, value)| (Nanos(*at), *value)).collect();
        Series::new("s", Style::Area, points).unwrap()
    }

    #[test]
    fn the_time_before_the_first_point_is_unknown_and_the_last_value_holds_to_the_end() {
        let got: Vec<_> = pieces(&series(&[(10, Some(1.0)), (20, None), (30, Some(2.0))]), 50)
            .map(|p| (p.from, p.to, p.value))
            .collect();
        assert_eq!(got, [(0, 10, None), (10, 20, Some(1.0)), (20, 30, None), (30, 50, Some(2.0))]);
    }

    #[test]
    fn points_beyond_the_end_and_points_overwritten_at_once_are_not_drawn() {
        let points = [(0, Some(1.0)), (0, Some(2.0)), (40, Some(3.0)), (60, Some(4.0))];
        let got: Vec<_> = pieces(&series(&points), 50).map(|p| (p.from, p.to, p.value)).collect();
        assert_eq!(got, [(0, 40, Some(2.0)), (40, 50, Some(3.0))]);
    }

    #[test]
    fn a_peak_of_one_nanosecond_among_a_million_keeps_its_column() {
        // Ten columns of 100 000 ns: 345 678 lies in column 3.
        let points = [(0, Some(1.0)), (345_678, Some(9.0)), (345_679, Some(1.0))];
        let got = columns(&series(&points), 1_000_000, 10);
        let expected: Vec<_> = (0..10).map(|i| Some(if i == 3 { 9.0 } else { 1.0 })).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn a_gap_shows_where_it_fills_a_column_and_a_shorter_one_does_not() {
        // Columns of 10 ns: 20..30 is unknown throughout, 40..50 only in part.
        let points = [(0, Some(1.0)), (20, None), (30, Some(2.0)), (45, None), (48, Some(3.0))];
        assert_eq!(
            columns(&series(&points), 50, 5),
            [Some(1.0), Some(1.0), None, Some(2.0), Some(3.0)]
        );
    }

    #[test]
    fn few_points_stay_exact_and_many_are_reduced() {
        let few = series(&[(0, Some(1.0)), (25, Some(2.0))]);
        let exact = runs(&few, 100, 2);
        assert_eq!(exact.iter().map(|r| r.to).collect::<Vec<_>>(), [0.25, 1.0]);
        let many = series(&[(0, Some(1.0)), (25, Some(2.0)), (30, Some(1.0))]);
        let reduced = runs(&many, 100, 2);
        assert_eq!(reduced.iter().map(|r| r.value).collect::<Vec<_>>(), [Some(2.0), Some(1.0)]);
    }

    #[test]
    fn equal_neighbours_become_one_run() {
        let run = |from, to, value| Run { from, to, value };
        let got = merged(vec![
            run(0.0, 0.1, None),
            run(0.1, 0.2, None),
            run(0.2, 0.5, Some(1.0)),
            run(0.5, 1.0, Some(1.0)),
        ]);
        assert_eq!(got, [run(0.0, 0.2, None), run(0.2, 1.0, Some(1.0))]);
    }
}
