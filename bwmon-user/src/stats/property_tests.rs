//! What holds for any values.

use super::signed_rank::{exact_p, sums};
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const QUESTION: Question = Question { smallest_effect: 0.5, lower_is_better: true, alpha: 0.05 };

/// Values on a coarse grid, for ties and zeros, or anywhere.
fn values(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        vec((-8i32..12).prop_map(|value| f64::from(value) / 4.0), 1..most),
        vec(-1.0..2.0, 1..most),
    ]
}

fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Better => Verdict::Worse,
        Verdict::Worse => Verdict::Better,
        other => other,
    }
}

fn judged(values: &[f64], question: &Question) -> Verdict {
    let paired = paired(values, 0.95).unwrap();
    verdict(&paired, question, paired.p).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_other_sign_turns_the_verdict_and_nothing_else(values in values(70)) {
        let negated: Vec<f64> = values.iter().map(|value| -value).collect();
        let (a, b) = (paired(&values, 0.95).unwrap(), paired(&negated, 0.95).unwrap());
        prop_assert_eq!((a.p, a.estimate, a.low, a.high), (b.p, -b.estimate, -b.high, -b.low));
        prop_assert_eq!(turned(judged(&values, &QUESTION)), judged(&negated, &QUESTION));
        let upwards = Question { lower_is_better: false, ..QUESTION };
        prop_assert_eq!(judged(&values, &upwards), judged(&negated, &QUESTION));
    }

    #[test]
    fn the_scale_changes_no_verdict(values in values(40), power in -20i32..20) {
        // Powers of two, so that nothing is rounded.
        let scale = f64::from(power).exp2();
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let question =
            Question { smallest_effect: QUESTION.smallest_effect * scale, ..QUESTION };
        prop_assert_eq!(judged(&values, &QUESTION), judged(&scaled, &question));
        prop_assert_eq!(outliers(&values), outliers(&scaled));
    }

    #[test]
    fn the_interval_contains_the_estimate(values in values(70), confidence in 0.01..0.999) {
        let paired = paired(&values, confidence).unwrap();
        prop_assert!(paired.low <= paired.estimate && paired.estimate <= paired.high);
        prop_assert!((0.0..=1.0).contains(&paired.p) && (0.0..=1.0).contains(&paired.achieved));
        // The widest interval is that of the values themselves.
        prop_assert!(values.iter().any(|value| *value <= paired.low));
        prop_assert!(values.iter().any(|value| *value >= paired.high));
    }

    #[test]
    fn more_confidence_is_a_wider_interval(values in values(70)) {
        let (a, b) = (paired(&values, 0.9).unwrap(), paired(&values, 0.99).unwrap());
        prop_assert!(b.low <= a.low && a.high <= b.high && a.achieved <= b.achieved);
    }

    #[test]
    fn interval_and_test_agree_without_ties_and_zeros(values in vec(-1.0..2.0, 6..50usize)) {
        let paired = paired(&values, 0.95).unwrap();
        let clear = paired.low > 0.0 || paired.high < 0.0;
        prop_assert_eq!(clear, paired.p <= 1.0 - paired.confidence);
    }

    #[test]
    fn an_undecided_verdict_names_more_pairs_than_there_are(values in values(70)) {
        if let Verdict::Undecided { pairs_needed: Some(pairs) } = judged(&values, &QUESTION) {
            prop_assert!(pairs > values.len() as u64 && pairs >= 6);
        }
    }

    #[test]
    fn the_exact_p_is_that_of_all_signs_tried(values in vec(-4i32..5, 1..9usize)) {
        let values: Vec<f64> =
            values.into_iter().filter(|value| *value != 0).map(f64::from).collect();
        let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        let seen = signed_rank(&values).unwrap();
        let (mut low, mut high) = (0, 0);
        for signs in 0..1_u32 << values.len() {
            let tried: Vec<f64> = sizes.iter().enumerate()
                .map(|(bit, size)| if signs >> bit & 1 == 1 { *size } else { -size }).collect();
            let v_plus = signed_rank(&tried).unwrap().v_plus;
            low += u32::from(v_plus <= seen.v_plus);
            high += u32::from(v_plus >= seen.v_plus);
        }
        let p = 2.0 * f64::from(low.min(high)) / f64::from(1_u32 << values.len());
        prop_assert_eq!(seen.p, p.min(1.0));
    }

    #[test]
    fn the_exact_distribution_sums_to_one(ranks in vec(1u64..40, 0..30usize)) {
        let ways = sums(&ranks);
        prop_assert_eq!(ways.iter().sum::<u64>(), 1 << ranks.len());
        // The whole lies on both sides of the middle.
        prop_assert_eq!(exact_p(&ways, ranks.iter().sum::<u64>() / 2), 1.0);
    }

    #[test]
    fn holm_lowers_no_p_and_keeps_their_order(p in vec(0.0..=1.0, 0..20usize)) {
        let adjusted = holm(&p);
        prop_assert_eq!(adjusted.len(), p.len());
        for (a, b) in p.iter().zip(&adjusted) {
            prop_assert!(a <= b && *b <= 1.0);
            for (c, d) in p.iter().zip(&adjusted) {
                prop_assert!(a > c || b <= d);
            }
        }
    }

    #[test]
    fn two_samples_exchanged_are_the_same_comparison(first in values(35), second in values(35)) {
        let a = unpaired(&first, &second, 0.95).unwrap();
        let b = unpaired(&second, &first, 0.95).unwrap();
        prop_assert!((a.p - b.p).abs() < 1e-9 && (0.0..=1.0).contains(&a.p));
        prop_assert_eq!((a.shift, a.low, a.high), (-b.shift, -b.high, -b.low));
        prop_assert!(a.low <= a.shift && a.shift <= a.high);
    }

    #[test]
    fn a_series_read_backwards_drifts_the_other_way(series in values(70)) {
        prop_assume!(series.len() > 1);
        let backwards: Vec<f64> = series.iter().rev().copied().collect();
        let (a, b) = (drift(&series).unwrap(), drift(&backwards).unwrap());
        prop_assert_eq!(a.tau, -b.tau);
        prop_assert!((a.p - b.p).abs() < 1e-9 && (0.0..=1.0).contains(&a.p));
        prop_assert!((-1.0..=1.0).contains(&a.tau));
    }

    #[test]
    fn quartiles_are_in_order_and_within_the_values(values in values(40)) {
        let quartiles = quartiles(&values).unwrap();
        prop_assert!(quartiles.lower <= quartiles.median && quartiles.median <= quartiles.upper);
        prop_assert!(values.iter().any(|value| *value <= quartiles.lower));
        prop_assert!(values.iter().any(|value| *value >= quartiles.upper));
    }

    #[test]
    fn no_number_is_a_panic(values in vec(any::<f64>(), 0..12usize)) {
        let _ = (paired(&values, 0.95), signed_rank(&values), drift(&values), outliers(&values));
        let _ = (unpaired(&values, &values, 0.95), holm(&values), quartiles(&values));
        let _ = (geometric_mean(&values), median(&values));
    }
}
