//! Specs that are wrong: each gets one error with its place and what to do.

use super::testing::{FOLLOWS, run, scenario, script, wrong};
use super::{MAX_SPEC, NoFiles, Options, SpecError};
use crate::board::builtin;
use crate::policy::PolicySpec;
use std::sync::Arc;

const STEPS: &str =
    "series = [{ ms = 100, peak_kBps = 100_000 }, { ms = 100, peak_kBps = 3_000_000 }]";

/// The line, the message and the help for a scenario with these lines; the first is line 5.
#[track_caller]
fn says(body: &str, line: usize, message: &str, help: &str) {
    let fault = wrong(&scenario(body));
    let place = fault.place.as_ref().unwrap_or_else(|| panic!("{fault}"));
    assert_eq!(place.line, line, "{fault}");
    assert!(fault.message.contains(message), "{fault}");
    assert!(fault.help.as_deref().unwrap_or("").contains(help), "{fault}");
}

/// The same for one expectation under [`STEPS`]; its first line is line 7.
#[track_caller]
fn expecting(expect: &str, line: usize, message: &str, help: &str) {
    says(&format!("{STEPS}\n[[scenario.expect]]\n{expect}"), line, message, help);
}

/// The same for one step; it stands in line 5.
#[track_caller]
fn stepping(step: &str, message: &str, help: &str) {
    says(&format!("series = [{{ {step} }}]\n[[scenario.expect]]\nlevel_min = 1"), 5, message, help);
}

#[test]
fn unknown_keys_are_suggested() {
    expecting("rise_mss = 4", 7, "unknown key `rise_mss`", "did you mean `rise_ms`?");
    stepping("ms = 4, peak_kbps = 1", "unknown key `peak_kbps`", "did you mean `peak_kBps`?");
    says("worklod = \"idle\"", 5, "unknown key `worklod`", "did you mean `workload`?");
    says("zzz = 1", 5, "unknown key `zzz`", "the keys are name, what");
    stepping("peak_kBps = 1", "the key `ms` is missing", "");
}

#[test]
fn wrong_types_say_what_is_wanted() {
    expecting("rise_ms = \"4\"", 7, "expected a whole number, 0 or more", "");
    expecting("rise_ms = -4", 7, "-4 is negative", "");
    expecting("rise_ms = 4.5", 7, "expected a whole number", "");
    expecting("level_min = \"best\"", 7, "\"best\" is no level", "");
    expecting("level_min = -1", 7, "-1 is no level", "");
    expecting("level_min = \"top-x\"", 7, "\"top-x\" is no level", "");
    expecting("never_below_demand = 1", 7, "expected a boolean", "");
    expecting("step = 1.5\nlevel_min = 1", 7, "a step's number from 1, or its name", "");
    stepping("ms = 4, peak_kBps = \"much\"", "one for each domain", "");
    stepping("ms = 4, peak_kBps = [1]", "a ramp has two values", "");
    stepping("ms = 4, peak_kBps = [1, 2, 3]", "a ramp has two values", "");
    stepping("ms = 4, peak_kBps = { ddr = \"x\" }", "a number of kBps, or a ramp", "");
    stepping("ms = 4, missing = 3", "write true, or the names of domains", "");
}

#[test]
fn a_spec_that_expects_nothing_cannot_fail() {
    assert!(wrong("schema = 1").message.contains("no [[scenario]]: it cannot fail"));
    says(STEPS, 3, "\"s\" expects nothing: it cannot fail", "add a [[scenario.expect]]");
    says(&format!("{STEPS}\n[[scenario.expect]]"), 6, "expects nothing", "level_min, level_max");
    expecting("domain = \"ddr\"", 6, "expects nothing", "docs/policy-spec.md");
    expecting("never_below_demand = false", 7, "expects nothing", "leave it out");
}

#[test]
fn an_expectation_that_every_wrong_policy_keeps_cannot_fail() {
    for expect in [
        "level_min = 0",
        "level_max = \"top\"",
        "vote_kBps_max = 7_216_000",
        "max_transitions = 50",
        "never_below_demand = true\ngrace_ms = 200",
        "mean_vote_kBps_max = 7_216_000",
    ] {
        expecting(expect, 7, "in \"s\" cannot fail", "tried were always the lowest level");
    }
    // A fault allowance is no expectation.
    says(&format!("faults_max = 9\n{STEPS}"), 3, "expects nothing", "");
}

#[test]
fn an_expectation_whose_event_does_not_occur_is_an_error() {
    expecting("fall_ms = 4", 7, "judges nothing", "a demand that falls");
    expecting("step = 1\nrise_ms = 4", 8, "judges nothing", "a demand that rises");
    expecting("rise_ms = 9_223_372_036_854_775_807", 7, "judges nothing", "");
    expecting("rise_ms = 101", 7, "judges nothing", "lasts for 101 ms");
    expecting("from_ms = 104\nidle_to_lowest_ms = 4", 8, "judges nothing", "the lowest level");
    expecting("stay_ms = 4", 7, "judges nothing", "a demand that falls");
    // All of it within the lowest level: the demand rises for 8 ms, and falls for 8 ms.
    let short = |kbps: [u32; 3], expect: &str| {
        let [a, b, c] = kbps.map(|kbps| format!("peak_kBps = {kbps}"));
        format!(
            "series = [{{ ms = 40, {a} }}, {{ ms = 8, {b} }}, {{ ms = 40, {c} }}]\n\
             [[scenario.expect]]\n{expect}\nstep = 2"
        )
    };
    let up = short([1, 600_000, 1], "rise_ms = 12\nrise_to = 1");
    says(&up, 7, "judges nothing", "lasts for 12 ms");
    let down = short([600_000, 1, 600_000], "fall_ms = 12\nfall_to = 0");
    says(&down, 7, "judges nothing", "stays down for 12 ms");
    let blind = "series = [{ ms = 40, missing = true }]\n[[scenario.expect]]\n";
    says(&format!("{blind}never_below_demand = true"), 7, "judges nothing", "a reading");
}

#[test]
fn spans_that_hold_no_decision_are_errors() {
    expecting("from_ms = 8\nto_ms = 8\nlevel_min = 1", 7, "no decision falls", "a tick is 4 ms");
    expecting("from_ms = 9\nto_ms = 11\nlevel_min = 1", 7, "no decision falls", "200 ms long");
    expecting("from_ms = 200\nlevel_min = 1", 7, "no decision falls", "");
    expecting("to_ms = 201\nlevel_min = 1", 7, "beyond the end", "it is 200 ms long");
    expecting("step = 3\nlevel_min = 1", 7, "there is no step 3", "steps 1 to 2");
    expecting("step = 0\nlevel_min = 1", 7, "there is no step 0", "steps 1 to 2");
    expecting("step = \"x\"\nlevel_min = 1", 7, "there is no step \"x\"", "");
    expecting("step = 1\nto_ms = 8\nlevel_min = 1", 7, "not by both", "");
    says(
        "workload = \"idle\"\n[[scenario.expect]]\nstep = 1\nlevel_min = 1",
        7,
        "a workload has no steps",
        "from_ms",
    );
}

#[test]
fn unknown_names_are_suggested() {
    expecting("domain = \"ddrr\"\nlevel_min = 1", 7, "no domain \"ddrr\"", "did you mean \"ddr\"?");
    expecting("same_as = \"nativ\"", 7, "no policy \"nativ\"", "did you mean \"native\"?");
    expecting("same_as = \"other.rhai\"", 7, "cannot read other.rhai", "");
    expecting("same_as = \"chain:peek\"", 7, "same_as = \"chain:peek\"", "");
    stepping("ms = 4, peak_kBps = { dd = 1 }", "no domain \"dd\"", "did you mean \"ddr\"?");
    stepping("ms = 4, missing = [\"llcc\"]", "no domain \"llcc\"", "known: ddr");
    let expect = "\n[[scenario.expect]]\nlevel_min = 1";
    says(
        &format!("workload = \"frame\"{expect}"),
        5,
        "no workload \"frame\"",
        "did you mean \"frames\"?",
    );
    says(&format!("workload = \"my.toml\"{expect}"), 5, "cannot read my.toml", "");
    says(
        &format!("workload = \"idle\"\ncpufreq_votes = \"every\"{expect}"),
        6,
        "no choice of cpufreq_votes \"every\"",
        "none, ungoverned, all",
    );
    says(&format!("board = \"sdm854\"\n{STEPS}{expect}"), 5, "no board", "did you mean \"sdm845");
    says(&format!("board = \"b.toml\"\n{STEPS}{expect}"), 5, "cannot read b.toml", "");
    says(&format!("set = {{ up = 1 }}\n{STEPS}{expect}"), 5, "no tunable called up", "no tunables");
    says(&format!("preset = \"fast\"\n{STEPS}{expect}"), 5, "no preset called fast", "");
}

#[test]
fn tunables_are_checked_at_their_place_in_the_spec() {
    let text = "// @param down = 4 (1..9) x\nfn decide(obs) { opp(cfg::down) }";
    let with = |set: &str| {
        let spec = scenario(&format!("{set}\n{STEPS}\n[[scenario.expect]]\nlevel_max = 4"));
        match run(&mut script(text), &spec) {
            Err(SpecError::Spec(fault)) => fault,
            other => panic!("{other:?}"),
        }
    };
    let fault = with("set = { dwn = 1 }");
    assert_eq!(fault.place.unwrap().line, 5);
    assert_eq!(fault.help.as_deref(), Some("did you mean down?"));
    assert!(with("set = { down = 10 }").message.contains("outside 1..9"));
    assert!(with("set = { down = true }").message.contains("another type"));
    assert!(with("set = { down = \"4\" }").message.contains("cannot have this value"));
    assert!(with("set = { down = [[1]] }").message.contains("cannot have this value"));
}

#[test]
fn a_policy_that_cannot_be_made_is_its_own_fault_and_not_the_specs() {
    let spec = scenario(&format!("{STEPS}\n[[scenario.expect]]\nlevel_max = 4"));
    let fault = run(&mut script("fn decide(obs) { hold( }"), &spec).unwrap_err();
    let SpecError::Policy(fault) = fault else { panic!("{fault:?}") };
    assert_eq!(fault.file, "p.rhai");
    let fault = run(&mut PolicySpec::Chain("chain:x".into()), &spec).unwrap_err();
    assert!(matches!(fault, SpecError::Policy(_)), "{fault:?}");
}

#[test]
fn levels_that_the_board_does_not_have_are_errors() {
    expecting("level_min = 8", 7, "\"ddr\" has no such level", "go from 0 to 7");
    expecting("level_max = \"top-8\"", 7, "has no such level", "");
    expecting("rise_ms = 4\nrise_to = 8", 7, "has no such level", "");
    let body = format!("start_level = 9\n{STEPS}\n[[scenario.expect]]\nlevel_min = 1");
    says(&body, 5, "start_level = 9: \"ddr\" has no such level", "go from 0 to 7");
}

#[test]
fn keys_that_refine_another_stand_beside_it() {
    expecting("level_min = 1\nrise_to = 1", 8, "rise_to without rise_ms", "");
    expecting("level_min = 1\nfall_to = 1", 8, "fall_to without fall_ms", "");
    expecting("level_min = 1\ngrace_ms = 1", 8, "grace_ms without never_below_demand", "");
}

#[test]
fn what_a_scenario_cannot_say_is_refused() {
    let expect = "\n[[scenario.expect]]\nlevel_min = 1";
    says(expect, 3, "no input", "a series of steps, or a workload");
    says(&format!("{STEPS}\nworkload = \"idle\"{expect}"), 6, "both a series and a workload", "");
    says(&format!("{STEPS}\nms = 4{expect}"), 6, "ms is for workloads", "");
    says(&format!("{STEPS}\ncpufreq_votes = \"all\"{expect}"), 6, "is for workloads", "");
    says(&format!("series = []{expect}"), 5, "the series has no steps", "peak_kBps");
    says(&format!("workload = \"idle\"\nms = 3{expect}"), 6, "less than a tick", "");
    says(&format!("workload = \"idle\"\nms = 200_004{expect}"), 4, "more than 50000 ticks", "");
    says(
        &format!("workload = \"idle\"\nms = 300_000\nperiod_ms = 1_000{expect}"),
        4,
        "or 200000 ms",
        "shorter",
    );
    let most = i64::MAX;
    says(&format!("workload = \"idle\"\nms = {most}{expect}"), 4, "or 200000 ms", "");
    says(&format!("period_ms = 0\n{STEPS}{expect}"), 5, "ticks of 0 ms", "1 to 1000");
    expecting("below_demand_ms_max = 1", 7, "a series holds nothing back", "never_below_demand");
    expecting("why = \"\"", 7, "a reason has 1 to 48 characters", "");
    let spec = format!("{}{STEPS}{expect}", scenario("what = \"x\""));
    let twice = format!("{spec}\n[[scenario]]\nname = \"s\"\n{STEPS}{expect}");
    assert!(wrong(&twice).message.contains("a second scenario is called \"s\""));
    assert!(wrong("schema = 2").message.contains("schema 2 is not known"));
    assert!(wrong("schema = ").place.is_some());
    let large = format!("schema = 1\n#{}", "x".repeat(MAX_SPEC));
    assert!(wrong(&large).message.contains("larger than 262144 bytes"));
    let domain = "sdm845\"\n[[scenario]]\nname = \"s\"\nseries = [{ ms = 8, missing = true }]\n\
                  [[scenario.expect]]\ndomain = \"l3\"\nrise_ms = 4";
    let fault = wrong(&format!("schema = 1\nboard = \"{domain}"));
    assert!(fault.message.contains("no monitor reads \"l3\""), "{fault}");
}

#[test]
fn steps_that_a_monitor_cannot_read_are_refused() {
    stepping("ms = 4", "does not say what the monitors read", "missing = true");
    stepping("ms = 4, missing = false", "does not say what the monitors read", "");
    stepping("ms = 0, peak_kBps = 1", "a step of 0 ms", "multiple of 4, 4 for example");
    stepping("ms = 30, peak_kBps = 1", "a step of 30 ms", "multiple of 4, 28 for example");
    stepping("ms = 200_004, peak_kBps = 1", "a step of 200004 ms", "");
    stepping("ms = 9_223_372_036_854_775_804, peak_kBps = 1", "at most 200000", "");
    stepping("ms = 4, missing = true, others_kBps = 1_000_000_000_001", "beyond any bus", "");
    stepping("ms = 4, peak_kBps = 1, missing = true", "both peak_kBps and missing", "keep one");
    stepping("ms = 4, saturated = true, missing = true", "both saturated and missing", "keep one");
    // 4096 counts of 64 kB, 250 windows a second.
    stepping("ms = 4, peak_kBps = 65_536_000", "fills the counter", "saturated = true");
    stepping("ms = 4, missing = true, interrupt = true", "an interrupt without a reading", "");
    stepping("ms = 4, peak_kBps = 1, kernel_kBps = 1", "without interrupt = true", "");
    stepping(
        "ms = 4, square = { low_kBps = 1, high_kBps = 2, high_us = 9, period_us = 8 }",
        "a pulse of 9 us in a period of 8 us",
        "",
    );
    stepping(
        "name = \"a\", ms = 4, peak_kBps = 1 }, { name = \"a\", ms = 4, peak_kBps = 1",
        "a second step is called \"a\"",
        "",
    );
    let body = "board = \"sdm845\"\nseries = [{ ms = 4, peak_kBps = { l3 = 1 } }]\n\
                [[scenario.expect]]\nlevel_min = 1";
    says(body, 6, "no monitor reads the domain \"l3\"", "with a monitor only");
}

#[test]
fn another_board_takes_the_place_of_those_that_are_named() {
    let spec = scenario(&format!("{STEPS}\n[[scenario.expect]]\nrise_ms = 4"));
    let board = Some(Arc::new(builtin("sdm845").unwrap().unwrap()));
    let options = Options { board, filter: None };
    let report = super::run("s", &spec, &mut script(FOLLOWS), &options, &mut NoFiles).unwrap();
    assert_eq!(report.scenarios[0].board, "sdm845");
    assert!(report.ok);
}
