use super::super::samples::{any_chart, burst, series};
use super::*;
use proptest::prelude::*;

/// Every tag is closed in order, no stray `<`, `&` or control character; attributes are quoted.
fn check(document: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once('<') {
        check_text(before)?;
        let (tag, after) = after.split_once('>').ok_or("a tag without end")?;
        let name = tag.trim_matches('/').split(' ').next().unwrap_or("");
        if tag.contains('<') || tag.matches('"').count() % 2 != 0 {
            return Err(format!("bad tag <{tag}>"));
        }
        if tag.contains("NaN") || tag.contains("inf") {
            return Err(format!("no number in <{tag}>"));
        }
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return Err(format!("<{tag}> closes nothing"));
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = after;
    }
    check_text(rest)?;
    if open.is_empty() { Ok(()) } else { Err(format!("left open: {open:?}")) }
}

fn check_text(text: &str) -> Result<(), String> {
    let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
    for (at, _) in text.match_indices('&') {
        if !known.iter().any(|entity| text[at..].starts_with(entity)) {
            return Err(format!("stray & in {text:?}"));
        }
    }
    match text.contains(|c: char| c.is_control() && c != '\n') {
        true => Err(format!("control character in {text:?}")),
        false => Ok(()),
    }
}

/// The data of the only path of this class.
fn path<'a>(document: &'a str, class: &str) -> &'a str {
    let start = format!("<path class=\"{class}\" d=\"");
    let mut parts = document.split(start.as_str()).skip(1);
    let path = parts.next().and_then(|part| part.split('"').next()).unwrap();
    assert_eq!(parts.next(), None);
    path
}

#[test]
fn two_panels_are_one_well_formed_document_without_outside_help() {
    let document = svg(&[burst(), burst()], 800);
    check(&document).unwrap();
    assert_eq!(document.matches("<svg").count(), 1);
    assert_eq!(document.matches("<path class=\"area0\"").count(), 2);
    assert_eq!(document.matches("http").count(), 1, "the namespace and nothing else");
    assert!(!document.contains("<script") && !document.contains("url("));
}

// 480 pixels: the plot is 400 wide from x = 56, so 10 ms are 40 pixels. The strip of names is one
// row: the plot begins at 8 + 24 + 20 + 16 + 4 = 72 and ends at 242. The top of the axis is
// 4 GB/s * 1.05, so 4 GB/s are 170 / 1.05 = 161.9 pixels, 0.5 GB/s 20.2 and 1 GB/s 40.5.
#[test]
fn a_burst_is_drawn_where_it_was() {
    let document = svg(&[burst()], 480);
    assert_eq!(path(&document, "area0"), "M56.0 242.0V242.0H136.0V80.1H256.0V221.8H376.0V242.0Z");
    assert_eq!(path(&document, "step0"), "M56.0 201.5H176.0V80.1H336.0V201.5H456.0");
}

#[test]
fn what_is_unknown_is_shaded_and_not_drawn_as_zero() {
    let document = svg(&[burst()], 480);
    // From 80 ms to the end.
    assert!(document.contains("<rect class=\"unknown\" x=\"376.0\" y=\"72.0\" width=\"80.0\""));
    let gap = [(0, Some(1e6)), (40, None), (60, Some(1e6))];
    let broken = Chart { series: vec![series("v", Style::Step, &gap)], ..burst() };
    assert_eq!(path(&svg(&[broken], 480), "step0").matches('M').count(), 2);
}

#[test]
fn a_line_goes_from_point_to_point() {
    let points = [(0, Some(0.0)), (50, Some(4e6))];
    let chart = Chart { series: vec![series("bound", Style::Line, &points)], ..burst() };
    assert_eq!(path(&svg(&[chart], 480), "line0"), "M56.0 242.0L256.0 80.1H456.0");
}

#[test]
fn a_long_series_is_reduced_and_keeps_its_peak() {
    let points: Vec<_> = (0..100_000)
        .map(|ms| (ms, Some(if ms == 77_777 { 4e6 } else { f64::from(ms as u32 % 7) })))
        .collect();
    let duration = crate::units::Nanos(100_000 * crate::units::Nanos::PER_MS);
    let series = vec![series("noise", Style::Area, &points)];
    let chart = Chart { series, duration, marks: Vec::new(), ..burst() };
    let document = svg(&[chart], 480);
    let path = path(&document, "area0");
    // No strip of names: everything lies 16 pixels higher than above.
    assert!(path.contains("V64.1"), "{path}");
    assert!(path.len() < 800 * 14, "{} bytes for 800 half pixels", path.len());
}

#[test]
fn names_are_text_and_never_markup() {
    let mut chart = burst();
    chart.title = "</title><script>alert(1)</script> & \"x\"\u{1}".to_owned();
    let document = svg(&[chart], 800);
    check(&document).unwrap();
    assert!(!document.contains("<script"));
    assert!(document.contains("&lt;/title&gt;"));
}

#[test]
fn no_chart_at_all_is_still_a_document() {
    let document = svg(&[], 0);
    check(&document).unwrap();
    assert!(document.contains("width=\"320\"") && document.contains("nothing to show"));
}

proptest! {
    #[test]
    fn any_charts_make_a_well_formed_document(
        charts in prop::collection::vec(any_chart(), 0..3),
        width: u32,
    ) {
        let checked = check(&svg(&charts, width));
        prop_assert!(checked.is_ok(), "{checked:?}");
    }
}
