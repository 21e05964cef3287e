//! `bwmon policy test`: specs beside policies, shipped ones, and those that are wrong.

use crate::common::{at, bad, bwmon, folder, good, json, repository};
use serde_json::Value;

const SPEC: &str = r#"schema = 1
board = "sdm845-seed"

[[scenario]]
name = "a burst"
series = [{ ms = 100, peak_kBps = 100_000 }, { ms = 100, peak_kBps = 3_000_000 }]
[[scenario.expect]]
rise_ms = 4

[[scenario]]
name = "idle"
series = [{ ms = 100, peak_kBps = 0 }]
[[scenario.expect]]
idle_to_lowest_ms = 8
"#;

const FOLLOWS: &str =
    "fn decide(obs) { if !obs.valid { return hold(); } demand_kBps(obs.peak_kBps) }\n";

#[test]
fn every_shipped_policy_keeps_its_spec_and_the_file_is_the_embedded_one() {
    let report = json(&["policy", "test", "--json"]);
    assert_eq!(report["ok"], true);
    let policies = report["policies"].as_array().unwrap();
    assert!(policies.len() >= 2, "{report}");
    for policy in policies {
        let name = policy["policy"].as_str().unwrap();
        let file = repository().join(format!("policies/{name}.rhai"));
        let beside = json(&["policy", "test", "--json", file.to_str().unwrap()]);
        assert_eq!(beside["policies"][0]["scenarios"], policy["scenarios"], "{name}");
    }
    assert!(good(&["policy", "test"]).stdout.ends_with("all hold\n"));
    assert!(good(&["policy", "test", "--help"]).stdout.contains("bwmon policy test my.rhai"));
}

#[test]
fn a_spec_beside_the_script_is_found_and_one_line_says_how_each_scenario_went() {
    let folder = folder(&[("p.rhai", FOLLOWS), ("p.spec.toml", SPEC)]);
    let file = at(&folder, "p.rhai");
    let expected = format!(
        "{file}\n  ok        200 ms  a burst\n  ok        100 ms  idle\n2 scenarios, 2 expectations, \
         300 ms simulated: all hold\n"
    );
    assert_eq!(good(&["policy", "test", &file]).stdout, expected);
}

#[test]
fn a_policy_that_does_not_keep_its_spec_answers_with_1_and_says_when_and_what() {
    let late = "fn init(info) { #{ n: 0 } }\nfn decide(obs) { this.n += 1; opp(if this.n > 30 { 3 } \
                else { 0 }) }";
    let folder = folder(&[("p.rhai", late), ("p.spec.toml", SPEC)]);
    let file = at(&folder, "p.rhai");
    let ran = bwmon(&["policy", "test", &file]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    // Tick 31 ends at 124 ms.
    let line = "    rise_ms = 4 (line 8) on ddr:\n      demand rises at 100 ms to 3000000 kBps (read as \
                3008000); level 3 (3072000 kBps) or more was to be in force by 104 ms, it was at \
                124 ms";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("300 ms simulated: 1 failed\n"), "{}", ran.stdout);
    let ran = bwmon(&["policy", "test", "--json", &file]);
    assert_eq!(ran.code, Some(1));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let failure = &report["policies"][0]["scenarios"][0]["failures"][0];
    assert_eq!(failure["line"], 8);
    assert_eq!(failure["domain"], "ddr");
    assert_eq!(failure["seen"], "it was at 124 ms");
    assert_eq!(report["ok"], false);
    // The scenario that holds is not the one that is asked for.
    good(&["policy", "test", &file, "--filter", "idle"]);
    assert!(bad(2, &["policy", "test", &file, "--filter", "x"]).contains("no scenario has \"x\""));
}

#[test]
fn a_policy_without_a_spec_is_told_how_to_write_one_and_the_example_runs() {
    let folder = folder(&[("p.rhai", FOLLOWS)]);
    let file = at(&folder, "p.rhai");
    let said = bad(2, &["policy", "test", &file]);
    assert!(said.contains("p.spec.toml") && said.contains("docs/policy-spec.md"), "{said}");
    let example = said.split("for example:\n\n").nth(1).unwrap();
    let example = example.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n");
    std::fs::write(at(&folder, "p.spec.toml"), example).unwrap();
    good(&["policy", "test", &file]);
    assert!(bad(2, &["policy", "test", "native"]).contains("--spec"));
    assert!(bad(2, &["policy", "test", "adaptiv"]).contains("did you mean"));
    assert!(bad(2, &["policy", "test", "--spec", "x"]).contains("POLICY"));
}

#[test]
fn a_spec_that_is_wrong_or_cannot_fail_answers_with_2_and_its_place() {
    for (old, new, said) in [
        ("rise_ms = 4", "level_min = 0", "cannot fail"),
        ("rise_ms = 4", "fall_ms = 4", "judges nothing"),
        ("rise_ms = 4", "rise_mss = 4", "did you mean `rise_ms`?"),
        ("rise_ms = 4", "rise_ms = 4\nto_ms = 999", "it is 200 ms long"),
        ("rise_ms = 4", "rise_ms = 4\ndomain = \"llcc\"", "there is no domain \"llcc\""),
        ("sdm845-seed", "sdm845-sed", "did you mean \"sdm845-seed\"?"),
        ("schema = 1", "schema = 1\nset = { x = 1 }", "no tunable called x"),
    ] {
        let spec = SPEC.replacen(old, new, 1);
        let folder = folder(&[("p.rhai", FOLLOWS), ("p.spec.toml", &spec)]);
        let error = bad(2, &["policy", "test", &at(&folder, "p.rhai")]);
        assert!(error.contains(said) && error.contains("p.spec.toml:"), "{error}");
    }
    let folder = folder(&[("p.rhai", "fn decide(obs) { hold( }"), ("p.spec.toml", SPEC)]);
    let error = bad(2, &["policy", "test", &at(&folder, "p.rhai")]);
    assert!(error.contains("p.rhai:1:"), "{error}");
    let large = format!("#{}", "x".repeat(300_000));
    std::fs::write(at(&folder, "p.spec.toml"), large).unwrap();
    let error = bad(2, &["policy", "test", &at(&folder, "p.rhai")]);
    assert!(error.contains("larger than 262144 bytes"), "{error}");
}

#[test]
fn another_board_another_tunable_and_another_policy_are_tried_with_the_same_spec() {
    let spec = at_repository("policies/bwmon.spec.toml");
    good(&["policy", "test", "native", "--spec", &spec]);
    let ran = bwmon(&["policy", "test", "bwmon", "--set", "down_windows=15"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("stay_ms = 64"), "{}", ran.stdout);
    let folder = folder(&[("p.rhai", FOLLOWS), ("p.spec.toml", SPEC)]);
    let file = at(&folder, "p.rhai");
    let report = json(&["policy", "test", &file, "--json", "--board", "sc7180"]);
    assert_eq!(report["policies"][0]["scenarios"][0]["board"], "sc7180");
    assert!(bad(2, &["policy", "test", &file, "--board", "sc718"]).contains("did you mean"));
}

#[test]
fn boards_workloads_and_policies_beside_the_spec_are_found_and_errors_name_them() {
    let spec = r#"schema = 1
board = "b.toml"
[[scenario]]
name = "s"
workload = "w.toml"
ms = 40
[[scenario.expect]]
same_as = "other.rhai"
never_below_demand = true
"#;
    let board = std::fs::read_to_string(at_repository("bwmon-user/boards/sdm845.toml")).unwrap();
    let workload =
        std::fs::read_to_string(at_repository("policies/scenarios/frames.toml")).unwrap();
    let folder = folder(&[
        ("p.rhai", FOLLOWS),
        (
            "other.rhai",
            "fn decide(obs) { if obs.valid { demand_kBps(obs.peak_kBps) } else { hold() } }",
        ),
        ("p.spec.toml", spec),
        ("b.toml", &board),
        ("w.toml", &workload),
    ]);
    let file = at(&folder, "p.rhai");
    good(&["policy", "test", &file]);
    std::fs::write(at(&folder, "w.toml"), workload.replace("cpu_pct", "cpu_pt")).unwrap();
    assert!(bad(2, &["policy", "test", &file]).contains("w.toml:"));
    std::fs::remove_file(at(&folder, "w.toml")).unwrap();
    let error = bad(2, &["policy", "test", &file]);
    assert!(error.contains("cannot read") && error.contains("p.spec.toml:5:"), "{error}");
}

#[test]
fn every_spec_in_the_documentation_runs() {
    let text = std::fs::read_to_string(at_repository("docs/policy-spec.md")).unwrap();
    let mut specs = 0;
    for block in text.split("```toml spec\n").skip(1) {
        let folder = folder(&[("s.toml", block.split("```").next().unwrap())]);
        good(&["policy", "test", "bwmon", "--spec", &at(&folder, "s.toml")]);
        specs += 1;
    }
    assert!(specs >= 3, "{specs}");
}

#[test]
fn every_key_of_the_format_is_documented() {
    let text = std::fs::read_to_string(at_repository("docs/policy-spec.md")).unwrap();
    let raw = std::fs::read_to_string(at_repository("bwmon-user/src/spec/raw.rs")).unwrap();
    let mut renamed = None;
    let mut keys = 0;
    for line in raw.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("#[serde(rename = \"") {
            renamed = name.split('"').next();
        }
        let Some(field) = line.strip_prefix("pub(super) ").filter(|l| l.contains(": ")) else {
            continue;
        };
        let key = renamed.take().or(field.split(':').next()).unwrap();
        let written =
            [format!("`{key}`"), format!("`{key} "), format!("[{key}]]"), format!(".{key}]]")];
        let square = text.contains(&format!("{key}, ")) || text.contains(&format!(", {key} }}"));
        assert!(written.iter().any(|w| text.contains(w)) || square, "{key}");
        keys += 1;
    }
    assert!(keys > 50, "{keys}");
}

fn at_repository(name: &str) -> String {
    repository().join(name).to_str().unwrap().to_owned()
}
