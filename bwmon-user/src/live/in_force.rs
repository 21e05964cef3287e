//! What is in force on a machine for the domains of a board: votes, whose they are, and floors that
//! nobody voted.

use super::binding::Binding;
use super::icc_summary::{self, IccNode};
use super::root::{Root, names, read_line, read_text};
use crate::board::{Board, Domain};
use crate::units::Kbps;
use serde::Serialize;
use std::io;

const SUMMARY: &str = "/sys/kernel/debug/interconnect/interconnect_summary";

/// The votes in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// Why the votes are not known; `None` if they are.
    pub unknown: Option<String>,
    /// The nodes at both ends of the domains' paths; all that are voted on where the board names none.
    pub nodes: Vec<Node>,
    /// Floors that nobody voted.
    pub floors: Vec<String>,
    /// Providers that wait for consumers and keep boot floors meanwhile.
    pub waiting: Vec<String>,
    /// Domains on whose paths a lower vote changes nothing now.
    pub no_savings: Vec<String>,
}

/// A node and who votes there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Domains whose path ends here.
    pub domains: Vec<String>,
    /// The node and its votes.
    #[serde(flatten)]
    pub votes: IccNode,
    /// Whose each vote is, in their order.
    pub owners: Vec<String>,
}

/// Looks at the machine under `root`.
pub fn in_force(root: &Root, board: Option<&Board>) -> InForce {
    let waiting = unsynced(root);
    let all = match read_text(&root.path(SUMMARY)) {
        Ok(text) => icc_summary::nodes(&text),
        Err(error) => {
            let unknown = Some(match error.kind() {
                io::ErrorKind::NotFound => {
                    "no interconnect_summary in debugfs (is debugfs mounted, \
                                            has the kernel interconnects?)"
                        .to_owned()
                }
                _ => format!("interconnect_summary cannot be read: {error}"),
            });
            let (nodes, floors, no_savings) = (Vec::new(), Vec::new(), Vec::new());
            return InForce { unknown, nodes, floors, waiting, no_savings };
        }
    };
    let domains = board.map_or(&[] as &[Domain], |board| &board.domains);
    let ends = |domain: &Domain, node: &str| {
        domain.icc_nodes.as_ref().is_some_and(|(src, dst)| src == node || dst == node)
    };
    let named = domains.iter().any(|domain| domain.icc_nodes.is_some());
    let mut nodes = Vec::new();
    let (mut floors, mut no_savings) = (Vec::new(), Vec::new());
    for node in all {
        let of: Vec<String> = domains
            .iter()
            .filter(|domain| ends(domain, &node.node))
            .map(|domain| domain.name.clone())
            .collect();
        if of.is_empty() && (named || (node.peak_kbps == Kbps(0) && node.votes.is_empty())) {
            continue;
        }
        if let Some(floor) = node.floor() {
            floors.push(floor);
            no_savings.extend(of.iter().cloned());
        }
        let owners = node.votes.iter().map(|vote| owner(root, &vote.consumer)).collect();
        nodes.push(Node { domains: of, votes: node, owners });
    }
    no_savings.sort();
    no_savings.dedup();
    InForce { unknown: None, nodes, floors, waiting, no_savings }
}

impl InForce {
    /// What is in force at the end of the path of `domain`, if that is known.
    pub fn level(&self, domain: &Domain) -> Option<Kbps> {
        let (_, dst) = domain.icc_nodes.as_ref()?;
        self.nodes.iter().find(|node| node.votes.node == *dst).map(|node| node.votes.peak_kbps)
    }
}

/// Interconnect providers whose consumers have not all come up (`state_synced` reads 0): the kernel
/// keeps boot floors on their nodes.
fn unsynced(root: &Root) -> Vec<String> {
    let folder = root.path("/sys/bus/platform/devices");
    let devices = names(&folder).into_iter();
    let waiting = devices.filter(|device| {
        let device = folder.join(device);
        device.join("of_node/#interconnect-cells").exists()
            && read_line(&device.join("state_synced")).is_ok_and(|text| text == "0")
    });
    waiting.collect()
}

/// Whose a consumer's votes are.
fn owner(root: &Root, consumer: &str) -> String {
    if consumer == "icc-debugfs-client" {
        return "the interconnect test client: it stays when its user ends".into();
    }
    let is_cpu = consumer.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    if is_cpu {
        return "cpufreq, by the CPU's OPP table".into();
    }
    match Binding::new(root, consumer).driver() {
        Some(driver) => format!("driver {driver}"),
        None => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use std::fs;
    use std::os::unix::fs::symlink;

    const SUMMARY: &str = "\
 node                                  tag          avg         peak
--------------------------------------------------------------------
acm_l3                                          1000      4800000
  cpu0                                   3            0       800000
  1436400.pmu                            3         1000      4800000
qns_llcc                                        1000      4800000
  1436400.pmu                            3         1000      4800000
ebi                                                0   2147483647
other                                              5            5
";

    fn machine() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let debugfs = root.path("/sys/kernel/debug/interconnect");
        fs::create_dir_all(&debugfs).unwrap();
        fs::write(debugfs.join("interconnect_summary"), SUMMARY).unwrap();
        let device = root.path("/sys/bus/platform/devices/1436400.pmu");
        fs::create_dir_all(&device).unwrap();
        symlink("../../drivers/qcom-bwmon", device.join("driver")).unwrap();
        (folder, root)
    }

    #[test]
    fn votes_at_the_ends_of_the_paths_are_shown_with_their_owners() {
        let (_folder, root) = machine();
        let board = builtin("sdm845").unwrap().unwrap();
        let found = in_force(&root, Some(&board));
        let nodes: Vec<&str> = found.nodes.iter().map(|node| node.votes.node.as_str()).collect();
        assert_eq!(nodes, ["acm_l3", "qns_llcc", "ebi"]);
        assert_eq!(found.nodes[0].owners, ["cpufreq, by the CPU's OPP table", "driver qcom-bwmon"]);
        assert_eq!(found.level(&board.domains[0]), Some(Kbps(4_800_000)));
        assert_eq!(found.level(&board.domains[2]), None);
    }

    #[test]
    fn a_pinned_end_makes_savings_impossible_on_its_domains() {
        let (_folder, root) = machine();
        let board = builtin("sdm845").unwrap().unwrap();
        let found = in_force(&root, Some(&board));
        assert_eq!(found.no_savings, ["ddr"]);
        assert_eq!(found.floors, ["ebi is pinned at the maximum and has no consumer at all"]);
    }

    #[test]
    fn without_a_board_all_that_is_voted_on_is_shown() {
        let (_folder, root) = machine();
        let found = in_force(&root, None);
        assert_eq!(found.nodes.len(), 4);
        let nowhere = Root::at(root.path("/nowhere"));
        assert!(in_force(&nowhere, None).unknown.unwrap().contains("no interconnect_summary"));
    }

    #[test]
    fn providers_that_wait_for_consumers_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        for (device, synced) in [("1380000.interconnect", "0\n"), ("17900000.interconnect", "1\n")]
        {
            let dir = root.path("/sys/bus/platform/devices").join(device);
            fs::create_dir_all(dir.join("of_node")).unwrap();
            fs::write(dir.join("of_node/#interconnect-cells"), [0, 0, 0, 2]).unwrap();
            fs::write(dir.join("state_synced"), synced).unwrap();
        }
        assert_eq!(in_force(&root, None).waiting, ["1380000.interconnect"]);
    }
}
