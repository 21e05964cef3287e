//! `/sys/kernel/debug/interconnect/interconnect_summary`: whose votes are in force.
//!
//! Not ABI (drivers/interconnect/core.c prints it for people): a line per node, and under it an
//! indented one per consumer with tag, average and peak in kBps. What is not understood is skipped.

use crate::units::Kbps;
use serde::Serialize;

/// The vote of one consumer at one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IccVote {
    /// The node.
    pub node: String,
    /// The consumer's device.
    pub consumer: String,
    /// Tag: bits for active (1), wake (2) and sleep (4).
    pub tag: u64,
    /// Average vote.
    #[serde(rename = "avg_kBps")]
    pub avg_kbps: Kbps,
    /// Peak vote.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Kbps,
}

/// The votes in `text`.
pub fn parse(text: &str) -> Vec<IccVote> {
    let mut votes = Vec::new();
    let mut node: Option<&str> = None;
    for line in text.lines() {
        if !line.starts_with([' ', '\t']) {
            node = line.split_whitespace().next();
            continue;
        }
        let mut fields = line.split_whitespace().rev();
        let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
        let (peak, avg, tag) = (number(), number(), number());
        let rest: Vec<&str> = fields.collect();
        let consumer: Vec<&str> = rest.into_iter().rev().collect();
        if let (Some(node), Some(peak), Some(avg), Some(tag)) = (node, peak, avg, tag)
            && !consumer.is_empty()
        {
            votes.push(IccVote {
                node: node.to_owned(),
                consumer: consumer.join(" "),
                tag,
                avg_kbps: Kbps(avg),
                peak_kbps: Kbps(peak),
            });
        }
    }
    votes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumers_are_read_with_their_node_and_strange_lines_are_skipped() {
        let text = " node                                  tag          avg         peak\n\
                    --------------------------------------------------------------------\n\
                    chm_apps                                            0      5412000\n\
                    \u{20} icc-debugfs-client                   3            0      5412000\n\
                    \u{20} 17d43000.cpufreq                     7        10000       800000\n\
                    llcc_mc                                             0            0\n\
                    \u{20} odd\n";
        let votes = parse(text);
        assert_eq!(votes.len(), 2);
        assert_eq!(
            (votes[0].node.as_str(), votes[0].tag, votes[0].peak_kbps),
            ("chm_apps", 3, Kbps(5_412_000))
        );
        assert_eq!(
            (votes[1].consumer.as_str(), votes[1].avg_kbps),
            ("17d43000.cpufreq", Kbps(10_000))
        );
        assert!(parse("").is_empty() && parse("\n  1 2 3\n").is_empty());
    }
}
