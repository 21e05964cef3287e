//! What the interconnect framework says of the votes in force, in debugfs.

use anyhow::{Context, Result, ensure};
use std::path::Path;

const SUMMARY: &str = "/sys/kernel/debug/interconnect/interconnect_summary";

/// One consumer's vote at one node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    node: String,
    consumer: String,
    avg_kbps: u64,
    peak_kbps: u64,
}

/// The average and peak votes of `consumer`, which must be the same at each of `nodes`.
pub(crate) fn vote_of(consumer: &str, nodes: &[&str]) -> Result<(u64, u64)> {
    let text = crate::machine::read(Path::new(SUMMARY))?;
    let rows = parse(&text)?;
    let mut votes = Vec::new();
    for node in nodes {
        let mine = rows.iter().filter(|row| row.node == *node && row.consumer == consumer);
        votes.extend(mine.map(|row| (row.avg_kbps, row.peak_kbps)));
    }
    ensure!(votes.len() == nodes.len(), "{consumer} should be at each of {nodes:?}:\n{text}");
    let first = votes.first().copied().context("no node was asked for")?;
    ensure!(votes.iter().all(|vote| *vote == first), "{consumer} votes differently:\n{text}");
    Ok(first)
}

/// Whether `consumer` has a path at all.
pub(crate) fn knows(consumer: &str) -> Result<bool> {
    let rows = parse(&crate::machine::read(Path::new(SUMMARY))?)?;
    Ok(rows.iter().any(|row| row.consumer == consumer))
}

/// A node's line starts at the margin, its consumers' lines are indented:
/// `node avg peak` and `  consumer tag avg peak`, below two lines of heading.
fn parse(text: &str) -> Result<Vec<Row>> {
    let mut node = String::new();
    let mut rows = Vec::new();
    for line in text.lines().skip(2) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(' '), words.as_slice()) {
            (false, [name, ..]) => node = (*name).to_owned(),
            (true, [consumer, _tag, avg, peak]) => rows.push(Row {
                node: node.clone(),
                consumer: (*consumer).to_owned(),
                avg_kbps: avg.parse().with_context(|| format!("{line:?}"))?,
                peak_kbps: peak.parse().with_context(|| format!("{line:?}"))?,
            }),
            _ => anyhow::bail!("{SUMMARY} has a line {line:?}"),
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumers_are_read_under_their_nodes() {
        let text = " node                                  tag          avg         peak\n\
                    ----------------------------------------------------------------\n\
                    A53                                          5            7\n\
                    \x20 7fe00000.pmu                       0            5            7\n\
                    NOC                                          0            0\n";
        let rows = parse(text).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].node.as_str(), rows[0].avg_kbps, rows[0].peak_kbps), ("A53", 5, 7));
        assert!(parse("\n\n  a b\n").is_err());
    }
}
