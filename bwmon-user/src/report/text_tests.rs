use super::super::samples::{any_judged, measure, said, two_workloads};
use super::*;
use crate::experiment::{Better, Runs};
use proptest::prelude::*;

// Medians have four digits: 2 118 999.5 is 2 119 000. The interval of the burst has one decimal,
// because its largest number is above 10; that of idle two.
#[test]
fn workloads_are_rows_and_subjects_are_columns() {
    let expected = "\
seed-table: does adaptive carry more than V?
Place: simulator. Blocks per workload: 20. Baseline: V.
2 primary comparisons: 1 better, 0 worse, 0 equivalent, 1 undecided.

throughput (kB/s, more is better; smallest effect of interest 1 %)

 workload  V               adaptive
 burst     2 119 000 kB/s  +240.6 % better
 idle      1 000 kB/s      ~ +0.34 %

In full:

 workload  V               adaptive
 burst     2 119 000 kB/s  7 216 000  better
                           +240.6 % [+238.1, +243.0]
 idle      1 000 kB/s      1 003  undecided (34 needed)
                           +0.34 % [-0.20, +0.90]

Exploratory. Not corrected for being several: hints for the next experiment, not answers.

vote_integral_kBps_s (kB, less is better; smallest effect of interest 1 %)

 workload  V             adaptive
 burst     5 000 000 kB  6 000 000  +20.0 % worse
 idle      unknown       failed

Runs: 78 done, 1 failed, 1 void, 0 skipped.
- failed: adaptive, idle: exit status 1
- void: V, burst: throttled

Notes
- Kendall's tau of V over time is 0.1: no drift
";
    let got = text(&two_workloads());
    let (got, method) = got.split_once("\n\nIn each block").unwrap();
    assert_eq!(format!("{got}\n"), expected);
    let method = method.replace('\n', " ");
    assert!(method.contains("its 95 % interval"), "{method}");
    assert!(method.contains("judged at 0.05"), "{method}");
}

// A column of this sample is 30 wide, workloads and V take 28: two fit on 100, the others go below.
#[test]
fn as_many_subjects_stand_abreast_as_fit_the_width() {
    let mut judged = two_workloads();
    let names = ["V", "adaptive", "kernel", "performance", "schedutil"];
    judged.subjects = names.map(str::to_owned).into();
    let mut cells = judged.cells.clone();
    for name in &names[2..] {
        let copies = judged.cells.iter().filter(|cell| cell.subject == "adaptive").cloned();
        cells.extend(copies.map(|cell| JudgedCell { subject: (*name).to_owned(), ..cell }));
    }
    judged.cells = cells;
    let drawn = text(&judged);
    let space = " ".repeat(22);
    assert!(drawn.contains(&format!("  V               adaptive{space}kernel\n")), "{drawn}");
    assert!(drawn.lines().all(|line| line.chars().count() <= 100), "{drawn}");
}

#[test]
fn an_experiment_in_which_nothing_could_run_says_why() {
    let mut judged = two_workloads();
    judged.cells.clear();
    judged.runs = Runs { skipped: 80, ..Runs::default() };
    judged.skipped = ["V", "adaptive"].map(|name| said(name, "", "no devfreq device")).into();
    let drawn = text(&judged);
    assert!(drawn.contains(" burst     skipped  skipped\n"), "{drawn}");
    assert!(drawn.contains("- skipped: V: no devfreq device\n"), "{drawn}");
    assert!(drawn.contains("0 done, 0 failed, 0 void, 80 skipped."), "{drawn}");
}

#[test]
fn a_subject_without_a_complete_pair_keeps_its_median() {
    let mut judged = two_workloads();
    judged.cells[1].effect = None;
    assert!(text(&judged).contains("7 216 000\n                           no pairs"));
}

#[test]
fn effects_of_counts_have_the_unit_of_the_measure() {
    let mut judged = two_workloads();
    let counts = measure("throughput", "transitions", Better::Lower, true);
    judged.measures = vec![MeasureInfo { by_ratio: false, smallest_effect: 2.0, ..counts }];
    let drawn = text(&judged);
    assert!(drawn.contains("less is better; smallest effect of interest 2 transitions"), "{drawn}");
    assert!(drawn.contains("+240.6 transitions [+238.1, +243.0]"), "{drawn}");
}

#[test]
fn control_characters_of_a_name_do_not_reach_the_terminal() {
    let mut judged = two_workloads();
    judged.workloads[0] = "\u{1b}[2Jburst\nnext".to_owned();
    let drawn = text(&judged);
    assert!(drawn.contains("\u{fffd}[2Jburst next"), "{drawn}");
}

proptest! {
    #[test]
    fn any_results_make_a_report_without_nan(judged in any_judged()) {
        let drawn = text(&judged);
        prop_assert!(!drawn.contains("NaN"));
        prop_assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'));
    }
}
