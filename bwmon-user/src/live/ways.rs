//! Ways to vote that a machine offers for a domain: devfreq, the interconnect test client, Qualcomm's
//! `bus_dcvs`, and the device of bwmon's own kernel module.

use super::bus_dcvs::BUS_DCVS;
use super::root::{Root, names, read_line};
use super::{icc_client, voter};
use crate::board::{Board, Domain};
use serde::Serialize;

const TEST_CLIENT_FILES: [&str; 7] =
    ["src_node", "dst_node", "get", "avg_bw", "peak_bw", "tag", "commit"];
/// Devices of the module `bwmon_vote`: `/dev/bwmon-vote-<device>`.
const VOTE_DEVICE: &str = "bwmon-vote-";

/// One way to vote for one domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// The domain.
    pub domain: String,
    /// `devfreq`, `icc_test_client`, `bus_dcvs` or `vote_device`.
    pub by: &'static str,
    /// Whether it is there for this domain.
    pub present: bool,
    /// Whether the board names it, so that `bwmon run` votes through it.
    pub used: bool,
    /// What was found.
    pub how: String,
}

/// All ways for all domains of `board`; those that are not there with the reason.
pub fn ways(root: &Root, board: &Board) -> Vec<Way> {
    let mut ways = Vec::new();
    for domain in &board.domains {
        let monitor = board.monitor_of(domain).map(|monitor| monitor.device());
        let all = [
            ("devfreq", (false, "the board names no devfreq device".to_owned())),
            ("icc_test_client", test_client(root, domain)),
            ("bus_dcvs", bus_dcvs(root, domain)),
            ("vote_device", vote_device(root, monitor.as_deref())),
        ];
        let named = named(domain);
        ways.extend(all.into_iter().map(|(by, (present, how))| {
            let used = named == Some(by);
            let (present, how) = if used { opened(root, domain) } else { (present, how) };
            Way { domain: domain.name.clone(), by, present, used, how }
        }));
    }
    ways
}

/// The way that the board names, in the order in which they are looked for.
fn named(domain: &Domain) -> Option<&'static str> {
    if domain.devfreq.is_some() {
        return Some("devfreq");
    }
    if !domain.icc.is_empty() {
        return Some("icc_test_client");
    }
    if domain.bus_dcvs.is_some() {
        return Some("bus_dcvs");
    }
    domain.vote.is_some().then_some("vote_device")
}

/// The way that the board names, as `run` would open it.
fn opened(root: &Root, domain: &Domain) -> (bool, String) {
    match voter::open(root, domain) {
        Ok(Some(voter)) => {
            let level = voter.level_in_force().map_or_else(
                || "unknown".to_owned(),
                |level| format!("level {level} of {}", domain.table.top()),
            );
            (true, format!("{}: now {level}", voter.name()))
        }
        Ok(None) => (false, "the board names none".into()),
        Err(error) => (false, format!("{error:#}")),
    }
}

fn test_client(root: &Root, domain: &Domain) -> (bool, String) {
    let Some(folder) = icc_client::find(root) else {
        return (false, "not in debugfs (stock kernels have none)".into());
    };
    let missing: Vec<&str> =
        TEST_CLIENT_FILES.into_iter().filter(|file| !folder.join(file).exists()).collect();
    let folder = folder.display();
    if !missing.is_empty() {
        return (false, format!("{folder} lacks {}", missing.join(", ")));
    }
    match &domain.icc_nodes {
        Some((src, dst)) => {
            (true, format!("{folder}, for {src} -> {dst} (`icc` in the board file)"))
        }
        None => (false, format!("{folder} is there, the board does not name the path's nodes")),
    }
}

fn bus_dcvs(root: &Root, domain: &Domain) -> (bool, String) {
    if !root.path(BUS_DCVS).exists() {
        return (false, "Qualcomm vendor kernels only".into());
    }
    let column = domain.table.columns().first().map(|column| column.to_uppercase());
    let name = column.unwrap_or_default();
    let name = if name == "L3C" { "L3".to_owned() } else { name };
    let folder = root.path(BUS_DCVS).join(&name);
    if !folder.join("boost_freq").exists() {
        let found = names(&root.path(BUS_DCVS)).join(", ");
        return (false, format!("{BUS_DCVS} has no {name} with a boost_freq (it has: {found})"));
    }
    let now = |file: &str| {
        read_line(&folder.join(file)).unwrap_or_else(|error| format!("unreadable: {error}"))
    };
    (
        true,
        format!("{BUS_DCVS}/{name}: floor {} kHz, now {} kHz", now("boost_freq"), now("cur_freq")),
    )
}

fn vote_device(root: &Root, device: Option<&str>) -> (bool, String) {
    let Some(device) = device else {
        return (false, "the domain has no monitor whose paths it could vote on".into());
    };
    let name = format!("{VOTE_DEVICE}{device}");
    if root.path("/dev").join(&name).exists() {
        return (true, format!("/dev/{name}"));
    }
    (false, format!("no /dev/{name} (the module bwmon_vote, bound to {device}, makes it)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{BusDcvsPath, builtin};
    use crate::units::Khz;

    fn put(root: &Root, path: &str, text: &str) {
        let path = root.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn of(root: &Root, domain: &str, by: &str) -> (bool, String) {
        let board = builtin("sdm845").unwrap().unwrap();
        let ways = ways(root, &board);
        assert_eq!(ways.len(), 12);
        let way = ways.into_iter().find(|way| way.domain == domain && way.by == by).unwrap();
        (way.present, way.how)
    }

    #[test]
    fn a_machine_with_nothing_says_for_each_way_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        for by in ["devfreq", "icc_test_client", "bus_dcvs", "vote_device"] {
            let (present, how) = of(&root, "ddr", by);
            assert!(!present && !how.is_empty(), "{by}: {how}");
        }
        assert!(of(&root, "l3", "vote_device").1.contains("has no monitor"));
    }

    #[test]
    fn the_test_client_is_found_in_both_spellings_and_whole() {
        for spelling in ["test_client", "test-client"] {
            let spelling = format!("/sys/kernel/debug/interconnect/{spelling}");
            let folder = tempfile::tempdir().unwrap();
            let root = Root::at(folder.path());
            for file in &TEST_CLIENT_FILES[..6] {
                put(&root, &format!("{spelling}/{file}"), "");
            }
            assert!(of(&root, "ddr", "icc_test_client").1.ends_with("lacks commit"));
            put(&root, &format!("{spelling}/commit"), "");
            let (present, how) = of(&root, "ddr", "icc_test_client");
            assert!(present && how.contains(", for llcc_mc -> ebi"), "{how}");
            assert!(of(&root, "l3", "icc_test_client").1.contains("does not name"));
        }
    }

    #[test]
    fn the_way_that_the_board_names_is_the_one_that_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        put(&root, "/sys/devices/system/cpu/bus_dcvs/DDR/boost_freq", "0\n");
        let mut board = builtin("sdm845").unwrap().unwrap();
        let freq_khz = [200, 451, 768, 1353, 1804].map(|mhz| Khz(mhz * 1_000)).to_vec();
        board.domains[1].bus_dcvs = Some(BusDcvsPath { hw: "DDR".into(), freq_khz });
        let ways = ways(&root, &board);
        let used: Vec<(&str, &str)> =
            ways.iter().filter(|w| w.used).map(|w| (w.domain.as_str(), w.by)).collect();
        assert_eq!(used, [("ddr", "bus_dcvs")]);
    }

    #[test]
    fn bus_dcvs_and_the_vote_device_are_found_by_domain() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        put(&root, "/sys/devices/system/cpu/bus_dcvs/DDR/boost_freq", "547000\n");
        put(&root, "/sys/devices/system/cpu/bus_dcvs/DDR/cur_freq", "1804000\n");
        put(&root, "/dev/bwmon-vote-1436400.pmu", "");
        assert_eq!(
            of(&root, "ddr", "bus_dcvs").1,
            "/sys/devices/system/cpu/bus_dcvs/DDR: floor 547000 kHz, now 1804000 kHz"
        );
        assert!(of(&root, "llcc", "bus_dcvs").1.contains("has no LLCC"));
        assert_eq!(of(&root, "llcc", "vote_device"), (true, "/dev/bwmon-vote-1436400.pmu".into()));
        assert!(!of(&root, "ddr", "vote_device").0);
    }
}
