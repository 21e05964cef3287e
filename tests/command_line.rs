//! Help, exit codes, broken pipes, suggestions.

use crate::common::{bad, bwmon, command, good};
use std::io::Read;
use std::process::Stdio;

#[test]
fn every_verb_has_help_and_none_panics() {
    for verb in [
        vec!["doctor"],
        vec!["boards"],
        vec!["run"],
        vec!["sim"],
        vec!["replay"],
        vec!["watch"],
        vec!["policy"],
        vec!["policy", "check"],
        vec!["restore"],
    ] {
        let mut args = verb.clone();
        args.push("--help");
        let help = good(&args).stdout;
        assert!(help.contains("Usage: bwmon"), "{verb:?}: {help}");
        if verb.len() == 1 && verb[0] != "policy" {
            assert!(
                help.contains("xample") || help.contains("kill -9") || help.contains("Exit"),
                "{help}"
            );
        }
    }
}

#[test]
fn usage_errors_exit_with_2_and_suggest() {
    assert!(bad(2, &["simm"]).contains("sim"));
    assert!(bad(2, &["sim", "--tick", "5"]).contains("--ticks"));
    assert!(bad(2, &["sim", "--workload", "frame"]).contains("did you mean frames?"));
    assert!(bad(2, &["sim", "--period-us", "0"]).contains("100..=1000000"));
    assert!(bad(2, &["run", "--shadow", "--dry-run"]).contains("cannot be used with"));
}

#[test]
fn a_reader_that_goes_away_is_success() {
    let mut child = command(&["boards", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    // The pipe is closed here; the list is longer than a pipe holds or not, both end well.
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn doctor_answers_with_the_documented_keys_and_exit_code_1_where_nothing_can_be_governed() {
    let ran = bwmon(&["doctor", "--json", "--root", "/not-there"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["can_govern"], false);
    for row in report["capabilities"].as_array().unwrap() {
        for key in ["name", "present", "how", "without_it"] {
            assert!(row.get(key).is_some(), "{row}");
        }
    }
}

#[test]
fn run_on_a_machine_without_hardware_says_what_to_do_instead() {
    let said = bad(2, &["run", "--root", "/not-there"]);
    assert!(said.contains("bwmon sim") && said.contains("bwmon doctor"), "{said}");
}

#[test]
fn watch_refuses_events_that_do_not_exist() {
    assert!(bad(2, &["watch", "--event", "icc_set"]).contains("icc_set_bw_end"));
}
