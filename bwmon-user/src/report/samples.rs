//! Judged results for the tests beside this module.

use crate::experiment::{Better, Effect, Judged, JudgedCell, MeasureInfo, Runs, Said, Verdict};
use proptest::prelude::*;

pub(super) fn said(subject: &str, workload: &str, what: &str) -> Said {
    Said { subject: subject.to_owned(), workload: workload.to_owned(), what: what.to_owned() }
}

pub(super) fn measure(name: &str, unit: &str, better: Better, primary: bool) -> MeasureInfo {
    let (name, unit) = (name.to_owned(), unit.to_owned());
    MeasureInfo { name, unit, better, primary, by_ratio: true, smallest_effect: 1.0 }
}

pub(super) fn cell(place: [&str; 3], quartiles: [f64; 3], effect: Option<Effect>) -> JudgedCell {
    let [workload, measure, subject] = place.map(str::to_owned);
    let values = (0..).zip(quartiles).collect();
    JudgedCell { workload, measure, subject, values, quartiles, effect }
}

pub(super) fn effect([low, estimate, high]: [f64; 3], p: f64, verdict: Verdict) -> Effect {
    let p_adjusted = (2.0 * p).min(1.0);
    Effect { pairs: 20, estimate, low, high, p, p_adjusted, verdict, pairs_needed: None }
}

/// Two subjects, two workloads, one primary measure and one exploratory.
pub(super) fn two_workloads() -> Judged {
    let better = effect([238.07, 240.61, 243.0], 0.0009, Verdict::Better);
    let mut undecided = effect([-0.2, 0.336, 0.9], 0.3, Verdict::Undecided);
    undecided.pairs_needed = Some(34);
    let more = effect([19.0, 20.04, 21.0], 0.01, Verdict::Worse);
    let throughput = |workload, subject| [workload, "throughput", subject];
    Judged {
        name: "seed-table".to_owned(),
        what: "does adaptive carry more than V?".to_owned(),
        place: "simulator".to_owned(),
        baseline: "V".to_owned(),
        subjects: vec!["V".to_owned(), "adaptive".to_owned()],
        workloads: vec!["burst".to_owned(), "idle".to_owned()],
        measures: vec![
            measure("throughput", "kB/s", Better::Higher, true),
            measure("vote_integral_kBps_s", "kB", Better::Lower, false),
        ],
        blocks: 20,
        confidence_pct: 95.0,
        cells: vec![
            cell(throughput("burst", "V"), [2e6, 2_118_999.5, 2.2e6], None),
            cell(throughput("burst", "adaptive"), [7.1e6, 7.216e6, 7.3e6], Some(better)),
            cell(["burst", "vote_integral_kBps_s", "V"], [4e6, 5e6, 6e6], None),
            cell(["burst", "vote_integral_kBps_s", "adaptive"], [5e6, 6e6, 7e6], Some(more)),
            cell(throughput("idle", "V"), [990.0, 1000.0, 1010.0], None),
            cell(throughput("idle", "adaptive"), [993.0, 1003.0, 1013.0], Some(undecided)),
        ],
        runs: Runs { done: 78, failed: 1, void: 1, skipped: 0 },
        skipped: Vec::new(),
        failed: vec![said("adaptive", "idle", "exit status 1")],
        void: vec![said("V", "burst", "throttled")],
        notes: vec!["Kendall's tau of V over time is 0.1: no drift".to_owned()],
    }
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1e3..1e8,
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MAX),
        Just(0.0)
    ]
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let verdict = prop_oneof![
        Just(Verdict::Better),
        Just(Verdict::Worse),
        Just(Verdict::Equivalent),
        Just(Verdict::Undecided)
    ];
    (any::<u64>(), prop::array::uniform5(any_value()), verdict, any::<Option<u64>>()).prop_map(
        |(pairs, [estimate, low, high, p, p_adjusted], verdict, pairs_needed)| Effect {
            pairs,
            estimate,
            low,
            high,
            p,
            p_adjusted,
            verdict,
            pairs_needed,
        },
    )
}

/// A name: mostly one of a few, so that cells meet their rows; sometimes anything.
fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec!["a", "b", "<script>", "p|q", ""]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn any_cell() -> impl Strategy<Value = JudgedCell> {
    let values = prop::collection::vec((any::<u32>(), any_value()), 0..6);
    let quartiles = prop::array::uniform3(any_value());
    (prop::array::uniform3(any_name()), values, quartiles, prop::option::of(any_effect())).prop_map(
        |([workload, measure, subject], values, quartiles, effect)| JudgedCell {
            workload,
            measure,
            subject,
            values,
            quartiles,
            effect,
        },
    )
}

fn any_measure() -> impl Strategy<Value = MeasureInfo> {
    let better = prop_oneof![Just(Better::Higher), Just(Better::Lower)];
    let unit = prop_oneof![Just("kBps s".to_owned()), Just("kB/s".to_owned()), any_name()];
    (any_name(), unit, better, any::<[bool; 2]>(), any_value()).prop_map(
        |(name, unit, better, [primary, by_ratio], smallest_effect)| MeasureInfo {
            name,
            unit,
            better,
            primary,
            by_ratio,
            smallest_effect,
        },
    )
}

/// Any results at all: odd values, any names, cells of nothing.
pub(super) fn any_judged() -> impl Strategy<Value = Judged> {
    let names = || prop::collection::vec(any_name(), 0..5);
    let said = prop::array::uniform3(any_name()).prop_map(|[subject, workload, what]| Said {
        subject,
        workload,
        what,
    });
    (
        prop::array::uniform4(any_name()),
        [names().boxed(), names().boxed(), names().boxed()],
        prop::collection::vec(any_measure(), 0..4),
        any_value(),
        prop::collection::vec(any_cell(), 0..20),
        prop::array::uniform3(prop::collection::vec(said, 0..3)),
    )
        .prop_map(
            |(texts, lists, measures, confidence_pct, cells, [skipped, failed, void])| {
                let [name, what, place, baseline] = texts;
                let [subjects, workloads, notes] = lists;
                Judged {
                    name,
                    what,
                    place,
                    baseline,
                    subjects,
                    workloads,
                    measures,
                    blocks: 20,
                    confidence_pct,
                    cells,
                    runs: Runs::default(),
                    skipped,
                    failed,
                    void,
                    notes,
                }
            },
        )
}
