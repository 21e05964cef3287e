use super::super::samples::{any_chart, burst, series};
use super::*;
use crate::chart::Mark;
use crate::units::Nanos;
use proptest::prelude::*;

fn lines(chart: &Chart, width: usize, height: usize) -> Vec<String> {
    text(chart, width, height, true).lines().map(str::to_owned).collect()
}

fn chart(series: Vec<Series>) -> Chart {
    Chart { series, marks: Vec::new(), ..burst() }
}

// 46 columns, 6 of them for the axis: a column is 2.5 ms. 4 rows for 4 GB/s: a row is 1 GB/s.
// The burst fills columns 8 to 19, 0.5 GB/s half of a row up to column 31, and from column
// 32 the time axis has `?`.
// The vote of 1 GB/s is in the lowest row, that of 4 GB/s in the highest, from column 12 to 27.
#[test]
fn a_burst_and_a_vote_that_follows() {
    let expected = "
GB/s  ddr
   4 ┤        ████┌───────────────┐
   3 ┤        ████│███████        │
   2 ┤        ████│███████        │
   1 ┤────────────┘███████▄▄▄▄▄▄▄▄└───────────
   0 └┬───────────────────┬───────────???????┬
      0                  50             100 ms
      ▲idle   ▲burst
      █ measured   ─ vote   ? unknown
";
    assert_eq!(format!("\n{}", text(&burst(), 46, 4, true)), expected);
}

#[test]
fn the_same_without_unicode() {
    let drawn = text(&burst(), 46, 4, false);
    assert!(drawn.is_ascii(), "{drawn}");
    let top = drawn.lines().nth(1).unwrap();
    assert_eq!(top, "   4 +        ####+---------------+");
}

#[test]
fn one_peak_among_ten_thousand_samples_reaches_its_full_height() {
    let points: Vec<_> =
        (0..10_000).map(|ms| (ms, Some(if ms == 7_777 { 8e6 } else { 1e6 }))).collect();
    let mut chart = chart(vec![series("measured", Style::Area, &points)]);
    chart.duration = Nanos(10_000 * Nanos::PER_MS);
    // 80 columns less 5 for the axis: 7 777 of 10 000 ms lies in column 58.
    let drawn = lines(&chart, 80, 8);
    assert_eq!(drawn[1].chars().position(|c| c == '█'), Some(5 + 58), "{}", drawn.join("\n"));
}

#[test]
fn some_traffic_is_visible_none_is_blank_and_unknown_is_neither() {
    let points = [(0, Some(1.0)), (25, Some(0.0)), (50, None), (75, Some(8e6))];
    let drawn = lines(&chart(vec![series("measured", Style::Area, &points)]), 46, 8);
    let lowest: String = drawn[8].chars().skip(6).collect();
    let blank = " ".repeat(20);
    assert_eq!(lowest, format!("{}{blank}{}", "▁".repeat(10), "█".repeat(10)));
    let floor: String = drawn[9].chars().skip(6).collect();
    assert_eq!(floor, "┬───────────────────┬?????????─────────┬");
}

#[test]
fn two_votes_two_areas_and_a_bound_are_told_apart() {
    let level = |name, style, value| series(name, style, &[(0, Some(value))]);
    let chart = chart(vec![
        level("measured", Style::Area, 1e6),
        level("others", Style::Area, 2e6),
        level("vote", Style::Step, 3e6),
        level("kernel", Style::Step, 4e6),
        level("bound", Style::Line, 5e6),
    ]);
    let drawn = lines(&chart, 50, 5);
    let plot: String = (1..6).map(|line| drawn[line].chars().last().unwrap()).collect();
    assert_eq!(plot, "·═─░█");
    assert_eq!(drawn[8].trim(), "█ measured   ░ others   ─ vote   ═ kernel");
    assert_eq!(drawn[9].trim(), "· bound");
}

#[test]
fn a_name_that_does_not_fit_beside_its_mark_stands_below_it() {
    let mark = |ms, label: &str| Mark { at: Nanos(ms * Nanos::PER_MS), label: label.to_owned() };
    let marks = vec![mark(50, "later"), mark(10, "app\nstart"), mark(20, "no room at all")];
    // A column is 2.5 ms: the marks are in columns 4, 8 and 20.
    let drawn = lines(&Chart { marks, ..burst() }, 46, 4);
    assert_eq!(drawn[7], format!("{}▲   ▲           ▲later", " ".repeat(10)));
    assert_eq!(drawn[8], format!("{}app start", " ".repeat(10)));
}

#[test]
fn a_terminal_too_narrow_gets_the_title_and_the_reason() {
    assert_eq!(text(&burst(), 13, 4, true), "ddr\n(a chart need\n");
    assert_eq!(text(&burst(), 0, 0, true), "\n\n");
}

#[test]
fn a_chart_of_nothing_has_its_axes() {
    let drawn = lines(&chart(Vec::new()), 40, 4);
    assert_eq!(drawn[0], "kB/s  ddr");
    assert_eq!(drawn.len(), 7, "{}", drawn.join("\n"));
}

proptest! {
    #[test]
    fn any_chart_fits_its_width(
        chart in any_chart(),
        width in prop_oneof![0usize..120, Just(usize::MAX)],
        height in prop_oneof![0usize..40, Just(usize::MAX)],
        unicode: bool,
    ) {
        let drawn = text(&chart, width, height, unicode);
        for line in drawn.lines() {
            prop_assert!(line.chars().count() <= width, "{line:?} in {width}");
        }
    }
}
