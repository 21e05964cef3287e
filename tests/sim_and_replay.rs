//! `bwmon sim` and `bwmon replay`: shapes, determinism, verification, broken journals.

use crate::common::{at, bad, bwmon, folder, good, json, repository};
use serde_json::Value;
use std::fs;

fn bwmon_rhai() -> String {
    repository().join("policies/bwmon.rhai").to_str().unwrap().to_owned()
}

#[test]
fn sim_json_has_the_shape_that_scripts_rely_on() {
    let report = json(&["sim", "--json", "--ticks", "100"]);
    for key in ["board", "policy", "ticks", "wall_ms", "ticks_per_s", "faults", "domains"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    let domain = &report["domains"][0];
    for key in [
        "name",
        "mean_kBps",
        "mean_vote_kBps",
        "vote_integral_kBps_s",
        "transitions",
        "below_demand_ms",
    ] {
        assert!(domain.get(key).is_some(), "{key}");
    }
    assert_eq!(report["ticks"], 100);
}

#[test]
fn native_and_script_come_to_the_same_result_on_every_workload() {
    for workload in ["demo", "idle", "stream", "frames", "square"] {
        let result = |policy: &str| {
            json(&["sim", "--json", "--workload", workload, "--policy", policy])["domains"].clone()
        };
        assert_eq!(result("native"), result(&bwmon_rhai()), "{workload}");
    }
}

#[test]
fn idle_comes_down_to_the_lowest_level_and_a_stream_is_served() {
    let idle = json(&["sim", "--json", "--workload", "idle", "--duration-ms", "10000"]);
    // ddr: 16 windows at the top of the table, then 800000 kBps but for a wake-up each second.
    let mean = idle["domains"][1]["mean_vote_kBps"].as_u64().unwrap();
    assert!((800_000..1_000_000).contains(&mean), "{mean}");
    let stream = json(&["sim", "--json", "--workload", "stream", "--duration-ms", "10000"]);
    let moved = stream["domains"][1]["mean_kBps"].as_u64().unwrap();
    assert!(moved > 16_900_000, "{moved}");
}

#[test]
fn the_same_run_writes_the_same_bytes_and_replays_to_the_byte() {
    let folder = folder(&[]);
    for board in ["sdm845", "sdm845-seed", "x1e80100"] {
        for name in ["a", "b"] {
            good(&["sim", "--board", board, "--journal", &at(&folder, name)]);
        }
        let (a, b) = (fs::read(at(&folder, "a")).unwrap(), fs::read(at(&folder, "b")).unwrap());
        assert!(a == b, "{board}");
        let report = json(&["replay", "--verify", "--json", &at(&folder, "a")]);
        assert_eq!((&report["different"], &report["entries"]), (&0.into(), &375.into()));
    }
}

#[test]
fn a_journal_with_policy_faults_replays_to_the_byte() {
    let script = "fn init(i) { #{ n: 0 } }\nfn decide(obs) { this.n += 1; \
                  if this.n % 20 == 0 { if obs.domain == \"ddr\" { loop {} } return opp(99); } \
                  opp(this.n % obs.opp_count) }";
    let folder = folder(&[("p.rhai", script)]);
    let journal = at(&folder, "j");
    let ran = good(&["sim", "--policy", &at(&folder, "p.rhai"), "--json", "--journal", &journal]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["faults"].as_u64().unwrap() > 10, "{report}");
    assert_eq!(json(&["replay", "--verify", "--json", &journal])["different"], 0);
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.contains("opp(99) is not in the table"));
    assert!(text.contains("more than 5000 operations"));
}

#[test]
fn a_changed_journal_differs_with_exit_code_1_and_its_line() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--journal", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    let changed: Vec<String> = text
        .lines()
        .enumerate()
        // Line 102 says what it always said, but the counter held something else.
        .map(|(n, line)| if n == 101 { line.replacen("[0,", "[4000,", 1) } else { line.into() })
        .collect();
    fs::write(&journal, changed.join("\n")).unwrap();
    let ran = bwmon(&["replay", "--verify", &journal]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("the first is line 102"), "{}", ran.stdout);
}

#[test]
fn a_journal_that_was_put_together_is_refused() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--ticks", "20", "--journal", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let refused = |changed: Vec<String>, word: &str| {
        fs::write(&journal, changed.join("\n") + "\n").unwrap();
        let said = bad(2, &["replay", "--verify", &journal]);
        assert!(said.contains(word), "{said}");
    };
    let owned = |lines: &[&str]| lines.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>();
    let twice = [&lines[..], &lines[5..8]].concat();
    refused(owned(&twice), "line 22: its tick does not come after the last");
    let missing = [&lines[..5], &lines[8..]].concat();
    refused(owned(&missing), "does not start where the last one ended");
    let mut header = owned(&lines);
    header[0] = header[0].replace("busiest window", "other words");
    refused(header, "not the one of its digest");
    let mut header = owned(&lines);
    header[0] = header[0].replacen("\"count_unit_kB\":64", "\"count_unit_kB\":0", 1);
    refused(header, "cannot count so");
    refused(owned(&lines[..1]), "no entries");
}

#[test]
fn truncated_foreign_and_missing_journals_are_named_with_their_line() {
    let folder = folder(&[("foreign", "hello\n"), ("empty", ""), ("new", "{\"schema\": 99}\n")]);
    let journal = at(&folder, "j");
    good(&["sim", "--ticks", "10", "--journal", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 40]).unwrap();
    let said = bad(2, &["replay", "--verify", &journal]);
    assert!(said.contains("truncated") && said.contains("j:11:"), "{said}");
    let foreign = bad(2, &["replay", "--verify", &at(&folder, "foreign")]);
    assert!(foreign.contains("no bwmon journal") && foreign.contains("hello"), "{foreign}");
    assert!(bad(2, &["replay", "--verify", &at(&folder, "empty")]).contains("empty"));
    assert!(bad(2, &["replay", "--verify", &at(&folder, "new")]).contains("schema 99"));
    assert!(bad(2, &["replay", "--verify", &at(&folder, "none")]).contains("none"));
    assert!(bad(2, &["replay", &journal]).contains("--verify"));
}

#[test]
fn another_policy_on_the_same_samples_is_compared_open_loop() {
    let folder = folder(&[("max.rhai", "fn decide(obs) { opp_max() }")]);
    let journal = at(&folder, "j");
    good(&["sim", "--journal", &journal]);
    let report = json(&["replay", "--json", "--policy", &at(&folder, "max.rhai"), &journal]);
    assert_eq!(report["open_loop"], true);
    let ddr = &report["domains"][1];
    assert_eq!(ddr["mean_vote_kBps"], 7_216_000);
    assert!(ddr["different"].as_u64().unwrap() > 0);
}

#[test]
fn a_journal_that_cannot_be_written_is_an_error_not_a_silence() {
    let said = bad(2, &["sim", "--journal", "/dev/full", "--ticks", "5"]);
    assert!(said.contains("/dev/full"), "{said}");
    let said = bad(2, &["sim", "--journal", "/not/there/j", "--ticks", "5"]);
    assert!(said.contains("/not/there/j"), "{said}");
}
