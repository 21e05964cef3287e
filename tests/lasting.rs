//! An agent that has run for a while: memory, files, journals.

use crate::common::{Agent, Tree, at, good, wait_for, wait_within};
use crate::served::{LOW, Served};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

/// Kilobytes of its own that the process `pid` has resident: files and shared pages are not counted.
fn own_kb(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

/// How many files the process `pid` has open.
fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

fn ticks(served: &Served) -> u64 {
    served.status()["counts"]["ticks"].as_u64().unwrap()
}

#[test]
fn memory_stays_as_it_is_over_ten_thousand_ticks_with_a_script_and_a_journal() {
    let tree = Tree::new();
    tree.write("p.rhai", &fs::read_to_string(shipped()).unwrap());
    let served = Served::on(tree, &["--period-us", "1000"]);
    let pid = served.pid();
    let until = |wanted: u64| wait_within(60, "ticks", || ticks(&served) >= wanted);
    // By then every table, buffer and cache has been touched.
    until(2_000);
    let before = own_kb(pid);
    until(12_000);
    let after = own_kb(pid);
    // Less than 26 bytes a tick: a leak of one reason or one entry would be more than twice that.
    assert!(after <= before + 256, "{before} kB, then {after} kB");
    served.end();
}

fn shipped() -> std::path::PathBuf {
    crate::common::repository().join("policies/bwmon.rhai")
}

#[test]
fn reloads_leave_no_file_open() {
    let served = Served::start(&["--no-watch"]);
    let pid = served.pid();
    let reload = |round: usize| {
        served.tree.write("p.rhai", &LOW.replace("low", &format!("low {round}")));
        assert!(served.done(&["reload"]).contains("p.rhai"));
    };
    reload(0);
    let before = open_files(pid);
    (1..=50).for_each(reload);
    // The last client may still be on its way out.
    wait_for("as many files as before", || open_files(pid) <= before);
    assert_eq!(served.status()["counts"]["reloads"], 51);
    served.end();
}

#[test]
fn a_journal_that_changes_files_while_it_is_written_holds_every_tick_once() {
    let tree = Tree::new();
    let (board, journal) = (at(&tree.folder, "board.toml"), at(&tree.folder, "journal"));
    let args = ["run", "--board", &board, "--period-us", "1000", "--journal", &journal];
    let mut command = tree.command(&args);
    command.args(["--journal-max-MB", "1", "--journal-keep", "9", "--ticks", "8000"]);
    let agent = Agent::of(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let output = agent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let parts: Vec<String> = (1..=9)
        .map(|part| format!("{journal}.{part}"))
        .chain([journal.clone()])
        .filter(|path| fs::exists(path).unwrap())
        .collect();
    assert!(parts.len() >= 3, "{parts:?}");
    let mut seen = BTreeSet::new();
    for part in &parts {
        let text = fs::read_to_string(part).unwrap();
        assert!(text.len() <= 1_000_000, "{part} has {} bytes", text.len());
        for line in text.lines().skip(1) {
            let entry: Value = serde_json::from_str(line).unwrap();
            if let Some(tick) = entry["sample"]["tick"].as_u64() {
                assert!(seen.insert(tick), "tick {tick} is there twice");
            }
        }
    }
    assert_eq!(seen.len(), 8_000);
    let verified = good(&["replay", "--verify", &journal]).stdout;
    assert!(verified.contains("8000"), "{verified}");
}
