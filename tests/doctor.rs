//! `bwmon doctor` on a fake machine: ways to vote, votes in force, floors, bandwidth.

use crate::board_probe::{DDR, Phone};
use crate::common::{Tree, at, bwmon, good};
use serde_json::Value;

const SUMMARY: &str = "\
 node                                  tag          avg         peak
--------------------------------------------------------------------
acm_l3                                          1000      4800000
  cpu4                                   3            0       800000
  1436400.pmu                            3         1000      4800000
ebi                                                0   2147483647
";

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["capabilities"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn votes_in_force_are_shown_with_their_owners_and_a_pinned_node_as_no_savings() {
    let phone = Phone::new(&DDR);
    phone.bind("1436400.pmu");
    phone.write("sys/kernel/debug/interconnect/interconnect_summary", SUMMARY);
    let waiting = "sys/bus/platform/devices/1380000.interconnect";
    phone.write(&format!("{waiting}/of_node/#interconnect-cells"), "x");
    phone.write(&format!("{waiting}/state_synced"), "0\n");
    let report = phone.json(&["doctor", "--json"]);
    let force = &report["in_force"];
    assert_eq!(force["nodes"][0]["votes"][1]["consumer"], "1436400.pmu");
    assert_eq!(force["nodes"][0]["owners"][1], "driver qcom-bwmon");
    assert_eq!(force["no_savings"], serde_json::json!(["ddr"]));
    assert_eq!(force["waiting"], serde_json::json!(["1380000.interconnect"]));
    let ran = phone.run(&["doctor"]);
    assert_eq!(ran.code, Some(1), "nothing to vote through");
    for words in
        ["ddr: savings impossible now", "cpufreq, by the CPU's OPP table", "boot floors are kept"]
    {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
}

#[test]
fn what_is_not_readable_is_unknown_and_said_with_what_is_lost() {
    let phone = Phone::new(&DDR);
    let report = phone.json(&["doctor", "--json"]);
    assert!(report["in_force"]["unknown"].as_str().unwrap().contains("no interconnect_summary"));
    for name in
        ["votes in force", "clocks of the fitted memory", "kernel module bwmon_vote", "bus_dcvs"]
    {
        let row = row(&report, name);
        assert_eq!(row["present"], false, "{name}");
        assert!(
            !row["how"].as_str().unwrap().is_empty()
                && !row["without_it"].as_str().unwrap().is_empty()
        );
    }
    assert_eq!(report["bandwidth"][0]["fit"], "unknown");
    // The tree has no CPU OPP tables, the file has two.
    assert!(report["board_why"].as_str().unwrap().contains("differ in 2 points"), "{report}");
}

#[test]
fn every_way_to_vote_is_found_where_it_is() {
    let phone = Phone::new(&DDR);
    for file in ["src_node", "dst_node", "get", "avg_bw", "peak_bw", "tag", "commit"] {
        phone.write(&format!("sys/kernel/debug/interconnect/test-client/{file}"), "");
    }
    phone.write("sys/devices/system/cpu/bus_dcvs/DDR/boost_freq", "0\n");
    phone.write("dev/bwmon-vote-114a000.pmu", "");
    let report = phone.json(&["doctor", "--json"]);
    let there: Vec<(&str, &str)> = report["ways"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|way| way["present"] == true)
        .map(|way| (way["domain"].as_str().unwrap(), way["by"].as_str().unwrap()))
        .collect();
    let used = report["ways"].as_array().unwrap().iter().any(|way| way["used"] == true);
    assert!(!used, "the board names none");
    assert_eq!(
        there,
        [
            ("llcc", "icc_test_client"),
            ("ddr", "icc_test_client"),
            ("ddr", "bus_dcvs"),
            ("ddr", "vote_device"),
        ]
    );
}

#[test]
fn a_machine_that_can_be_governed_answers_yes() {
    let tree = Tree::new();
    let (root, board) = (tree.folder.path().to_str().unwrap(), at(&tree.folder, "board.toml"));
    let ran = bwmon(&["doctor", "--root", root, "--board", &board, "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["can_govern"], true, "{report}");
    assert_eq!((ran.code, &row(&report, "vote path of ddr")["present"]), (Some(0), &true.into()));
    assert_eq!(report["board_why"], format!("given with --board {board}"));
}

#[test]
fn a_journal_says_whether_the_bandwidth_fits_the_levels() {
    let phone = Phone::new(&DDR);
    let journal = at(&phone.folder, "j.jsonl");
    good(&["sim", "--board", "sdm845", "--ticks", "300", "--journal", &journal]);
    let report = phone.json(&["doctor", "--json", "--journal", &journal]);
    let of = |index: usize| &report["bandwidth"][index];
    assert_eq!((&of(0)["domain"], &of(0)["fit"]), (&"llcc".into(), &"fits".into()));
    assert!(of(0)["reached_kBps"].as_u64() > Some(0));
    assert_eq!((&of(2)["domain"], &of(2)["fit"]), (&"l3".into(), &"unknown".into()));
    let broken = at(&phone.folder, "not-there.jsonl");
    assert_eq!(phone.run(&["doctor", "--journal", &broken]).code, Some(2));
}

#[test]
fn a_moment_of_traffic_is_measured_against_what_is_in_force() {
    let phone = Phone::new(&DDR);
    // A level of one kBps cannot be what is in force, whatever this machine reaches.
    let summary = "qns_llcc                                     0            1\n";
    phone.write("sys/kernel/debug/interconnect/interconnect_summary", summary);
    let report = phone.json(&["doctor", "--json", "--measure"]);
    let of = |index: usize| &report["bandwidth"][index];
    assert_eq!((&of(0)["domain"], &of(0)["fit"]), (&"llcc".into(), &"too_high".into()));
    assert_eq!(
        (&of(1)["fit"], of(1)["reached_kBps"].as_u64() > Some(0)),
        (&"unknown".into(), true)
    );
}
