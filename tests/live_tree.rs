//! `bwmon run` and `restore` on a fake machine: votes, faults, kill -9, two agents.
//!
//! The tree's files do not answer like a kernel: `/dev/mem` is memory that keeps what was written,
//! `target_freq` and `cur_freq` are absent unless a test puts them there.

use crate::common::{Ran, Tree, ZONE_MAX_1, at, json, wait_for};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::FileExt;

fn journal(tree: &Tree) -> (Value, Vec<Value>) {
    let text = fs::read_to_string(tree.path("journal")).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}

fn run(tree: &Tree, more: &[&str]) -> Ran {
    let file = at(&tree.folder, "journal");
    let mut args = vec!["--period-us", "4000", "--ticks", "60", "--journal", &file];
    args.extend(more);
    tree.run(&args)
}

#[test]
fn governing_reads_registers_votes_and_puts_everything_back() {
    let tree = Tree::new();
    let ran = run(&tree, &["--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["ticks"], 60);
    let (header, entries) = journal(&tree);
    assert_eq!(header["mode"], "govern");
    // The floor at the takeover is the top of the table.
    assert_eq!(header["levels"][0], 2);
    // The counters stay 0: sixteen windows on end, then the lowest level.
    let last = &entries.last().unwrap()["domains"][0];
    assert_eq!((&last["vote"]["level"], &last["vote"]["peak_kBps"]), (&0.into(), &800_000.into()));
    assert_eq!(tree.set_freq(), "100");
    assert_eq!(tree.governor(), "simple_ondemand");
    assert_eq!(
        (tree.read("sys/class/devfreq/noc/min_freq"), tree.read("sys/class/devfreq/noc/max_freq")),
        ("100".into(), "300".into())
    );
    assert!(!tree.path("state/restore.json").exists());
    assert_eq!(
        json(&["replay", "--verify", "--json", &at(&tree.folder, "journal")])["different"],
        0
    );
}

#[test]
fn a_busy_counter_keeps_the_level_up() {
    let tree = Tree::new();
    let mem = fs::OpenOptions::new().write(true).open(tree.path("dev/mem")).unwrap();
    // ZONE_MAX(1) = 150: (150 + 1) * 16000 = 2416000 kBps, level 2 (3072000).
    mem.write_at(&150u32.to_le_bytes(), ZONE_MAX_1).unwrap();
    assert_eq!(run(&tree, &[]).code, Some(0));
    let (_, entries) = journal(&tree);
    let read: Vec<u64> =
        entries.iter().filter_map(|entry| entry["domains"][0]["peak_kBps"].as_u64()).collect();
    assert!(!read.is_empty() && read.iter().all(|peak| *peak == 2_416_000), "{read:?}");
    assert_eq!(tree.set_freq(), "300");
}

#[test]
fn a_poll_without_a_whole_window_is_a_missing_reading_in_the_journal() {
    let tree = Tree::new();
    assert_eq!(run(&tree, &["--period-us", "1000"]).code, Some(2), "given twice");
    let file = at(&tree.folder, "journal");
    let ran = tree.run(&["--period-us", "1000", "--ticks", "60", "--journal", &file]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let (_, entries) = journal(&tree);
    let missing = entries
        .iter()
        .filter(|e| e["sample"]["monitors"][0]["missing"] == "no_whole_window")
        .count();
    assert!(missing > 20, "{missing} of 60 ticks of 1 ms");
}

#[test]
fn kill_9_in_the_middle_then_restore_puts_everything_back() {
    let tree = Tree::new();
    let mut agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    agent.kill().unwrap();
    agent.wait().unwrap();
    assert_eq!(tree.governor(), "userspace");
    let ran = tree.restore();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("governor back to simple_ondemand"), "{}", ran.stdout);
    assert_eq!(tree.governor(), "simple_ondemand");
    assert_eq!(tree.restore().stdout, "nothing to put back\n");
}

#[test]
fn the_next_agent_puts_back_what_a_killed_one_left_before_it_notes_anything() {
    let tree = Tree::new();
    let mut agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    agent.kill().unwrap();
    agent.wait().unwrap();
    let ran = run(&tree, &[]);
    assert!(ran.stderr.contains("doing that first"), "{}", ran.stderr);
    assert_eq!(tree.governor(), "simple_ondemand");
}

#[test]
fn sigterm_puts_everything_back() {
    let tree = Tree::new();
    let mut agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    let pid = agent.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    assert_eq!(tree.governor(), "simple_ondemand");
}

#[test]
fn a_second_agent_and_a_restore_are_refused_while_the_first_runs() {
    let tree = Tree::new();
    let mut agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    for ran in [tree.run(&["--ticks", "1"]), tree.restore()] {
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(&format!("pid {}", agent.id())), "{}", ran.stderr);
    }
    agent.kill().unwrap();
    agent.wait().unwrap();
    tree.restore();
}

#[test]
fn a_missing_device_register_or_permission_is_one_clear_error_and_nothing_is_touched() {
    type Break = fn(&Tree);
    let cases: [(Break, &str); 5] = [
        (|t| fs::remove_dir_all(t.path("sys/class/devfreq/noc")).unwrap(), "no devfreq device noc"),
        (|t| t.write("sys/class/devfreq/noc/available_governors", "powersave\n"), "userspace"),
        (|t| t.write("sys/class/devfreq/noc/available_frequencies", "100 300\n"), "200 Hz"),
        (|t| fs::remove_file(t.path("dev/mem")).unwrap(), "CONFIG_DEVMEM"),
        (|t| t.write("state", ""), "state"),
    ];
    for (break_it, word) in cases {
        let tree = Tree::new();
        break_it(&tree);
        let ran = run(&tree, &[]);
        assert_eq!(ran.code, Some(2), "{word}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        if tree.path("sys/class/devfreq/noc").exists() {
            assert_eq!(tree.governor(), "simple_ondemand", "{word}");
        }
        assert!(!tree.path("state/restore.json").exists(), "{word}");
    }
}

#[test]
fn a_bad_policy_costs_the_machine_no_takeover() {
    let tree = Tree::new();
    fs::write(tree.path("p.rhai"), "fn decide(obs) { hold( }").unwrap();
    let ran = run(&tree, &["--policy", &at(&tree.folder, "p.rhai")]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(tree.set_freq(), "undefined");
}

#[test]
fn a_foreign_governor_makes_the_domain_manual_and_is_left_alone_at_the_end() {
    let tree = Tree::new();
    let agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    tree.write("sys/class/devfreq/noc/governor", "powersave\n");
    let pid = agent.id().to_string();
    let file = tree.path("sys/class/devfreq/noc/userspace/set_freq");
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    // The lowest level is voted after 16 windows; the look before that vote sees the new governor.
    tree.wait_for_journal("\"foreign\"");
    std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let output = agent.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.matches("domain ddr is manual from now on").count(), 1, "{told}");
    assert_eq!(tree.governor(), "powersave");
    assert!(said.contains("governor is now powersave"), "{said}");
    let after = fs::metadata(&file).unwrap().modified().unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_stderr_that_is_gone_does_not_keep_the_agent_from_putting_things_back() {
    let tree = Tree::new();
    let board = at(&tree.folder, "board.toml");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = tree
        .command(&["run", "--board", &board, "--ticks", "30"])
        .stderr(full)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(tree.governor(), "simple_ondemand");
    assert!(!tree.path("state/restore.json").exists());
}

#[test]
fn registers_are_touched_only_where_the_machine_has_such_a_block() {
    let tree = Tree::new();
    fs::remove_dir_all(tree.path("sys/bus")).unwrap();
    let ran = run(&tree, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no device 1400.pmu"), "{}", ran.stderr);
    assert!(fs::read(tree.path("dev/mem")).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(tree.governor(), "simple_ondemand");

    let tree = Tree::new();
    tree.write("sys/bus/platform/devices/1400.pmu/of_node/compatible", "acme,uart\0");
    let ran = run(&tree, &[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("acme,uart"), "{}", ran.stderr);
    assert!(fs::read(tree.path("dev/mem")).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_journal_that_cannot_be_made_costs_the_machine_no_takeover() {
    let tree = Tree::new();
    let ran = tree.run(&["--ticks", "5", "--journal", "/not/there/j"]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(tree.set_freq(), "undefined");
}

#[test]
fn a_journal_that_fills_up_is_said_once_and_governing_goes_on() {
    let tree = Tree::new();
    let ran = tree.run(&["--ticks", "30", "--journal", "/dev/full"]);
    // The header cannot be written: that is known before the first tick.
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("/dev/full"), "{}", ran.stderr);
    assert_eq!(tree.governor(), "simple_ondemand");
}

#[test]
fn a_device_that_vanishes_in_mid_run_is_said_and_the_agent_ends_well() {
    let tree = Tree::new();
    let agent = tree.start();
    wait_for("a vote", || tree.set_freq() == "300");
    fs::remove_dir_all(tree.path("sys/class/devfreq/noc")).unwrap();
    let pid = agent.id().to_string();
    // Sixteen windows later the lowest level is voted: into nothing.
    tree.wait_for_journal("\"gone\"");
    std::process::Command::new("kill").args(["-QUIT", &pid]).status().unwrap();
    let output = agent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("it is gone") || said.contains("nothing to put back"), "{said}");
}

#[test]
fn dry_run_writes_nothing() {
    let tree = Tree::new();
    let ran = run(&tree, &["--dry-run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!((tree.governor(), tree.set_freq()), ("simple_ondemand".into(), "undefined".into()));
    let (header, entries) = journal(&tree);
    assert_eq!(header["mode"], "dry-run");
    let applied = entries.iter().any(|e| e["domains"][0]["applied"] == "dry_run");
    assert!(applied, "it decides and says what it would have written");
}

#[test]
fn shadow_without_the_kernels_updates_is_refused_not_empty() {
    let tree = Tree::new();
    let ran = run(&tree, &["--shadow"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no monitor of board tree can be read"), "{}", ran.stderr);
    assert_eq!(tree.set_freq(), "undefined");
}
