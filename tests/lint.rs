//! `bwmon policy check`: lints as text, as JSON, as annotations, and the exit codes.

use crate::common::{at, bad, bwmon, folder, good, repository};
use serde_json::Value;

/// One error at 3:5 and one warning at 2:7.
const TWO: &str = "fn decide(obs) {\n  let kbps = obs.max_level;\n    holdd(kbps)\n}";
/// A warning at 1:11.
const WARNED: &str = "// @param level = 1 (0..3) which\nfn decide(obs) { hold() }";

fn checked(text: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let folder = folder(&[("p.rhai", text)]);
    let file = at(&folder, "p.rhai");
    let mut all = vec!["policy", "check", "--board", "sdm845-seed"];
    all.extend(args);
    all.push(&file);
    let ran = bwmon(&all);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let tidy = |text: String| text.replace(&file, "p.rhai");
    (ran.code, tidy(ran.stdout), tidy(ran.stderr))
}

#[test]
fn all_findings_are_told_in_order_with_line_caret_and_advice() {
    let (code, stdout, stderr) = checked(TWO, &[]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let expected = "warning[unit-in-name]: `kbps` in `kbps` reads as bits per second\n \
                    --> p.rhai:2:7\n  |\n2 |   let kbps = obs.max_level;\n  |       ^\n  \
                    = help: bandwidths here are bytes: end the name in _kBps (1000 bytes) or _MiBps (2^20)\n\
                    error[unknown-function]: there is no function `holdd`\n \
                    --> p.rhai:3:5\n  |\n3 |     holdd(kbps)\n  |     ^\n  \
                    = help: did you mean `hold`?\n\
                    p.rhai: 1 error(s), 1 warning(s)\n";
    assert_eq!(stderr, expected);
}

#[test]
fn warnings_answer_no_only_when_they_are_denied() {
    let (code, stdout, stderr) = checked(WARNED, &[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("good on 1 board(s)") && stdout.contains(", 1 warning(s)"), "{stdout}");
    assert!(
        stderr.contains("warning[unused-tunable]") && stderr.contains("p.rhai:1:11"),
        "{stderr}"
    );
    let (code, stdout, _) = checked(WARNED, &["--deny-warnings"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let (code, stdout, stderr) = checked(WARNED, &["--deny-warnings", "--allow", "unused-tunable"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(!stdout.contains("warning"), "{stdout}");
}

#[test]
fn an_allowed_lint_does_not_hide_the_fault_that_it_explains() {
    let (code, _, stderr) =
        checked(TWO, &["--allow", "unknown-function", "--allow", "unit-in-name"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("error[fault]: Function not found: holdd"), "{stderr}");
}

#[test]
fn json_rows_carry_the_findings() {
    let (code, stdout, stderr) = checked(TWO, &["--json"]);
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
    let rows: Value = serde_json::from_str(&stdout).unwrap();
    let row = &rows[0];
    assert_eq!((&row["ok"], &row["line"], &row["column"]), (&false.into(), &3.into(), &5.into()));
    assert!(row["fault"].as_str().unwrap().contains("there is no function `holdd`"));
    let finding = &row["findings"][1];
    let expected = serde_json::json!({
        "code": "unknown-function", "severity": "error", "message": "there is no function `holdd`",
        "line": 3, "column": 5, "help": "did you mean `hold`?", "board": null, "domain": null,
    });
    assert_eq!(*finding, expected);
    assert_eq!(row["findings"].as_array().unwrap().len(), 2);
    let (code, stdout, _) = checked("fn decide(obs) { hold() }", &["--format", "json"]);
    let rows: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &rows[0]["ok"], &rows[0]["fault"]), (Some(0), &true.into(), &Value::Null));
    for key in ["policy", "boards", "calls", "max_operations", "tunables", "findings"] {
        assert!(!rows[0][key].is_null(), "{key}");
    }
}

#[test]
fn github_gets_one_annotation_a_finding() {
    let (code, stdout, _) = checked(TWO, &["--format", "github"]);
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(
        lines[1],
        "::error file=p.rhai,line=3,col=5,title=unknown-function::there is no function `holdd`\
         %0Ahelp: did you mean `hold`?"
    );
    assert!(lines[0].starts_with("::warning file=p.rhai,line=2,col=7,title=unit-in-name::"));
    assert_eq!(lines.len(), 2);
    let (code, stdout, _) = checked("fn decide(obs) { hold() }", &["--format", "github"]);
    assert_eq!((code, stdout.as_str()), (Some(0), ""));
}

#[test]
fn what_governing_shows_names_board_and_domain() {
    let up_only = "fn decide(obs) { if obs.above { demand_kBps(obs.peak_kBps) } else { hold() } }";
    let (code, stdout, stderr) = checked(up_only, &["--json", "--allow", "level-never-chosen"]);
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Value = serde_json::from_str(&stdout).unwrap();
    let finding = &rows[0]["findings"][0];
    assert_eq!(finding["code"], "never-comes-down");
    assert_eq!((&finding["board"], &finding["domain"]), (&"sdm845-seed".into(), &"ddr".into()));
    assert_eq!((&finding["line"], &rows[0]["line"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_policy_is_governed_with_the_tunables_that_are_set() {
    let text = "// @param share = 100 (50..100) percent of the demand\nfn decide(obs) {\n  \
                if !obs.valid { return hold(); }\n  demand_kBps(obs.peak_kBps * cfg::share / 100)\n}";
    let (_, _, stderr) = checked(text, &[]);
    assert_eq!(stderr, "");
    let (_, _, stderr) = checked(text, &["--set", "share=80"]);
    assert!(stderr.contains("warning[below-demand]: board sdm845-seed, domain ddr"), "{stderr}");
}

#[test]
fn codes_are_listed_and_wrong_ones_are_refused_with_a_suggestion() {
    let listed = good(&["policy", "check", "--list-codes"]).stdout;
    assert!(
        listed.contains("unguarded-reading") && listed.contains("a policy")
            || listed.contains("a way out")
    );
    let ran = good(&["policy", "check", "--list-codes", "--json"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    let help = good(&["policy", "check", "--help"]).stdout;
    for row in rows.as_array().unwrap() {
        for key in ["code", "what"] {
            let text = row[key].as_str().unwrap();
            assert!(help.contains(text) && listed.contains(text), "{text}");
        }
        assert!(["error", "warning"].contains(&row["severity"].as_str().unwrap()));
    }
    let said = bad(2, &["policy", "check", "native", "--allow", "flaping"]);
    assert!(said.contains("did you mean flapping?"), "{said}");
    assert!(
        bad(2, &["policy", "check", "native", "--allow", "refused"]).contains("cannot be allowed")
    );
    bad(2, &["policy", "check", "--json", "--format", "github", "native"]);
    bad(2, &["policy", "check"]);
}

#[test]
fn several_policies_are_checked_and_chains_are_policies() {
    let folder = folder(&[("a.rhai", TWO), ("b.rhai", WARNED)]);
    let (a, b) = (at(&folder, "a.rhai"), at(&folder, "b.rhai"));
    let board = ["--board", "sdm845-seed"];
    let chain = "chain:peak | headroom(80)";
    let ran =
        bwmon(&[&["policy", "check", &a, &b, chain, "native", "--json"][..], &board].concat());
    assert_eq!(ran.code, Some(1));
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    let good: Vec<bool> = rows.as_array().unwrap().iter().map(|r| r["ok"] == true).collect();
    assert_eq!(good, [false, true, true, true]);
    let said = bad(1, &["policy", "check", "chain:peak | headrom(80)"]);
    assert!(said.contains("error[refused]") && said.contains("did you mean `headroom`?"), "{said}");
}

#[test]
fn the_shipped_policies_have_no_findings() {
    for name in ["bwmon", "adaptive"] {
        let ran = good(&["policy", "check", "--deny-warnings", "--board", "sdm845", name]);
        assert_eq!(ran.stderr, "", "{name}");
    }
}

#[test]
fn every_hostile_script_is_looked_through() {
    let hostile = repository().join("tests/data/hostile");
    let mut files: Vec<String> = hostile
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    let mut args = vec!["policy", "check", "--json", "--board", "sdm845-seed"];
    args.extend(files.iter().map(String::as_str));
    let ran = bwmon(&args);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    for row in rows.as_array().unwrap() {
        let text = std::fs::read_to_string(row["policy"].as_str().unwrap()).unwrap();
        let harmless = text.starts_with("// harmless");
        assert_eq!(row["ok"] == true, harmless, "{row:#}");
    }
}
