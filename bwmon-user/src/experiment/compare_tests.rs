use super::*;
use crate::experiment::testing::agenda;
use crate::experiment::{Judging, Status};
use crate::random::Draw;

/// Two subjects in 20 blocks with 2 % noise; the second is `factor` times the first.
fn lines(factor: f64, seed: u64) -> Vec<Line> {
    let mut draw = Draw::new(&[seed]);
    let mut all = Vec::new();
    for block in 0..20 {
        for (subject, factor) in [("s0", 1.0), ("s1", factor)] {
            let value = 1_000.0 * factor * (1.0 + 0.02 * draw.normal());
            all.push(Line {
                block,
                workload: "w0".into(),
                position: 0,
                subject: subject.into(),
                attempt: 0,
                status: Status::Done,
                why: None,
                measures: [("rate".into(), value)].into(),
                conditions: BTreeMap::new(),
            });
        }
    }
    all
}

fn machine() -> Agenda {
    let mut agenda = agenda(2, 1, 20);
    agenda.place = Place::Machine;
    agenda
}

fn verdict_of(comparison: &Comparison, subject: &str) -> Verdict {
    comparison.changes.iter().find(|change| change.subject == subject).unwrap().verdict
}

#[test]
fn a_subject_that_lost_a_tenth_is_worse_and_the_other_is_not() {
    let agenda = machine();
    // Of identical rigs one in twenty differs by chance; these two seeds are not among them.
    let (old, new) = (lines(1.0, 5), lines(0.9, 6));
    let found = compare((&agenda, &old), (&agenda, &new)).unwrap();
    assert!(!found.paired && found.is_worse());
    assert_eq!(verdict_of(&found, "s1"), Verdict::Worse);
    assert_ne!(verdict_of(&found, "s0"), Verdict::Worse);
    let back = compare((&agenda, &new), (&agenda, &old)).unwrap();
    assert_eq!((verdict_of(&back, "s1"), back.is_worse()), (Verdict::Better, false));
}

#[test]
fn the_model_with_the_same_seed_is_compared_block_by_block() {
    let agenda = agenda(2, 1, 20);
    let old = lines(1.0, 1);
    let same = compare((&agenda, &old), (&agenda, &old)).unwrap();
    assert!(same.paired && !same.is_worse());
    assert!(same.changes.iter().all(|change| change.verdict == Verdict::Equivalent));
    // The same draws, half a percent less: below the smallest effect of 1 %.
    let new = compare((&agenda, &old), (&agenda, &lines(0.995, 1))).unwrap();
    assert_eq!(verdict_of(&new, "s1"), Verdict::Equivalent);
}

#[test]
fn what_is_gone_is_worse_and_what_was_not_asked_is_only_told() {
    let agenda = machine();
    let old = lines(1.0, 5);
    let mut new = lines(1.0, 6);
    new.retain(|line| line.subject == "s0");
    let found = compare((&agenda, &old), (&agenda, &new)).unwrap();
    assert_eq!(found.missing, ["rate of s1 under w0"]);
    assert!(found.is_worse());
    let mut fewer = machine();
    fewer.subjects.truncate(1);
    let found = compare((&agenda, &old), (&fewer, &new)).unwrap();
    assert!(!found.is_worse(), "{found:?}");
    assert_eq!(found.different, ["subject s1: in the old one only"]);
}

#[test]
fn too_few_blocks_decide_nothing() {
    let mut agenda = machine();
    agenda.judging = Judging { confidence_pct: 99.0, ..agenda.judging };
    let few = |factor, seed| -> Vec<Line> {
        lines(factor, seed).into_iter().filter(|line| line.block < 3).collect()
    };
    let found = compare((&agenda, &few(1.0, 1)), (&agenda, &few(0.5, 2))).unwrap();
    assert_eq!(verdict_of(&found, "s1"), Verdict::Undecided);
}

#[test]
fn of_200_rigs_without_a_change_few_are_called_worse() {
    let agenda = machine();
    let worse = (0..200)
        .filter(|seed| {
            let (old, new) = (lines(1.0, 2 * seed), lines(1.0, 2 * seed + 1));
            compare((&agenda, &old), (&agenda, &new)).unwrap().is_worse()
        })
        .count();
    // One side of a 5 % level over the two subjects together: 5 expected.
    assert!(worse <= 14, "{worse}");
}
