use super::super::paired;
use super::*;

const TIME: Question = Question { smallest_effect: 0.01, lower_is_better: true, alpha: 0.05 };

fn judged(values: &[f64], question: &Question) -> Verdict {
    let result = paired(values, 0.95).unwrap();
    verdict(&result, question, result.p).unwrap()
}

/// `n` values around `centre`, spread evenly over ± `half`.
fn spread(n: u32, centre: f64, half: f64) -> Vec<f64> {
    let step = 2.0 * half / f64::from(n - 1);
    (0..n).map(|i| centre - half + f64::from(i) * step).collect()
}

#[test]
fn less_time_is_better_and_less_bandwidth_is_worse() {
    let faster = spread(20, -0.05, 0.02);
    assert_eq!(judged(&faster, &TIME), Verdict::Better);
    assert_eq!(judged(&faster, &Question { lower_is_better: false, ..TIME }), Verdict::Worse);
}

#[test]
fn an_effect_known_to_be_too_small_is_equivalent_even_if_it_is_significant() {
    let small = spread(20, 0.004, 0.002);
    assert!(paired(&small, 0.95).unwrap().p < 0.001);
    assert_eq!(judged(&small, &TIME), Verdict::Equivalent);
    assert_eq!(judged(&small, &Question { smallest_effect: 0.0, ..TIME }), Verdict::Worse);
    assert_eq!(judged(&[0.0; 8], &TIME), Verdict::Equivalent);
}

#[test]
fn fewer_than_six_pairs_decide_nothing_and_ask_for_six() {
    for n in 1..6 {
        for value in [0.5, 0.0] {
            let verdict = judged(&vec![value; n], &TIME);
            assert_eq!(verdict, Verdict::Undecided { pairs_needed: Some(6) }, "{n} of {value}");
        }
    }
    assert_eq!(judged(&[0.5; 6], &TIME), Verdict::Worse);
}

#[test]
fn twice_the_width_needs_four_times_the_pairs() {
    let needed = |half| match judged(&spread(20, 0.02, half), &TIME) {
        Verdict::Undecided { pairs_needed: Some(pairs) } => pairs as f64,
        other => panic!("{other:?}"),
    };
    let times = needed(0.4) / needed(0.2);
    assert!((times - 4.0).abs() < 0.05, "{times}");
}

#[test]
fn the_number_named_is_about_the_number_that_decides() {
    let few = judged(&spread(20, 0.02, 0.1), &TIME);
    let Verdict::Undecided { pairs_needed: Some(pairs) } = few else { panic!("{few:?}") };
    assert!(pairs > 20);
    assert_eq!(judged(&spread(pairs as u32 * 5 / 4, 0.02, 0.1), &TIME), Verdict::Worse);
    assert!(!matches!(judged(&spread(pairs as u32 / 2, 0.02, 0.1), &TIME), Verdict::Worse));
}

#[test]
fn a_correction_that_undoes_a_difference_asks_for_more_pairs() {
    let result = paired(&spread(20, 0.03, 0.09), 0.95).unwrap();
    assert!(result.low > 0.0 && result.p <= 0.05);
    let needed = |times: f64| match verdict(&result, &TIME, (result.p * times).min(1.0)).unwrap() {
        Verdict::Undecided { pairs_needed } => pairs_needed.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict(&result, &TIME, result.p).unwrap(), Verdict::Worse);
    assert!(needed(10.0) > 20 && needed(20.0) > needed(10.0));
}

#[test]
fn without_a_target_no_number_is_named() {
    let question = Question { smallest_effect: 0.0, ..TIME };
    let verdict = judged(&spread(20, 0.0, 0.5), &question);
    // The centre is 0 but for rounding: out of reach is not named either.
    assert_eq!(verdict, Verdict::Undecided { pairs_needed: None });
}

#[test]
fn settings_out_of_range_are_refused() {
    let result = paired(&[0.1; 9], 0.95).unwrap();
    let wrong = [
        (Question { alpha: 0.0, ..TIME }, 0.1),
        (Question { alpha: f64::NAN, ..TIME }, 0.1),
        (Question { smallest_effect: -0.1, ..TIME }, 0.1),
        (Question { smallest_effect: f64::INFINITY, ..TIME }, 0.1),
        (TIME, 1.1),
        (TIME, f64::NAN),
    ];
    for (question, p) in wrong {
        let error = verdict(&result, &question, p).unwrap_err();
        assert!(matches!(error, StatsError::OutOfRange { .. }), "{error}");
    }
}
