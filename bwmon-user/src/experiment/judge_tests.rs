use super::*;
use crate::experiment::testing::agenda;
use crate::random::Draw;

fn line(block: u32, subject: &str, value: f64) -> Line {
    Line {
        block,
        workload: "w0".to_owned(),
        position: 0,
        subject: subject.to_owned(),
        attempt: 0,
        status: Status::Done,
        why: None,
        measures: [("rate".to_owned(), value)].into(),
        conditions: BTreeMap::new(),
    }
}

/// Pairs of two subjects, the second `factor` times the first, with noise and a drift of both.
fn lines(blocks: u32, factor: f64, noise: f64, seed: u64) -> Vec<Line> {
    let mut draw = Draw::new(&[seed]);
    let mut all = Vec::new();
    for block in 0..blocks {
        let drifted = 1_000.0 * (1.0 + 0.1 * f64::from(block) / f64::from(blocks));
        all.push(line(block, "s0", drifted * (1.0 + noise * draw.normal())));
        all.push(line(block, "s1", drifted * factor * (1.0 + noise * draw.normal())));
    }
    all
}

fn effect_of(judged: &Judged) -> &Effect {
    judged.cells.iter().find(|cell| cell.subject == "s1").unwrap().effect.as_ref().unwrap()
}

#[test]
fn a_clear_gain_is_better_and_its_size_is_told_in_percent() {
    let judged = judge(&agenda(2, 1, 20), &lines(20, 1.25, 0.0, 1)).unwrap();
    let effect = effect_of(&judged);
    // Every ratio is 1.25 to the last bits; p = 2 / 2^20.
    assert!((effect.estimate - 25.0).abs() < 1e-6, "{effect:?}");
    assert!((effect.p - 2.0 / f64::from(1 << 20)).abs() < 1e-12);
    assert_eq!((effect.verdict, effect.pairs), (Verdict::Better, 20));
    // The rig drifts by 10 %, and that is pointed out.
    assert!(judged.notes.iter().any(|note| note.starts_with("drift: rate of s0")), "{judged:?}");
}

#[test]
fn where_less_is_better_a_gain_is_worse() {
    let mut agenda = agenda(2, 1, 20);
    agenda.measures[0].better = Better::Lower;
    let judged = judge(&agenda, &lines(20, 1.25, 0.0, 1)).unwrap();
    assert_eq!(effect_of(&judged).verdict, Verdict::Worse);
}

#[test]
fn the_same_values_are_equivalent_and_few_pairs_are_undecided() {
    let judged = judge(&agenda(2, 1, 20), &lines(20, 1.0, 0.0, 1)).unwrap();
    assert_eq!(effect_of(&judged).verdict, Verdict::Equivalent);
    let judged = judge(&agenda(2, 1, 4), &lines(4, 1.25, 0.0, 1)).unwrap();
    // Four pairs give p = 2 / 16 at best.
    let effect = effect_of(&judged);
    assert_eq!((effect.verdict, effect.pairs_needed), (Verdict::Undecided, Some(6)));
}

#[test]
fn a_void_block_does_not_count_until_it_was_run_again() {
    let mut lines = lines(20, 1.25, 0.0, 1);
    lines[7].status = Status::Void;
    lines[7].measures.clear();
    let judged = judge(&agenda(2, 1, 20), &lines).unwrap();
    assert_eq!(effect_of(&judged).pairs, 19);
    assert_eq!((judged.runs.void, judged.void.len()), (1, 1));
    assert!(judged.notes.iter().any(|note| note.contains("19 of 20 blocks")), "{:?}", judged.notes);
    for subject in ["s0", "s1"] {
        lines.push(Line { attempt: 1, ..line(3, subject, 1_000.0) });
    }
    assert_eq!(effect_of(&judge(&agenda(2, 1, 20), &lines).unwrap()).pairs, 20);
}

#[test]
fn failed_and_skipped_runs_have_no_value_and_say_why() {
    let mut lines = lines(20, 1.25, 0.0, 1);
    for line in lines.iter_mut().filter(|line| line.subject == "s1") {
        line.status = Status::Skipped;
        line.why = Some("no such governor".to_owned());
        line.measures.clear();
    }
    let judged = judge(&agenda(2, 1, 20), &lines).unwrap();
    assert_eq!(judged.cells.len(), 1);
    assert_eq!(judged.skipped.len(), 1, "said once, not twenty times");
}

#[test]
fn zeros_have_no_ratio_but_a_difference() {
    let mut lines = lines(20, 1.0, 0.0, 1);
    for line in &mut lines {
        line.measures.insert("rate".to_owned(), if line.subject == "s0" { 0.0 } else { 8.0 });
    }
    let mut agenda = agenda(2, 1, 20);
    let judged = judge(&agenda, &lines).unwrap();
    assert!(judged.cells.iter().all(|cell| cell.effect.is_none()));
    assert!(judged.notes.iter().any(|note| note.contains("not above zero")), "{:?}", judged.notes);
    agenda.measures[0].compare = Compare::Difference { smallest_effect: 4.0 };
    let judged = judge(&agenda, &lines).unwrap();
    let effect = effect_of(&judged);
    assert_eq!((effect.estimate, effect.verdict), (8.0, Verdict::Better));
}

#[test]
fn primary_measures_are_corrected_for_being_several() {
    let mut agenda = agenda(2, 1, 20);
    let mut second = agenda.measures[0].clone();
    second.name = "other".to_owned();
    agenda.measures.push(second);
    let mut lines = lines(20, 1.25, 0.0, 1);
    for line in &mut lines {
        let value = line.measures["rate"];
        line.measures.insert("other".to_owned(), value);
    }
    let judged = judge(&agenda, &lines).unwrap();
    let effect = effect_of(&judged);
    // Holm: the smaller of two counts twice.
    assert!((effect.p_adjusted / effect.p - 2.0).abs() < 1e-9, "{effect:?}");
}

/// Verdicts of 200 rigs with 2 % noise and 10 % drift.
fn verdicts(factor: f64) -> Vec<Verdict> {
    let rig = |seed| {
        let judged = judge(&agenda(2, 1, 20), &lines(20, factor, 0.02, seed)).unwrap();
        effect_of(&judged).verdict
    };
    (0..200).map(rig).collect()
}

#[test]
fn of_200_rigs_that_drift_few_see_a_difference_where_there_is_none() {
    let false_alarms = verdicts(1.0)
        .into_iter()
        .filter(|verdict| matches!(verdict, Verdict::Better | Verdict::Worse))
        .count();
    // At a level of 5 %: 10 expected; at most 7 % are asked for.
    assert!(false_alarms <= 14, "{false_alarms}");
}

#[test]
fn of_200_rigs_most_find_three_percent_under_two_percent_noise() {
    let found = verdicts(1.03).into_iter().filter(|verdict| *verdict == Verdict::Better).count();
    assert!(found >= 160, "{found}");
}
