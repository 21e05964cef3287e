//! `bwmon export`, `completions` and `man`.

use crate::common::{at, bad, bwmon, command, folder, good};
use std::fs;
use std::process::Stdio;

#[test]
fn csv_has_a_row_for_each_tick_and_domain_and_leaves_the_unknown_empty() {
    let folder = folder(&[]);
    let journal = at(&folder, "j.jsonl");
    good(&["sim", "--workload", "frames", "--ticks", "50", "--journal", &journal]);
    let text = good(&["export", &journal, "--csv"]).stdout;
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    // A head, and 50 ticks of the SDM845's three domains.
    assert_eq!(rows.len(), 1 + 50 * 3);
    assert_eq!(rows[0][..4], ["t_ns", "tick", "domain", "peak_kBps"]);
    let l3 = rows.iter().find(|row| row[2] == "l3").unwrap();
    assert_eq!(l3[3], "", "nothing measures it, and that is no 0");
    let sum = |domain: &str| -> u64 {
        rows.iter().filter(|row| row[2] == domain).map(|row| row[3].parse::<u64>().unwrap()).sum()
    };
    assert!(sum("ddr") > 0);
}

#[test]
fn a_trace_for_perfetto_goes_to_a_file_or_a_pipe() {
    let folder = folder(&[]);
    let (journal, trace) = (at(&folder, "j.jsonl"), at(&folder, "t.perfetto-trace"));
    good(&["sim", "--workload", "frames", "--ticks", "50", "--journal", &journal]);
    good(&["export", &journal, "--perfetto", "--out", &trace]);
    let bytes = fs::read(&trace).unwrap();
    // Trace.packet is field 1, length-delimited: 0x0a.
    assert_eq!(bytes[0], 0x0a);
    for name in ["ddr peak_kBps", "llcc vote_kBps", "cpu_max_kHz"] {
        assert!(bytes.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    let args = ["export", &journal, "--perfetto"];
    let piped = command(&args).stdout(Stdio::piped()).output().unwrap();
    assert_eq!(piped.stdout, bytes);
}

#[test]
fn a_journal_that_was_cut_off_is_exported_as_far_as_it_is_whole() {
    let folder = folder(&[]);
    let journal = at(&folder, "j.jsonl");
    good(&["sim", "--ticks", "5", "--journal", &journal]);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 20]).unwrap();
    let ran = bwmon(&["export", &journal, "--csv"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 1 + 4 * 3));
    assert!(ran.stderr.contains("cut off"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = folder(&[("x.txt", "hello\n")]);
    let text = at(&folder, "x.txt");
    assert!(bad(2, &["export", &text, "--csv"]).contains("no bwmon journal"));
    assert!(bad(2, &["export", &text]).contains("--csv"));
    assert!(bad(2, &["export", &text, "--csv", "--perfetto"]).contains("cannot be used with"));
}

#[test]
fn every_verb_has_a_page_and_a_completion() {
    let folder = folder(&[]);
    let out = at(&folder, "man");
    good(&["man", "--out", &out]);
    let help = good(&["--help"]).stdout;
    let verbs = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let verbs = verbs.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let bash = good(&["completions", "bash"]).stdout;
    let mut count = 0;
    for verb in verbs.filter_map(|line| line.split_whitespace().next()).filter(|v| *v != "help") {
        let page = fs::read_to_string(format!("{out}/bwmon-{verb}.1")).unwrap();
        assert!(page.contains(".TH") && page.contains(".SH SYNOPSIS"), "{verb}");
        assert!(bash.contains(verb), "{verb}");
        count += 1;
    }
    assert!(count >= 12, "{count}");
    let concepts = fs::read_to_string(format!("{out}/bwmon.7")).unwrap();
    assert!(
        concepts.starts_with(&format!(".TH BWMON 7 \"\" \"bwmon {}\"", env!("CARGO_PKG_VERSION")))
    );
    // Every page of ours that it points to is there.
    for part in concepts.split("bwmon\\-").skip(1) {
        let verb = part.split(' ').next().unwrap();
        assert!(fs::exists(format!("{out}/bwmon-{verb}.1")).unwrap(), "{verb}");
    }
    let page = good(&["man"]).stdout;
    assert!(page.contains("bwmon") && page.contains(".SH SUBCOMMANDS"), "{page}");
    assert!(bad(2, &["completions", "tcsh"]).contains("bash"));
}
