//! The picture of a report in README.md is what a report draws.

use crate::common::{at, folder, good, repository};
use std::fs;

/// The part of `page` from `start` to `end`, both included.
fn part<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let from = page.find(start).unwrap();
    let length = page[from..].find(end).unwrap() + end.len();
    &page[from..from + length]
}

/// On the model with the agenda's seed, every run is the same to the byte.
#[test]
fn the_picture_of_a_report_is_the_one_that_is_drawn() {
    let folder = folder(&[]);
    let (results, page) = (at(&folder, "results"), at(&folder, "page.html"));
    good(&["experiment", "run", "regression", "--out", &results]);
    good(&["experiment", "report", &results, "--format", "html", "--out", &page]);
    let page = fs::read_to_string(page).unwrap();
    let named = "<svg class=\"chart\" role=\"img\" aria-label=\"ddr_vote_integral: effects";
    let chart = part(&page, named, "</svg>");
    // By itself it needs a name space, the page's colours and its paper.
    let (head, rest) = chart.split_once('>').unwrap();
    let style = part(&page, "<style", "</style>");
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>";
    let drawn = format!("{head} xmlns=\"http://www.w3.org/2000/svg\">{style}{paper}{rest}\n");
    roxmltree::Document::parse(&drawn).unwrap();
    let file = repository().join("docs/pictures/report.svg");
    if std::env::var_os("BWMON_DRAW").is_some() {
        fs::write(&file, &drawn).unwrap();
    }
    let stored = fs::read_to_string(file).unwrap_or_default();
    assert!(stored == drawn, "the report draws another picture: run with BWMON_DRAW=1");
}
