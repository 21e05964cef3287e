//! `bwmon policy check` and bad policies at every door that takes one.

use crate::common::{at, bad, bwmon, folder, good, repository};
use serde_json::Value;

#[test]
fn every_shipped_policy_is_good_on_every_board() {
    for entry in repository().join("policies").read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "rhai") {
            let ran = good(&["policy", "check", path.to_str().unwrap()]);
            assert!(ran.stdout.contains("good on 18 board(s)"), "{}", ran.stdout);
        }
    }
}

/// A bad script, the line of its fault, and a word that must be said.
const BAD: [(&str, usize, &str); 10] = [
    ("fn decide(obs) {\n  hold(\n}", 3, ""),
    ("fn decide(obs) {\n  loop {}\n}", 1, "operations"),
    ("fn f(n) {\n  f(n + 1)\n}\nfn decide(obs) { f(0) }", 4, "calls itself"),
    ("fn decide(obs) {\n  let s = \"x\";\n  loop { s += s; }\n}", 1, "Length of string"),
    ("fn decide(obs) {\n  5\n}", 2, "not a proposal"),
    ("fn decide(obs) {\n  opp(999)\n}", 0, "levels go from 0 to"),
    ("fn decide(obs) {\n  demand_kBps(obs.mean_kbps)\n}", 2, "did you mean `mean_kBps`"),
    ("fn decide(obs) {\n  holdd()\n}", 2, "did you mean `hold`"),
    ("fn decide(obs) {\n  print(1);\n  hold()\n}", 2, "off in policies"),
    ("let x = 1;\nfn decide(obs) { hold() }", 1, "outside of a function"),
];

#[test]
fn bad_policies_fail_the_check_with_line_and_advice() {
    for (text, line, word) in BAD {
        let folder = folder(&[("p.rhai", text)]);
        let file = at(&folder, "p.rhai");
        let said = bad(1, &["policy", "check", &file]);
        assert!(said.contains(word), "{text}: {said}");
        let ran = bwmon(&["policy", "check", "--json", &file]);
        let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(rows[0]["ok"], false);
        if line > 0 {
            assert!(said.contains(&format!("p.rhai:{line}:")), "{text}: {said}");
            assert_eq!(rows[0]["line"], line, "{text}");
        }
    }
}

#[test]
fn a_policy_that_does_not_compile_stops_sim_before_it_writes_anything() {
    let folder = folder(&[("p.rhai", "fn decide(obs) { hold( }")]);
    let journal = at(&folder, "j");
    bad(2, &["sim", "--policy", &at(&folder, "p.rhai"), "--journal", &journal]);
    assert!(!std::path::Path::new(&journal).exists());
}

#[test]
fn a_policy_that_faults_is_answered_by_the_native_rule_and_counted() {
    let folder = folder(&[("p.rhai", "fn decide(obs) { loop {} }")]);
    let run = |policy: &str| -> Value {
        let ran = good(&["sim", "--json", "--policy", policy]);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let faulty = run(&at(&folder, "p.rhai"));
    assert!(faulty["faults"].as_u64().unwrap() > 0);
    assert_eq!(faulty["domains"], run("native")["domains"]);
}

#[test]
fn tunables_are_set_and_checked() {
    let slow = good(&["sim", "--workload", "frames", "--set", "down_windows=2"]);
    let fast = good(&["sim", "--workload", "frames", "--set", "down_windows=100"]);
    assert_ne!(slow.stdout, fast.stdout);
    assert!(bad(2, &["sim", "--set", "down_window=2"]).contains("did you mean down_windows?"));
    assert!(bad(2, &["sim", "--set", "down_windows=0"]).contains("outside 1..1000"));
    assert!(bad(2, &["sim", "--set", "down_windows"]).contains("NAME=VALUE"));
    assert!(bad(2, &["sim", "--policy", "native", "--set", "x=1"]).contains("no tunable x"));
}

#[test]
fn unknown_policies_are_named_with_those_that_exist() {
    assert!(bad(2, &["sim", "--policy", "nativ"]).contains("did you mean the policy native?"));
    assert!(bad(2, &["sim", "--policy", "/not/there.rhai"]).contains("built in"));
    assert!(bad(2, &["sim", "--policy", "/dev/zero"]).contains("not a regular file"));
    good(&["policy", "check", "native"]);
    assert!(good(&["policy", "docs"]).stdout.contains("obs.peak_kBps"));
    let folder = folder(&[]);
    std::fs::write(at(&folder, "p.rhai"), b"fn decide(obs) {\n \xff }").unwrap();
    assert!(bad(2, &["policy", "check", &at(&folder, "p.rhai")]).contains("line 2"));
}

#[test]
fn every_policy_in_the_documentation_passes_its_check() {
    let mut examples = 0;
    for name in ["README.md", "docs/policy-guide.md", "docs/reload.md"] {
        let text = std::fs::read_to_string(repository().join(name)).unwrap();
        for block in text.split("```rhai\n").skip(1) {
            let script = block.split("```").next().unwrap();
            let folder = folder(&[("p.rhai", script)]);
            good(&["policy", "check", &at(&folder, "p.rhai")]);
            examples += 1;
        }
    }
    assert!(examples >= 6, "{examples}");
}

#[test]
fn the_tables_of_the_guide_are_those_of_the_vocabulary() {
    let guide = repository().join("docs/policy-guide.md");
    let text = std::fs::read_to_string(&guide).unwrap();
    let folder = folder(&[("guide.md", &text)]);
    good(&["policy", "docs", "--update", &at(&folder, "guide.md")]);
    let new = std::fs::read_to_string(at(&folder, "guide.md")).unwrap();
    assert!(new == text, "run: bwmon policy docs --update docs/policy-guide.md");
    assert!(text.matches("<!-- words: ").count() == 7);
    assert!(good(&["policy", "docs", "--definitions"]).stdout.contains("fn ewma(slot: String"));
    let words: Value = serde_json::from_str(&good(&["policy", "docs", "--json"]).stdout).unwrap();
    assert!(words["words"].as_array().unwrap().iter().any(|w| w["written"] == "hold_ms(n)"));
    let no_mark = folder_with("<!-- words: nope -->");
    assert!(bad(2, &["policy", "docs", "--update", &at(&no_mark, "x.md")]).contains("called nope"));
}

fn folder_with(text: &str) -> tempfile::TempDir {
    folder(&[("x.md", text)])
}

#[test]
fn a_chain_stands_where_a_policy_file_may_stand() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    let chain = "chain:peak | headroom(80) | hold_down(24)";
    good(&["sim", "--policy", chain, "--journal", &journal]);
    good(&["replay", "--verify", &journal]);
    assert!(
        bad(2, &["sim", "--policy", "chain:peak | headrom(80)"])
            .contains("did you mean `headroom`?")
    );
    assert!(bad(2, &["sim", "--policy", chain, "--set", "x=1"]).contains("no tunable x"));
    assert!(bad(2, &["sim", "--policy", "native", "--preset", "x"]).contains("no preset x"));
}

#[test]
fn bench_tells_cost_and_ratio_and_answers_no_over_a_limit() {
    let ran = good(&["policy", "bench", "--json", "--calls", "1000", "bwmon", "native"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    for key in [
        "policy",
        "p50_ns",
        "p99_ns",
        "operations",
        "allocations",
        "native_p50_ns",
        "ratio_to_native",
    ] {
        assert!(!rows[0][key].is_null(), "{key}");
    }
    // Whatever the machine: the script takes some operations and no more than 6 allocations a call.
    assert!((10..60).contains(&rows[0]["operations"].as_u64().unwrap()));
    assert!(rows[0]["allocations"].as_u64().unwrap() <= 6);
    assert_eq!((&rows[1]["operations"], &rows[1]["allocations"]), (&Value::Null, &Value::from(0)));
    bad(1, &["policy", "bench", "--calls", "1000", "bwmon", "--fail-over-ns", "1"]);
    bad(2, &["policy", "bench", "bwmon", "native", "--set", "x=1"]);
}
