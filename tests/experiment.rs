//! `bwmon experiment` on the model: the same answer however it was come by, and bad input.

use crate::common::{at, bad, bwmon, command, folder, good, json, repository, wait_for};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Two subjects under two workloads, small enough for a debug build.
const AGENDA: &str = r#"schema = 1
name = "small"
what = "a test"
blocks = 7
settle_ms = 20
[[subject]]
name = "kernel"
kernel = true
board = "sdm845-seed"
[[subject]]
policy = "performance"
board = "sdm845-seed"
[[workload]]
simulated = "launch"
duration_ms = 400
[[workload]]
simulated = "idle"
duration_ms = 200
[[measure]]
name = "throughput"
model = "throughput_kBps"
better = "higher"
primary = true
[[measure]]
name = "ddr_vote_integral"
model = "vote_integral_kBps_s"
domain = "ddr"
better = "lower"
primary = true
[[measure]]
name = "ddr_transitions"
journal = "transitions"
domain = "ddr"
better = "lower"
"#;

fn bench(agenda: &str) -> TempDir {
    folder(&[("small.toml", agenda)])
}

fn run(bench: &TempDir, out: &str, more: &[&str]) -> String {
    let (agenda, out) = (at(bench, "small.toml"), at(bench, out));
    let mut args = vec!["experiment", "run", &agenda, "--out", &out];
    args.extend(more);
    good(&args).stdout
}

fn bytes(bench: &TempDir, name: &str) -> Vec<u8> {
    fs::read(bench.path().join(name)).unwrap()
}

/// Every file below `folder` but the log, whose moments differ.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(here) = left.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                left.push(path);
            } else if name != "log.jsonl" {
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn an_experiment_answers_its_question_and_keeps_everything() {
    let bench = bench(AGENDA);
    let said = run(&bench, "out", &[]);
    assert!(said.contains("throughput (kBps, more is better"), "{said}");
    let judged = json(&["experiment", "report", &at(&bench, "out"), "--json"]);
    assert_eq!(judged["runs"]["done"], 2 * 2 * 7);
    let cell = |workload: &str, measure: &str| {
        let cells = judged["cells"].as_array().unwrap();
        let is = |cell: &&serde_json::Value| {
            cell["workload"] == workload
                && cell["measure"] == measure
                && cell["subject"] == "performance"
        };
        cells.iter().find(is).unwrap()["effect"].clone()
    };
    // The highest level always costs votes; on an idle machine it gives nothing.
    assert_eq!(cell("idle", "throughput")["verdict"], "equivalent");
    let votes = cell("launch", "ddr_vote_integral");
    assert!(votes["low"].as_f64().unwrap() > 10.0, "{votes}");
    let names: Vec<String> = tree(&bench.path().join("out")).into_iter().map(|f| f.0).collect();
    for name in ["agenda.toml", "plan.json", "environment.json", "results.jsonl"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    assert_eq!(bytes(&bench, "out/agenda.toml"), AGENDA.as_bytes());
}

#[test]
fn shards_merge_to_the_byte_and_so_does_any_number_of_hands() {
    let bench = bench(AGENDA);
    run(&bench, "whole", &["--jobs", "3"]);
    run(&bench, "alone", &["--jobs", "1"]);
    assert!(tree(&bench.path().join("whole")) == tree(&bench.path().join("alone")));
    let parts: Vec<String> = (1..=5).map(|index| format!("part{index}")).collect();
    for (index, part) in parts.iter().enumerate() {
        run(&bench, part, &["--shard", &format!("{}/5", index + 1)]);
    }
    let paths: Vec<String> = parts.iter().map(|part| at(&bench, part)).collect();
    let mut args = vec!["experiment".to_owned(), "merge".to_owned(), at(&bench, "merged")];
    args.extend(paths.iter().cloned());
    good(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(tree(&bench.path().join("whole")) == tree(&bench.path().join("merged")));
}

#[test]
fn parts_that_do_not_belong_together_are_not_merged() {
    let bench = bench(AGENDA);
    for (part, shard) in [("a", "1/3"), ("b", "2/3"), ("c", "1/2")] {
        run(&bench, part, &["--shard", shard]);
    }
    let [a, b, c, out] = ["a", "b", "c", "out"].map(|name| at(&bench, name));
    let merge = |parts: &[&str]| bad(2, &[&["experiment", "merge", &out], parts].concat());
    assert!(merge(&[&a, &b]).contains("shards 3 of 3 are missing"));
    assert!(merge(&[&a, &a]).contains("both shard 1/3"));
    assert!(merge(&[&a, &c]).contains("not parts of one plan"));
    assert!(merge(&[&at(&bench, "small.toml")]).contains("no plan.json"));
    assert!(!Path::new(&out).exists(), "nothing is made of what does not fit");
    good(&["experiment", "merge", &out, &a, &b, "--partial"]);
}

#[test]
fn an_interrupted_experiment_goes_on_and_says_the_same() {
    let bench = bench(&AGENDA.replace("duration_ms = 400", "duration_ms = 4000"));
    let (agenda, out) = (at(&bench, "small.toml"), at(&bench, "cut"));
    let args = ["experiment", "run", &agenda, "--out", &out, "--jobs", "1"];
    let mut child = command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let results = bench.path().join("cut/results.jsonl");
    wait_for("results", || fs::read_to_string(&results).is_ok_and(|t| t.lines().count() >= 3));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    // As if power had failed in the middle of a line, too.
    let mut text = fs::read_to_string(&results).unwrap();
    text += "{\"block\":6,\"workl";
    fs::write(&results, text).unwrap();
    assert!(bad(2, &args).contains("--resume"), "it is not begun anew");
    run(&bench, "cut", &["--resume"]);
    run(&bench, "whole", &[]);
    assert!(bytes(&bench, "cut/results.jsonl") == bytes(&bench, "whole/results.jsonl"));
    let other = [&args[..], &["--resume", "--blocks", "9"]].concat();
    assert!(bad(2, &other).contains("other options"));
}

#[test]
fn a_rig_that_differs_from_itself_is_refused_and_its_noise_floor_is_told() {
    let fit = bench(&format!("{AGENDA}[rig]\nnoise_pct = 1.0\n"));
    let (agenda, out) = (at(&fit, "small.toml"), at(&fit, "out"));
    let ran = bwmon(&["experiment", "run", &agenda, "--out", &out, "--aa"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("noise floor of throughput"), "{}", ran.stderr);
    // The judge is another test's matter; here the door: results in which A is a tenth above A.
    let results = fit.path().join("out/aa/results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    let tilted: Vec<String> = text
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            let factor = if line["subject"] == "kernel again" { 1.1 } else { 1.0 };
            for value in line["measures"].as_object_mut().unwrap().values_mut() {
                *value = (value.as_f64().unwrap() * factor).into();
            }
            line.to_string()
        })
        .collect();
    // Seven pairs give p = 2 / 128, which Holm makes 4 / 64 of four comparisons: too few. Twenty do.
    let many: Vec<String> = (0..3)
        .flat_map(|round| {
            tilted.iter().map(move |line| {
                let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["block"] = (line["block"].as_u64().unwrap() + 7 * round).into();
                line.to_string()
            })
        })
        .collect();
    fs::write(&results, many.join("\n") + "\n").unwrap();
    let ran = bwmon(&["experiment", "run", &agenda, "--out", &out, "--aa", "--resume"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("differs from itself"), "{}", ran.stderr);
}

#[test]
fn a_regression_ends_with_1_and_no_change_with_0() {
    let bench = bench(AGENDA);
    run(&bench, "old", &["--blocks", "12"]);
    let compare = |new: &str| {
        let ran = bwmon(&["experiment", "compare", &at(&bench, "old"), &at(&bench, new)]);
        (ran.code, ran.stdout)
    };
    run(&bench, "same", &["--blocks", "12"]);
    let (code, said) = compare("same");
    assert!(code == Some(0) && said.contains("0 worse"), "{said}");
    let worse = AGENDA
        .replace("policy = \"performance\"", "policy = \"powersave\"\nname = \"performance\"");
    fs::write(bench.path().join("small.toml"), worse).unwrap();
    run(&bench, "new", &["--blocks", "12"]);
    let (code, said) = compare("new");
    assert!(code == Some(1) && said.contains("worse"), "{said}");
    let changed =
        json(&["experiment", "compare", &at(&bench, "old"), &at(&bench, "same"), "--json"]);
    assert_eq!(changed["paired"], true);
}

#[test]
fn reports_are_written_in_every_format() {
    let bench = bench(AGENDA);
    run(&bench, "out", &[]);
    let out = at(&bench, "out");
    let report = |format: &str| good(&["experiment", "report", &out, "--format", format]).stdout;
    assert!(report("markdown").starts_with("# small"));
    // A header, and a row for each subject, workload and measure that was measured.
    assert!(report("csv").lines().count() > 2 * 2 * 2);
    assert_eq!(report("runs-csv").lines().count(), 1 + 2 * 2 * 7 * 3);
    let page = at(&bench, "page.html");
    good(&["experiment", "report", &out, "--format", "html", "--out", &page]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"), "{}", &page[..200]);
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing from elsewhere");
    assert!(bad(2, &["experiment", "report", &out, "--format", "yaml"]).contains("markdown"));
}

#[test]
fn results_that_were_tampered_with_or_broken_are_refused() {
    let bench = bench(AGENDA);
    run(&bench, "out", &[]);
    let out = at(&bench, "out");
    let results = bench.path().join("out/results.jsonl");
    let text = fs::read_to_string(&results).unwrap();
    fs::write(&results, text.replacen("{\"block\":0", "{\"blok\":0", 1)).unwrap();
    let said = bad(2, &["experiment", "report", &out]);
    assert!(said.contains("results.jsonl:1"), "{said}");
    fs::write(&results, text).unwrap();
    fs::write(bench.path().join("out/agenda.toml"), AGENDA.replace("blocks = 7", "blocks = 8"))
        .unwrap();
    let said = bad(2, &["experiment", "report", &out]);
    assert!(said.contains("was changed after"), "{said}");
}

#[test]
fn what_an_agenda_names_is_looked_up_before_the_first_run() {
    let tried = |from: &str, to: &str| {
        let bench = bench(&AGENDA.replacen(from, to, 1));
        let (agenda, out) = (at(&bench, "small.toml"), at(&bench, "out"));
        let said = bad(2, &["experiment", "run", &agenda, "--out", &out]);
        assert!(!Path::new(&out).exists(), "nothing was begun: {said}");
        said
    };
    let said = tried("\"performance\"", "\"performence\"");
    assert!(
        said.contains("did you mean the policy performance?") && said.contains(":10:"),
        "{said}"
    );
    let said = tried("\"performance\"", "\"adaptive\"\nset = { utl_pct = 3 }");
    assert!(said.contains("util_pct"), "{said}");
    let said = tried("kernel = true", "fixed = { dddr = \"max\" }");
    assert!(said.contains("no domain dddr"), "{said}");
    let said = tried("\"launch\"", "\"no-such.toml\"");
    assert!(said.contains("no-such.toml"), "{said}");
    assert!(bad(2, &["experiment", "run", "seed-tabel"]).contains("did you mean seed-table?"));
    assert!(bad(2, &["experiment", "run", "seed-table", "--shard", "4/3"]).contains("i/n"));
    assert!(bad(2, &["experiment", "run", "seed-table", "--dry-run"]).contains("never changed"));
}

#[test]
fn the_shipped_agendas_check_and_the_seeds_table_comes_out() {
    for agenda in json(&["experiment", "list", "--json"]).as_array().unwrap() {
        good(&["experiment", "check", agenda["name"].as_str().unwrap()]);
    }
    let bench = bench(AGENDA);
    let out = at(&bench, "seed");
    let judged =
        json(&["experiment", "run", "seed-table", "--blocks", "1", "--out", &out, "--json"]);
    let table = json(&["sim", "--seed-table", "--json"]);
    for row in table["rows"].as_array().unwrap() {
        let workload = format!("{} kB {}", row["bs_kB"], row["type"].as_str().unwrap());
        for (key, subject) in [("no_votes", "no votes"), ("V", "V"), ("bwmon", "bwmon")] {
            let is = |cell: &&serde_json::Value| {
                cell["workload"] == *workload
                    && cell["measure"] == "throughput"
                    && cell["subject"] == subject
            };
            let cell = judged["cells"].as_array().unwrap().iter().find(is).unwrap();
            // The table's unit is MiB/s; where the ticks stand to the window differs.
            let mib = cell["quartiles"][1].as_f64().unwrap() / 1_048.576;
            let expected = row[key].as_f64().unwrap();
            assert!((mib / expected - 1.0).abs() < 0.01, "{workload} {subject}: {mib} {expected}");
        }
    }
}

#[test]
fn a_search_beats_the_default_on_what_it_saw_and_reports_what_it_did_not_see() {
    // Coming down sooner than after 16 windows votes less; on this traffic it costs nothing.
    let args = ["--on", "launch", "--held-out", "idle", "--vary", "down_windows=1..12"];
    let few = ["--candidates", "6", "--keep", "2", "--json"];
    let found = json(&[&["experiment", "tune", "bwmon"], &args[..], &few[..]].concat());
    let score = |tried: &serde_json::Value| tried["scenarios"]["votes_pct"].as_f64().unwrap();
    let best = &found["best"][0];
    assert!(score(best) < score(&found["default"]), "{found}");
    assert!(score(best) <= score(&found["best"][1]), "{found}");
    assert!(best["held_out"]["votes_pct"].as_f64().is_some(), "{found}");
    assert_eq!(found["best"].as_array().unwrap().len(), 2);
    let wrong = |args: &[&str]| bad(2, &[&["experiment", "tune"], args].concat());
    assert!(wrong(&["bwmon", "--on", "launch", "--vary", "windows"]).contains("down_windows"));
    assert!(wrong(&["native", "--on", "launch"]).contains("no tunables"));
    assert!(wrong(&["bwmon", "--on", "launch", "--held-out", "launch"]).contains("both"));
}

#[test]
fn the_agenda_of_the_guide_checks_and_every_verb_that_it_names_is_there() {
    let guide = fs::read_to_string(repository().join("docs/experiments.md")).unwrap();
    let agenda = guide.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = folder(&[("mine.toml", agenda)]);
    let said = good(&["experiment", "check", &at(&folder, "mine.toml")]).stdout;
    assert!(said.contains("bwmon, adaptive util_pct=70"), "{said}");
    let help = good(&["experiment", "--help"]).stdout;
    for line in guide.lines().filter(|line| line.trim_start().starts_with("bwmon experiment ")) {
        let verb = line.trim_start().split(' ').nth(2).unwrap();
        assert!(help.contains(&format!("  {verb} ")), "{line}");
        // Every option of the line is one of the verb's.
        let options = good(&["experiment", verb, "--help"]).stdout;
        for option in line.split(' ').filter(|word| word.starts_with("--")) {
            assert!(options.contains(option), "{line}: {option}");
        }
    }
}
