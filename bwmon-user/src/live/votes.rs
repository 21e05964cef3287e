//! The votes in force: `interconnect_summary` of debugfs, and floors that nobody voted.
//!
//! Until all consumers of a provider have come up, the kernel holds its nodes at what the boot firmware
//! may need, at their maximum if nothing else is known (`icc_sync_state`). A consumer that never comes
//! leaves them there: then no vote saves anything.

use super::root::{Root, names, read_line, read_text};
use crate::units::Kbps;
use serde::Serialize;

const SUMMARY: &str = "/sys/kernel/debug/interconnect/interconnect_summary";

/// What the kernel writes where it knows no better: INT_MAX.
const INT_MAX: u64 = 2_147_483_647;

/// A consumer's vote at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vote {
    /// The consumer's device.
    pub consumer: String,
    /// In which states of the CPUs it holds.
    pub tag: u32,
    /// Average.
    #[serde(rename = "avg_kBps")]
    pub avg: Kbps,
    /// Peak.
    #[serde(rename = "peak_kBps")]
    pub peak: Kbps,
}

/// An interconnect node with what is in force there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeVotes {
    /// Its name, as board files have it in `icc_nodes`.
    pub node: String,
    /// The sum of the averages.
    #[serde(rename = "avg_kBps")]
    pub avg: Kbps,
    /// The largest peak.
    #[serde(rename = "peak_kBps")]
    pub peak: Kbps,
    /// Who votes there.
    pub votes: Vec<Vote>,
}

impl NodeVotes {
    /// Why it is held higher than anybody voted; `None` if it is not.
    pub fn floor(&self) -> Option<String> {
        let voted = self.votes.iter().map(|vote| vote.peak).max().unwrap_or_default();
        if self.peak <= voted {
            return None;
        }
        let by = match self.votes.len() {
            0 => "and has no consumer at all".to_owned(),
            _ => format!("and its consumers vote {voted} kBps at most"),
        };
        Some(match self.peak.0 {
            INT_MAX.. => format!("{} is pinned at the maximum {by}", self.node),
            peak => format!("{} is held at {peak} kBps {by}", self.node),
        })
    }
}

/// Why the votes are not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VotesError {
    /// The file is not there.
    #[error(
        "no interconnect_summary in debugfs (is debugfs mounted, has the kernel interconnects?)"
    )]
    Absent,
    /// The file cannot be read.
    #[error("interconnect_summary cannot be read: {0}")]
    Unreadable(String),
}

/// The votes on the machine under `root`.
///
/// # Errors
/// Why they are not known.
pub fn votes(root: &Root) -> Result<Vec<NodeVotes>, VotesError> {
    match read_text(&root.path(SUMMARY)) {
        Ok(text) => Ok(parse(&text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(VotesError::Absent),
        Err(error) => Err(VotesError::Unreadable(error.to_string())),
    }
}

/// Reads the kernel's table: a line per node with average and peak, under it an indented line per
/// consumer with tag, average and peak. Lines that are neither (the head) are passed over.
fn parse(text: &str) -> Vec<NodeVotes> {
    let mut nodes: Vec<NodeVotes> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let indented = line.starts_with([' ', '\t']);
        match (indented, numbers.as_deref()) {
            (false, Some([avg, peak])) => nodes.push(NodeVotes {
                node: name.to_owned(),
                avg: Kbps(*avg),
                peak: Kbps(*peak),
                votes: Vec::new(),
            }),
            (true, Some([tag, avg, peak])) => {
                let (Some(node), Ok(tag)) = (nodes.last_mut(), u32::try_from(*tag)) else {
                    continue;
                };
                let consumer = name.to_owned();
                node.votes.push(Vote { consumer, tag, avg: Kbps(*avg), peak: Kbps(*peak) });
            }
            _ => {}
        }
    }
    nodes
}

/// Interconnect providers whose consumers have not all come up (`state_synced` reads 0): the kernel
/// keeps boot floors on their nodes.
pub fn unsynced(root: &Root) -> Vec<String> {
    let folder = root.path("/sys/bus/platform/devices");
    let devices = names(&folder).into_iter();
    let waiting = devices.filter(|device| {
        let device = folder.join(device);
        device.join("of_node/#interconnect-cells").exists()
            && read_line(&device.join("state_synced")).is_ok_and(|text| text == "0")
    });
    waiting.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `icc_summary_show` of drivers/interconnect/core.c prints it.
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
    fn nodes_and_consumers_are_read_with_tags() {
        let nodes = parse(TEXT);
        let names: Vec<&str> = nodes.iter().map(|node| node.node.as_str()).collect();
        assert_eq!(names, ["acm_l3", "qns_llcc", "ebi", "xm_pcie", "slv_idle"]);
        let votes: Vec<(&str, u32, u64)> =
            nodes[0].votes.iter().map(|v| (v.consumer.as_str(), v.tag, v.peak.0)).collect();
        assert_eq!(votes, [("cpu0", 3, 800_000), ("1436400.pmu", 3, 4_800_000)]);
    }

    #[test]
    fn a_node_that_is_higher_than_its_votes_is_a_floor_of_nobody() {
        let floors: Vec<Option<String>> = parse(TEXT).iter().map(NodeVotes::floor).collect();
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
    fn text_that_is_no_summary_is_no_votes() {
        assert_eq!(parse("\u{0}\u{1b}[2J\n  x 1 2\n a b c d\n\n"), []);
        assert_eq!(parse("  1436400.pmu 3 1 1\n"), []);
        assert_eq!(parse("node 99999999999999999999999 1\n"), []);
    }

    #[test]
    fn providers_that_wait_for_consumers_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        for (device, synced) in [("1380000.interconnect", "0\n"), ("17900000.interconnect", "1\n")]
        {
            let dir = root.path("/sys/bus/platform/devices").join(device);
            std::fs::create_dir_all(dir.join("of_node")).unwrap();
            std::fs::write(dir.join("of_node/#interconnect-cells"), [0, 0, 0, 2]).unwrap();
            std::fs::write(dir.join("state_synced"), synced).unwrap();
        }
        assert_eq!(unsynced(&root), ["1380000.interconnect"]);
        assert_eq!(votes(&root), Err(VotesError::Absent));
    }
}
