//! The machine model through the binary: the seed's table, scenarios, charts.

use crate::common::{at, bad, folder, good, json, repository};
use std::fs;

#[test]
fn the_seed_table_has_the_shape_that_scripts_rely_on_and_repeats_itself() {
    let table = json(&["sim", "--seed-table", "--json"]);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 13);
    for key in ["bs_kB", "type", "V", "no_votes", "bwmon", "V_bwmon", "adaptive", "detail"] {
        assert!(rows[0].get(key).is_some(), "{key}");
    }
    assert_eq!(rows[0]["type"], "W/seq");
    let clock = &rows[0]["detail"]["bwmon"]["clocks"][0];
    for key in ["name", "mean_level_kBps", "transitions", "vote_integral_kBps_s"] {
        assert!(clock.get(key).is_some(), "{key}");
    }
    // Everything but the time that it took is the same again.
    assert_eq!(json(&["sim", "--seed-table", "--json"])["rows"], table["rows"]);
    let text = good(&["sim", "--seed-table"]).stdout;
    assert!(text.contains("predicted") && text.contains("ticks/s"), "{text}");
}

#[test]
fn every_scenario_file_runs_and_every_journal_of_it_replays() {
    let folder = folder(&[]);
    let mut scenarios = 0;
    for entry in repository().join("policies/scenarios").read_dir().unwrap() {
        let path = entry.unwrap().path();
        let file = path.to_str().unwrap();
        for policy in ["bwmon", "adaptive"] {
            let journal = at(&folder, "j");
            good(&["sim", "--scenario", file, "--policy", policy, "--journal", &journal]);
            let report = json(&["replay", "--verify", "--json", &journal]);
            assert_eq!(report["different"], 0, "{file} {policy}");
        }
        // The file and the built-in workload of its name are one.
        let name = path.file_stem().unwrap().to_str().unwrap();
        let by =
            |option: &str, value: &str| json(&["sim", option, value, "--json"])["domains"].clone();
        assert_eq!(by("--scenario", file), by("--workload", name), "{name}");
        scenarios += 1;
    }
    assert_eq!(scenarios, 10);
}

#[test]
fn adaptive_when_idle_votes_below_a_tenth_of_the_maximum() {
    let report = json(&[
        "sim",
        "--workload",
        "idle",
        "--policy",
        "adaptive",
        "--json",
        "--duration-ms",
        "10000",
    ]);
    let ddr = &report["domains"][1];
    assert_eq!(ddr["name"], "ddr");
    let integral = ddr["vote_integral_kBps_s"].as_u64().unwrap();
    // 7216000 kBps for 10 s is the maximum.
    assert!(integral < 7_216_000, "{integral}");
    // Most of that comes from the CPUs being powered down, when the votes are not in force. The
    // lowest level alone is 11.1 % of the highest, and the mean level stays near it.
    let mean = ddr["mean_vote_kBps"].as_u64().unwrap();
    assert!((800_000..1_000_000).contains(&mean), "{mean}");
}

#[test]
fn adaptive_uses_what_the_probes_and_the_other_monitor_say() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--policy", "adaptive", "--cpufreq-votes", "all", "--journal", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    for reason in ["others carry it", "CPU clock and traffic", "busiest window"] {
        assert!(text.contains(reason), "{reason}");
    }
    // Half the CPU clock asks for 20889600 kBps at most; the frames' traffic alone is below that.
    let report = json(&["sim", "--policy", "adaptive", "--workload", "frames", "--json"]);
    let l3 = report["domains"][2]["mean_vote_kBps"].as_u64().unwrap();
    assert!(l3 < 25_497_600, "{l3}");
}

#[test]
fn a_journal_is_played_as_a_trace() {
    let folder = folder(&[]);
    let journal = at(&folder, "recorded.jsonl");
    good(&["sim", "--workload", "frames", "--journal", &journal]);
    let scenario = |domain: &str| {
        format!(
            "schema = 1\nname = \"again\"\nwhat = \"a trace\"\n[[phase]]\nname = \"trace\"\n\
             ms = 1000\ncpu_pct = 50\n[[phase.stream]]\ntype = \"W/seq\"\n\
             working_set_kB = 65536\ntrace = {{ journal = \"{journal}\", domain = \"{domain}\" }}\n"
        )
    };
    fs::write(at(&folder, "s.toml"), scenario("llcc")).unwrap();
    let again = json(&["sim", "--scenario", &at(&folder, "s.toml"), "--json"]);
    let first = json(&["sim", "--workload", "frames", "--json"]);
    let mean = |report: &serde_json::Value| report["domains"][0]["mean_kBps"].as_f64().unwrap();
    assert!((mean(&again) / mean(&first) - 1.0).abs() < 0.1, "{again} {first}");
    fs::write(at(&folder, "s.toml"), scenario("l3")).unwrap();
    let said = bad(2, &["sim", "--scenario", &at(&folder, "s.toml")]);
    assert!(said.contains("has no monitor") && said.contains("s.toml:11:"), "{said}");
}

#[test]
fn the_scenarios_in_the_documentation_run() {
    let text = fs::read_to_string(repository().join("docs/model.md")).unwrap();
    let folder = folder(&[]);
    good(&["sim", "--workload", "frames", "--journal", &at(&folder, "recorded.jsonl")]);
    let mut examples = 0;
    for block in text.split("```toml\n").skip(1) {
        let scenario = block.split("```").next().unwrap();
        let scenario = scenario.replace("recorded.jsonl", &at(&folder, "recorded.jsonl"));
        fs::write(at(&folder, "s.toml"), scenario).unwrap();
        good(&["sim", "--scenario", &at(&folder, "s.toml")]);
        examples += 1;
    }
    assert!(examples >= 2, "{examples}");
}

#[test]
fn bad_scenarios_are_one_error_with_their_line() {
    let good_file =
        fs::read_to_string(repository().join("policies/scenarios/frames.toml")).unwrap();
    for (from, to, word) in [
        ("ms = 1000", "ms = 0", "a phase of 0 ms"),
        ("ms = 1000", "ms = -5", "expected u64"),
        ("period_us = 16_667", "period_us = 0", "a period of 0 us"),
        ("working_set_kB", "working_set", "unknown field"),
        ("\"W/seq\"", "\"W/sequential\"", "W/seq"),
        ("demand_kBps = 500_000", "demand_kBps = -1", "-1"),
    ] {
        assert!(good_file.contains(from), "{from}");
        let folder = folder(&[("s.toml", &good_file.replacen(from, to, 1))]);
        let said = bad(2, &["sim", "--scenario", &at(&folder, "s.toml")]);
        assert!(said.contains("s.toml:") && said.contains(word), "{from}: {said}");
    }
    assert!(bad(2, &["sim", "--scenario", "/not/there.toml"]).contains("/not/there.toml"));
}

#[test]
fn charts_fit_the_terminal_and_the_svg_is_whole() {
    let plot = good(&["sim", "--plot"]).stdout;
    let chart = plot.split("\n domain").next().unwrap();
    assert!(chart.contains("busiest window"), "{chart}");
    assert!(chart.lines().all(|line| line.chars().count() <= 80), "{chart}");
    let folder = folder(&[]);
    let file = at(&folder, "x.svg");
    good(&["sim", "--svg", &file]);
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(bad(2, &["sim", "--svg", "/not/there/x.svg"]).contains("/not/there/x.svg"));
}

#[test]
fn cpufreqs_votes_hold_the_levels_up_for_any_policy() {
    let mean = |votes: &str| {
        let report = json(&[
            "sim",
            "--workload",
            "stream",
            "--cpufreq-votes",
            votes,
            "--policy",
            "native",
            "--json",
        ]);
        report["domains"][1]["mean_kBps"].as_u64().unwrap()
    };
    assert!(mean("all") >= mean("none"));
}
