use super::*;
use crate::experiment::agenda::{Better, Compare, From, ModelMeasure, SubjectKind, WorkloadKind};

const GOOD: &str = r#"schema = 1
name = "x"
what = "a test"
blocks = 8
[[subject]]
policy = "bwmon"
[[subject]]
policy = "adaptive"
set = { util_pct = 70 }
[[workload]]
simulated = "frames"
[[measure]]
name = "rate"
model = "throughput_kBps"
better = "higher"
primary = true
"#;

fn machine() -> String {
    GOOD.replace("blocks = 8", "blocks = 8\nplace = \"machine\"")
        .replace("simulated = \"frames\"", "command = [\"true\"]\ncpus = \"0,2-3\"")
        .replace("model = \"throughput_kBps\"", "unit = \"MB/s\"\nregex = 'rate ([0-9.]+)'")
}

/// Line and message of the fault that comes of replacing `from` in `text`.
fn refused(text: &str, from: &str, to: &str) -> (usize, String) {
    assert!(text.contains(from), "{from}");
    let fault = parse("a.toml", &text.replacen(from, to, 1)).unwrap_err();
    let line = fault.place.as_ref().map_or(0, |place| place.line);
    (line, fault.to_string())
}

#[test]
fn a_good_agenda_has_its_defaults() {
    let agenda = parse("a.toml", GOOD).unwrap();
    assert_eq!((agenda.blocks, agenda.period_us, agenda.settle_ms), (8, 4_000, 200));
    assert_eq!(agenda.place, Place::Simulator);
    let names: Vec<&str> = agenda.subject_names().collect();
    assert_eq!(names, ["bwmon", "adaptive util_pct=70"]);
    let measure = &agenda.measures[0];
    assert_eq!(measure.from, From::Model { what: ModelMeasure::ThroughputKbps, domain: None });
    assert_eq!((measure.unit.as_str(), measure.better), ("kBps", Better::Higher));
    assert_eq!(measure.compare, Compare::Ratio { smallest_effect_pct: 1.0 });
}

#[test]
fn commands_and_their_output_are_for_machines() {
    let agenda = parse("a.toml", &machine()).unwrap();
    let WorkloadKind::Command(command) = &agenda.workloads[0].kind else { panic!("a command") };
    assert_eq!((command.repetitions, command.timeout_s), (1, 600));
    assert_eq!(command.cpus.as_deref(), Some("0,2-3"));
    assert_eq!(
        parse("a.toml", &machine().replace("\"machine\"", "\"ssh:board\"")).unwrap().place,
        Place::Ssh("board".to_owned())
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let wrong = |from: &str, to: &str| refused(GOOD, from, to);
    assert_eq!(wrong("schema = 1", "schema = 2").0, 1);
    assert_eq!(wrong("name = \"x\"", "name = \"a/b\"").0, 2);
    assert_eq!(wrong("blocks = 8", "blocks = 0").0, 4);
    assert_eq!(wrong("blocks = 8", "smallest_effect_pct = -1.0").0, 4);
    assert_eq!(wrong("blocks = 8", "place = \"moon\"").0, 4);
    assert_eq!(wrong("blocks = 8", "place = \"ssh:-oProxyCommand=x\"").0, 4);
    let (line, text) = wrong("blocks = 8", "block = 8");
    assert!(line == 4 && text.contains("did you mean blocks?"), "{text}");
    assert_eq!(wrong("policy = \"bwmon\"", "policy = \"bwmon\"\nnone = true").0, 5);
    assert_eq!(wrong("policy = \"bwmon\"", "preset = \"p\"").0, 5);
    assert_eq!(wrong("policy = \"bwmon\"", "devfreq = \"userspace\"").0, 5);
    assert_eq!(wrong("policy = \"bwmon\"", "fixed = { ddr = 0 }").0, 6);
    assert_eq!(wrong("policy = \"bwmon\"", "kernel = true\ncpufreq_votes = \"some\"").0, 7);
    assert_eq!(wrong("policy = \"bwmon\"", "policy = \"bwmon\"\nperiod_us = 7").0, 7);
    let (line, text) = wrong("\"frames\"", "\"fraems\"");
    assert!(line == 10 && text.contains("did you mean frames?"), "{text}");
    assert_eq!(wrong("simulated = \"frames\"", "command = [\"true\"]").0, 10);
    assert_eq!(wrong("simulated = \"frames\"", "seed_row = { bs_kB = 5, type = \"W/seq\" }").0, 11);
    assert_eq!(wrong("simulated = \"frames\"", "simulated = \"frames\"\ntimeout_s = 4").0, 10);
    assert_eq!(wrong("model = \"throughput_kBps\"", "wall_time = true").0, 12);
    assert_eq!(wrong("model = \"throughput_kBps\"", "model = \"transitions\"").0, 12);
    assert!(wrong("primary = true", "").1.contains("primary"));
}

#[test]
fn names_are_unique_and_nothing_is_empty() {
    let twice = refused(GOOD, "set = { util_pct = 70 }", "name = \"bwmon\"");
    assert!(twice.0 == 7 && twice.1.contains("two subjects called bwmon"), "{twice:?}");
    let none = GOOD.replace("[[workload]]\nsimulated = \"frames\"\n", "");
    assert!(parse("a.toml", &none).unwrap_err().message.contains("[[workload]]"));
}

#[test]
fn outputs_are_read_with_expressions_that_have_a_group() {
    let text = machine();
    let wrong = |from: &str, to: &str| refused(&text, from, to);
    let (line, message) = wrong("'rate ([0-9.]+)'", "'rate [0-9.]+'");
    assert!(line == 17 && message.contains("no group"), "{line} {message}");
    assert_eq!(wrong("'rate ([0-9.]+)'", "'rate ([0-9.+'").0, 17);
    assert_eq!(wrong("regex = 'rate ([0-9.]+)'", "json = \"jobs\"").0, 17);
    assert_eq!(wrong("unit = \"MB/s\"\n", "").0, 14);
    assert_eq!(wrong("cpus = \"0,2-3\"", "cpus = \"3-2\"").0, 13);
    assert_eq!(wrong("command = [\"true\"]", "command = []").0, 11);
}

#[test]
fn counts_are_compared_by_difference() {
    let counted = "journal = \"transitions\"\ndomain = \"ddr\"";
    let (line, text) = refused(GOOD, "model = \"throughput_kBps\"", counted);
    assert!(line == 12 && text.contains("smallest_effect"), "{text}");
    let counted = format!("{counted}\nsmallest_effect = 2.0");
    let agenda = parse("a.toml", &GOOD.replace("model = \"throughput_kBps\"", &counted)).unwrap();
    assert_eq!(agenda.measures[0].compare, Compare::Difference { smallest_effect: 2.0 });
}

#[test]
fn a_grid_is_all_combinations_and_a_random_sweep_stays_in_its_ranges() {
    let sweep = |what: &str| {
        let text = GOOD.replace(
            "[[workload]]",
            &format!("[[sweep]]\npolicy = \"bwmon\"\n{what}\n[[workload]]"),
        );
        parse("a.toml", &text)
    };
    let grid = sweep("grid = { down_windows = [8, 16], period_us = [2000, 4000, 8000] }").unwrap();
    assert_eq!(grid.subjects.len(), 2 + 6);
    let last = grid.subjects.last().unwrap();
    assert_eq!(last.name, "bwmon down_windows=16 period_us=8000");
    assert_eq!(last.period_us, Some(8_000));
    let random = sweep("random = { count = 5, down_windows = [4, 6] }").unwrap();
    for subject in &random.subjects[2..] {
        let SubjectKind::Policy { set, .. } = &subject.kind else { panic!("a policy") };
        assert!((4..=6).contains(&set["down_windows"].parse::<i32>().unwrap()));
    }
    // Three values are three subjects, however often they are drawn.
    assert!(random.subjects.len() <= 2 + 3);
    for bad in [
        "",
        "grid = { down_windows = [] }",
        "grid = { period_us = [5] }",
        "random = { down_windows = [4, 6] }",
        "random = { count = 5, down_windows = [6, 4] }",
        "random = { count = 5, down_windows = \"x\" }",
    ] {
        assert!(sweep(bad).unwrap_err().place.is_some_and(|place| place.line >= 10), "{bad}");
    }
}

#[test]
fn the_seeds_table_is_thirteen_workloads() {
    let agenda =
        parse("a.toml", &GOOD.replace("simulated = \"frames\"", "seed_table = true")).unwrap();
    assert_eq!(agenda.workloads.len(), 13);
    assert_eq!(agenda.workloads[2].name, "4096 kB W/seq");
}
