//! Bundles on trial: proven by time, given up by reboots, a dropped canary or a demotion.

use crate::bundle_rig::{ROOM, Rig, SOURCE, text};
use crate::common::{Agent, Ran, good, wait_for, wait_within};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

/// How the bundles of the store stand, by version.
fn standing(rig: &Rig, version: &str) -> String {
    let rows: Value = serde_json::from_str(&rig.bundle(&["list", "--json"]).stdout).unwrap();
    let rows = rows.as_array().unwrap();
    let row = rows.iter().find(|row| row["version"] == version);
    row.map_or_else(|| "not here".into(), |row| row["standing"].as_str().unwrap().to_owned())
}

/// An agent that governs this machine, with what it says in a file.
fn govern(rig: &Rig, more: &[&str]) -> Agent {
    let said = fs::File::create(rig.at("said")).unwrap();
    let journal = text(&rig.at("journal"));
    let mut command = rig.tree.command(&["run", "--journal", &journal]);
    let child = command.args(more).stdout(Stdio::null()).stderr(said).spawn().unwrap();
    let agent = Agent::of(child);
    // Of an agent before this one too: who starts a second one waits for what it says.
    wait_for("the first tick", || {
        rig.at("journal").exists() && rig.read("journal").lines().count() > 1
    });
    agent
}

fn wait_until_said(rig: &Rig, words: &str) {
    wait_for(words, || rig.read("said").contains(words));
}

/// A version of the bundle with another policy, and more behind its `bundle.toml`.
fn with(rig: &Rig, version: &str, policy: &str, more: &str) -> String {
    let source = rig.source(version, |files| {
        let specs = "specs = [\"policies/room.spec.toml\"]\n";
        files[0].1 = SOURCE.replace("1.0.0", version).replace(specs, "") + more;
        files[1].1 = files[1].1.replace("params = { room_pct = 75 }\n", "");
        files[2].1 = policy.to_owned();
    });
    rig.signed(&source, true)
}

/// Votes the top, and says so.
const TOP: &str = "fn decide(obs) { opp_max(\"top\") }\n";
/// Cannot stand ticks of a millisecond, and no check asks as often.
const HASTY: &str = "fn decide(obs) {\n    if obs.dt_us > 0 && obs.dt_us < 2_000 { throw \"too fast\"; }\n    \
if !obs.valid { return hold(\"no reading\"); }\n    \
demand_kBps(obs.peak_kBps * 4 / 3).why(\"fresh\")\n}\n";

#[test]
fn a_bundle_proves_itself_by_time_without_a_demotion() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let agent = govern(&rig, &["--prove-after-ms", "60000"]);
    assert_eq!(standing(&rig, "1.0.0"), "on trial, 1 boot(s)");
    let socket = text(&rig.tree.path("state/control.sock"));
    for verb in [&["status"][..], &["top", "--once"]] {
        let said = good(&[verb, &["--socket", &socket]].concat()).stdout;
        assert!(said.contains("bundle") && said.contains("acme-tablets 1.0.0"), "{said}");
    }
    drop(agent);
    let _agent = govern(&rig, &["--prove-after-ms", "200"]);
    wait_until_said(&rig, "bundle acme-tablets 1.0.0 has proven itself");
    assert_eq!(standing(&rig, "1.0.0"), "proven");
}

#[test]
fn a_bundle_during_which_the_machine_rebooted_twice_is_not_tried_again() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let start = |boot: &str| -> Ran {
        rig.tree.write("proc/sys/kernel/random/boot_id", boot);
        let board = text(&rig.tree.path("board.toml"));
        rig.tree.command(&["run", "--ticks", "3", "--board", &board]).output().unwrap().into()
    };
    for boot in ["one", "one", "two"] {
        let ran = start(boot);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stderr.contains("product acme"), "{}", ran.stderr);
    }
    let ran = start("three");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = "bundle acme-tablets 1.0.0 is not tried again: the machine rebooted 2 times before \
                it had proven itself; back to no bundle";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!ran.stderr.contains("product acme "), "{}", ran.stderr);
    assert!(standing(&rig, "1.0.0").starts_with("failed: the machine rebooted"));
    assert_eq!(rig.product().0, Value::from("sdm845"));
}

#[test]
fn a_run_that_does_not_govern_leaves_the_store_alone() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let before = rig.store();
    let ran: Ran = rig.tree.command(&["run", "--dry-run", "--ticks", "3"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(rig.store(), before);
}

#[test]
fn a_bundle_whose_canary_is_dropped_is_given_up_and_the_old_one_runs_on() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "1"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    // On a quiet machine the old one is at the lowest level: the new one may not vote more.
    let canary = "[canary]\nms = 300\nrule = \"mean_vote_kBps<=+0\"\n";
    rig.installs(&with(&rig, "1.1.0", TOP, canary), &[]);
    wait_until_said(&rig, "runs in shadow for 300 ms");
    wait_until_said(&rig, "bundle acme-tablets 1.1.0 has failed (its canary was dropped");
    assert!(rig.read("said").contains("back to bundle acme-tablets 1.0.0"));
    assert!(standing(&rig, "1.1.0").starts_with("failed: its canary was dropped"));
    assert_eq!(rig.product().1, Value::from("1.0.0"));
    assert!(!rig.read("journal").contains("\"why\":\"top\",\"by\":\"policy\""));
}

#[test]
fn a_canary_that_meets_its_rule_takes_over_and_proves_its_bundle() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "100"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    rig.installs(&with(&rig, "1.1.0", TOP, "[canary]\nms = 300\nrule = \"faults<=0\"\n"), &[]);
    wait_until_said(&rig, "the canary takes over");
    wait_until_said(&rig, "bundle acme-tablets 1.1.0 has proven itself");
    assert_eq!(standing(&rig, "1.1.0"), "proven");
}

/// What an operator goes back to governs at once: its own rule would forbid the way up.
#[test]
fn a_rollback_takes_no_canary() {
    let rig = Rig::new();
    let canary = "[canary]\nms = 300\nrule = \"mean_vote_kBps<=+0\"\n";
    rig.installs(&with(&rig, "1.0.0", TOP, canary), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "1"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    rig.installs(&with(&rig, "1.1.0", ROOM, canary), &[]);
    wait_until_said(&rig, "the canary takes over");
    wait_until_said(&rig, "1.1.0 has proven itself");
    assert_eq!(rig.bundle(&["rollback"]).code, Some(0));
    wait_for("the old policy", || rig.tree.set_freq() == "300");
    assert_eq!(standing(&rig, "1.0.0"), "proven");
    assert_eq!(standing(&rig, "1.1.0"), "rolled back");
    assert_eq!(rig.product().1, Value::from("1.0.0"));
}

#[test]
fn time_in_which_its_policy_does_not_decide_proves_nothing() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "1500"]);
    let socket = text(&rig.tree.path("state/control.sock"));
    let ask = |verb: &str| good(&[verb, "--socket", &socket]).stdout;
    ask("pause");
    // Half as long again as it would take, by the agent's own clock.
    wait_for("time", || {
        let status: Value =
            serde_json::from_str(&good(&["status", "--json", "--socket", &socket]).stdout).unwrap();
        status["uptime_ms"].as_u64().unwrap() > 3_000
    });
    assert_eq!(standing(&rig, "1.0.0"), "on trial, 1 boot(s)");
    ask("resume");
    wait_until_said(&rig, "1.0.0 has proven itself");
}

#[test]
fn a_bundle_that_waits_for_a_new_start_is_on_trial_from_there() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let agent = govern(&rig, &["--prove-after-ms", "1"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    let source = rig.source("1.1.0", |files| {
        files[0].1 = SOURCE.replace("1.0.0", "1.1.0");
        files[1].1 = files[1].1.replace("period_us = 4500", "period_us = 9000");
    });
    rig.installs(&rig.signed(&source, true), &[]);
    wait_until_said(&rig, "the distance of the ticks has changed; a new start takes it");
    assert_eq!(standing(&rig, "1.1.0"), "not started yet");
    drop(agent);
    let _agent = govern(&rig, &["--prove-after-ms", "1"]);
    wait_until_said(&rig, "1.1.0 has proven itself");
}

#[test]
fn a_damaged_bundle_is_left_for_the_last_whole_one_when_an_agent_starts() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let agent = govern(&rig, &["--prove-after-ms", "1"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    drop(agent);
    let file = rig.version("1.1.0");
    rig.installs(&file, &[]);
    let current = fs::canonicalize(rig.tree.path("var/lib/bwmon/bundles/current")).unwrap();
    fs::write(current.join("policies/room.rhai"), "").unwrap();
    // Who only looks changes nothing.
    let ran: Ran = rig.tree.command(&["run", "--dry-run", "--ticks", "3"]).output().unwrap().into();
    assert!(ran.code == Some(2) && ran.stderr.contains("is damaged"), "{}", ran.stderr);
    let _agent = govern(&rig, &["--prove-after-ms", "60000"]);
    wait_until_said(&rig, "bundle acme-tablets 1.1.0 is left: it is damaged");
    wait_until_said(&rig, "back to bundle acme-tablets 1.0.0");
    assert_eq!(rig.product().1, Value::from("1.0.0"));
    // And is as good as new when it is installed again.
    rig.installs(&file, &[]);
    assert_eq!(rig.product().1, Value::from("1.1.0"));
}

#[test]
fn a_store_that_cannot_be_read_keeps_nobody_from_governing() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    rig.tree.write("var/lib/bwmon/bundles/state.json", "{");
    let board = text(&rig.tree.path("board.toml"));
    let args = ["run", "--ticks", "3", "--board", &board];
    let ran: Ran = rig.tree.command(&args).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("installed bundles are left aside"), "{}", ran.stderr);
    assert!(ran.stderr.contains("state.json is broken"), "{}", ran.stderr);
}

#[test]
fn what_a_client_brings_is_not_held_against_the_bundle_and_its_dropped_canary_leaves_nothing() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "2000"]);
    let socket = text(&rig.tree.path("state/control.sock"));
    rig.tree.write("top.rhai", TOP);
    let policy = text(&rig.tree.path("top.rhai"));
    let canary = ["--canary-ms", "200", "--canary-rule", "mean_vote_kBps<=+0"];
    let args = [&["policy", "use", &policy, "--socket", &socket][..], &canary].concat();
    good(&args);
    wait_until_said(&rig, "the canary is dropped");
    // The files are followed again, and the bundle's own time counts.
    wait_until_said(&rig, "1.0.0 has proven itself");
    rig.installs(&rig.version("1.1.0"), &[]);
    wait_for("the new bundle", || rig.read("journal").contains("\"version\":\"1.1.0\""));
}

#[test]
fn a_bundle_whose_policy_is_demoted_is_given_up_for_the_one_before() {
    let rig = Rig::new();
    rig.installs(&rig.version("1.0.0"), &[]);
    // Not watched: going back does not wait for anybody to look.
    let agent = govern(&rig, &["--prove-after-ms", "1", "--no-watch"]);
    wait_until_said(&rig, "1.0.0 has proven itself");
    drop(agent);
    rig.installs(&with(&rig, "1.1.0", HASTY, ""), &[]);
    let _agent = govern(&rig, &["--prove-after-ms", "600000", "--no-watch", "--period-us", "1000"]);
    // Three faults, then 1, 2, 4 and 8 seconds aside.
    let words = "the policy is demoted after repeated faults";
    wait_within(60, words, || rig.read("said").contains(words));
    wait_until_said(
        &rig,
        "bundle acme-tablets 1.1.0 has failed (its policy was demoted on domain ddr",
    );
    wait_until_said(&rig, "room.rhai");
    wait_for("the old policy", || rig.read("journal").contains("{\"note\":{\"policy\""));
    assert!(standing(&rig, "1.1.0").starts_with("failed: its policy was demoted"));
    assert_eq!(rig.product().1, Value::from("1.0.0"));
}
