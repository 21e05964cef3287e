//! `bwmon policy explain` where it could tell what is not so: reloads, canaries, faults, guard rails.

use crate::common::{at, folder, good, json};
use serde_json::Value;

/// Counts its calls; at the lowest level.
const OLD: &str =
    "fn init(info) { #{ n: 0 } }\nfn decide(obs) {\n  this.n += 1;\n  opp(0, \"old\")\n}";

/// Is told of a reload and takes the old one's count over.
const NEW: &str = "fn init(info) { #{ m: 0 } }\n\
                   fn on_event(ev) {\n  if ev.kind == \"reload\" { this.m = 100 + ev.old_state.n; }\n}\n\
                   // A line more.\n// And one more.\n\
                   fn decide(obs) {\n  let seen = this.m;\n  opp(1, \"new\")\n}";

fn explain(journal: &str, tick: usize) -> Value {
    let tick = tick.to_string();
    let args = ["policy", "explain", journal, "--tick", &tick, "--domain", "ddr", "--json"];
    json(&args)[0].clone()
}

/// The journal's entry of `tick`, for ddr.
fn recorded(journal: &str, tick: usize) -> Value {
    let text = std::fs::read_to_string(journal).unwrap();
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut entries = lines.filter(|line| line["sample"]["tick"] == tick);
    entries.next().unwrap()["domains"][1].clone()
}

/// The statements that are told.
fn statements(story: &Value) -> Vec<String> {
    let steps = story["steps"].as_array().unwrap().iter();
    steps.map(|step| step["text"].as_str().unwrap().to_owned()).collect()
}

fn summary(story: &Value, about: &str) -> String {
    let rows = story["summary"].as_array().unwrap();
    let row = rows.iter().find(|row| row[0] == about);
    row.map_or_else(String::new, |row| row[1].as_str().unwrap().to_owned())
}

#[test]
fn after_a_reload_the_new_script_is_told_with_the_state_that_it_took_over() {
    let folder = folder(&[("old.rhai", OLD), ("new.rhai", NEW)]);
    let (old, new, journal) = (at(&folder, "old.rhai"), at(&folder, "new.rhai"), at(&folder, "j"));
    // A tick is 4 ms: ticks 0 to 9 (up to 40 ms) are the old one's.
    good(&[
        "sim",
        "--policy",
        &old,
        "--then",
        &new,
        "--then-at-ms",
        "40",
        "--ticks",
        "20",
        "--journal",
        &journal,
    ]);
    let first_new = (0..20).find(|tick| recorded(&journal, *tick)["why"] == "new").unwrap();
    let before = explain(&journal, first_new - 1);
    assert_eq!((&before["policy"], &before["as_recorded"]), (&old.as_str().into(), &true.into()));
    assert_eq!(statements(&before), ["this.n += 1;", "opp(0, \"old\")"]);
    let after = explain(&journal, first_new);
    assert_eq!((&after["policy"], &after["as_recorded"]), (&new.as_str().into(), &true.into()));
    assert_eq!(statements(&after), ["let seen = this.m;", "opp(1, \"new\")"]);
    // The old one was asked once a tick.
    let seen = (100 + first_new).to_string();
    assert_eq!(after["steps"][0]["changed"], serde_json::json!([["seen", seen]]));
}

#[test]
fn a_canary_is_told_from_the_tick_on_which_it_decides() {
    let folder = folder(&[("old.rhai", OLD), ("new.rhai", NEW)]);
    let (old, new, journal) = (at(&folder, "old.rhai"), at(&folder, "new.rhai"), at(&folder, "j"));
    good(&[
        "sim",
        "--policy",
        &old,
        "--then",
        &new,
        "--then-at-ms",
        "20",
        "--canary-ms",
        "40",
        "--canary-rule",
        "faults<=0",
        "--ticks",
        "30",
        "--journal",
        &journal,
    ]);
    let first_new = (0..30).find(|tick| recorded(&journal, *tick)["why"] == "new").unwrap();
    assert!(first_new > 10, "it runs in shadow from 20 ms to 60 ms");
    for tick in 0..30 {
        let story = explain(&journal, tick);
        let (name, last) =
            if tick < first_new { (&old, "opp(0, \"old\")") } else { (&new, "opp(1, \"new\")") };
        assert_eq!(story["policy"], name.as_str(), "tick {tick}");
        assert_eq!(statements(&story).last().unwrap(), last, "tick {tick}");
        assert_eq!(story["decision"], recorded(&journal, tick)["decision"]);
    }
}

#[test]
fn a_fault_of_the_budget_is_told_as_the_journal_has_it() {
    let script = "fn decide(obs) {\n  let x = 0;\n  for i in 0..900 {\n    x += i;\n    x -= 1;\n  }\n  opp(2)\n}";
    let folder = folder(&[("busy.rhai", script)]);
    let (policy, journal) = (at(&folder, "busy.rhai"), at(&folder, "j"));
    good(&["sim", "--policy", &policy, "--ticks", "3", "--journal", &journal]);
    let (story, entry) = (explain(&journal, 1), recorded(&journal, 1));
    assert_eq!((&story["by"], &story["decision"]), (&"fallback".into(), &entry["decision"]));
    assert!(story["fault"].as_str().unwrap().contains("more than 5000 operations"));
    let ran = statements(&story);
    assert!(ran.len() > 1000 && !ran.contains(&"opp(2)".to_owned()), "{}", ran.len());
}

#[test]
fn a_level_that_the_table_lacks_is_a_fault_with_given_readings_too() {
    let folder = folder(&[("p.rhai", "fn decide(obs) { opp(9) }")]);
    let args = ["policy", "explain", &at(&folder, "p.rhai"), "--domain", "ddr", "--json"];
    let story = json(&[&args[..], &["--with", "level=1", "--with", "peak_kBps=1000"]].concat());
    assert_eq!((&story[0]["by"], &story[0]["decision"]["level"]), (&"fallback".into(), &1.into()));
    assert!(story[0]["fault"].as_str().unwrap().contains("which has 5 levels"));
}

#[test]
fn each_guard_rail_names_its_limit_and_what_was_asked_for() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    for (limit, reason, said) in [
        ("min_dwell_ms=100", "dwell", "kept level 4 instead of level 0: min_dwell_ms is 100"),
        ("min_kBps=3000000", "min_level", "raised it to level 2, the lowest allowed, instead of"),
        ("max_kBps=1804000", "max_level", "cut it to level 1, the highest allowed, instead of"),
        ("max_step_down=1", "step_down", "came down to level 3 only, instead of level 0"),
        ("max_transitions_per_s=3", "rate", "max_transitions_per_s is 3, so many were"),
    ] {
        let limit = format!("ddr.{limit}");
        good(&["sim", "--limit", &limit, "--ticks", "400", "--journal", &journal]);
        let tick = (0..400).find(|tick| recorded(&journal, *tick)["decision"]["reason"] == reason);
        let story = explain(&journal, tick.unwrap());
        let told = summary(&story, "guard rails");
        assert!(told.contains(said), "{limit}: {told}");
    }
}

#[test]
fn the_level_in_force_says_since_when_and_a_demand_why_no_other_level() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--journal", &journal, "--ticks", "60"]);
    let changed = |tick: &usize| recorded(&journal, *tick)["vote"]["change"] == true;
    let changes: Vec<usize> = (0..60).filter(changed).collect();
    let (first, next) = (changes[changes.len() - 2], changes[changes.len() - 1]);
    let story = explain(&journal, next);
    assert_eq!(story["since_tick"], first);
    let ms = 4 * (next - first);
    let in_force = summary(&story, "in force");
    assert!(in_force.contains(&format!("since tick {first} ({ms} ms ago)")), "{in_force}");
    // 2048000 kBps do not fit 1804000, and leave 1024000 of 3072000.
    let tick = (0..60).find(|tick| recorded(&journal, *tick)["ask"]["demand_kBps"] == 2_048_000);
    let story = explain(&journal, tick.unwrap());
    assert_eq!(
        (summary(&story, "why not less").as_str(), summary(&story, "why not more").as_str()),
        (
            "level 1 (1 804 000 kBps) carries 244 000 kBps too little",
            "not needed: 1 024 000 kBps to spare"
        )
    );
}

#[test]
fn a_journal_that_was_changed_is_not_explained_as_if_it_had_not_been() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--journal", &journal, "--ticks", "60"]);
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replace("busiest window\"", "busy\"")).unwrap();
    let tick = (0..60).find(|tick| recorded(&journal, *tick)["why"] == "busy").unwrap();
    assert_eq!(explain(&journal, tick)["as_recorded"], false);
    let tick = tick.to_string();
    let told = good(&["policy", "explain", &journal, "--tick", &tick, "--domain", "ddr"]).stdout;
    assert!(told.contains("The journal tells this tick otherwise"), "{told}");
}
