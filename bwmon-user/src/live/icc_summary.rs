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

/// What the kernel holds a node at where it knows no better: INT_MAX.
const INT_MAX: u64 = 2_147_483_647;

/// A node with what is in force there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IccNode {
    /// Its name, as board files have it in `icc_nodes`.
    pub node: String,
    /// The sum of the averages.
    #[serde(rename = "avg_kBps")]
    pub avg_kbps: Kbps,
    /// The largest peak.
    #[serde(rename = "peak_kBps")]
    pub peak_kbps: Kbps,
    /// Who votes there.
    pub votes: Vec<IccVote>,
}

impl IccNode {
    /// Why it is held higher than anybody voted; `None` if it is not. The kernel does so until all
    /// consumers of a provider have come up (`icc_sync_state`); one that never comes leaves it so.
    pub fn floor(&self) -> Option<String> {
        let voted = self.votes.iter().map(|vote| vote.peak_kbps).max().unwrap_or_default();
        if self.peak_kbps <= voted {
            return None;
        }
        let by = match self.votes.len() {
            0 => "and has no consumer at all".to_owned(),
            _ => format!("and its consumers vote {voted} kBps at most"),
        };
        Some(match self.peak_kbps.0 {
            INT_MAX.. => format!("{} is pinned at the maximum {by}", self.node),
            peak => format!("{} is held at {peak} kBps {by}", self.node),
        })
    }
}

/// The votes in `text`.
pub fn parse(text: &str) -> Vec<IccVote> {
    nodes(text).into_iter().flat_map(|node| node.votes).collect()
}

/// The nodes in `text`, with the votes at each.
pub fn nodes(text: &str) -> Vec<IccNode> {
    let mut nodes: Vec<IccNode> = Vec::new();
    for line in text.lines() {
        let mut fields = line.split_whitespace().rev();
        let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
        if !line.starts_with([' ', '\t']) {
            if let (Some(peak), Some(avg)) = (number(), number())
                && let (Some(name), None) = (fields.next(), fields.next())
            {
                nodes.push(IccNode {
                    node: name.to_owned(),
                    avg_kbps: Kbps(avg),
                    peak_kbps: Kbps(peak),
                    votes: Vec::new(),
                });
            }
            continue;
        }
        let (peak, avg, tag) = (number(), number(), number());
        let rest: Vec<&str> = fields.collect();
        let consumer: Vec<&str> = rest.into_iter().rev().collect();
        if let (Some(node), Some(peak), Some(avg), Some(tag)) = (nodes.last_mut(), peak, avg, tag)
            && !consumer.is_empty()
        {
            node.votes.push(IccVote {
                node: node.node.clone(),
                consumer: consumer.join(" "),
                tag,
                avg_kbps: Kbps(avg),
                peak_kbps: Kbps(peak),
            });
        }
    }
    nodes
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

    /// As `icc_summary_show` prints it, with the head and a node of each kind.
    const TEXT: &str = "\
 node                                  tag          avg         peak
--------------------------------------------------------------------
acm_l3                                          1000      4800000
  cpu0                                   3            0       800000
  1436400.pmu                            3         1000      4800000
qns_llcc                                        1000   2147483647
  1436400.pmu                            3         1000      4800000
ebi                                                0   2147483647
xm_pcie                                            0       150000
slv_idle                                           0            0
";

    #[test]
    fn a_node_that_is_higher_than_its_votes_is_a_floor_of_nobody() {
        let floors: Vec<Option<String>> = nodes(TEXT).iter().map(IccNode::floor).collect();
        assert_eq!(floors[0], None);
        assert_eq!(
            floors[1].as_deref(),
            Some("qns_llcc is pinned at the maximum and its consumers vote 4800000 kBps at most")
        );
        let none = "ebi is pinned at the maximum and has no consumer at all";
        assert_eq!(floors[2].as_deref(), Some(none));
        let held = "xm_pcie is held at 150000 kBps and has no consumer at all";
        assert_eq!(floors[3].as_deref(), Some(held));
        assert_eq!(floors[4], None);
    }

    #[test]
    fn text_that_is_no_summary_is_no_nodes() {
        assert_eq!(nodes("\u{0}\u{1b}[2J\n  x 1 2\n a b c d\n\n"), []);
        assert_eq!(nodes("  1436400.pmu 3 1 1\n"), []);
        assert_eq!(nodes("node 99999999999999999999999 1\n"), []);
    }
}
