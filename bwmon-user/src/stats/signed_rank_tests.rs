use super::*;

/// Hollander & Wolfe 1973, p. 29: depression scale of nine patients at the first and second visit.
#[allow(clippy::approx_constant, reason = "3.14 is a measured value")]
const DEPRESSION: [(f64, f64); 9] = [
    (1.83, 0.878),
    (0.50, 0.647),
    (1.62, 0.598),
    (2.48, 2.05),
    (1.68, 1.06),
    (1.88, 1.29),
    (1.55, 1.06),
    (3.06, 3.14),
    (1.30, 1.29),
];

fn close(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() <= by, "{a} is not {b} within {by}");
}

#[test]
fn the_depression_data_of_hollander_and_wolfe() {
    let differences: Vec<f64> = DEPRESSION.iter().map(|(x, y)| x - y).collect();
    let test = signed_rank(&differences).unwrap();
    // R 4: wilcox.test(x, y, paired = TRUE): V = 40, p-value = 0.03906.
    assert_eq!(test, SignedRank { v_plus: 40.0, n: 9, zeros: 0, p: 0.039_062_5, exact: true });
}

#[test]
fn critical_values_are_those_of_wilcoxons_table() {
    // Wilcoxon & Wilcox 1964 (in most textbooks): the largest T with two-sided p <= 0.05.
    let table = [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (15, 25), (20, 52), (25, 89), (30, 137)];
    for (n, t) in table {
        let cut = critical(n, 0.95).unwrap();
        assert_eq!(cut.order, t + 1, "{n}");
        assert!(cut.achieved >= 0.95, "{n}: {}", cut.achieved);
    }
    // 50: 434 in the same table; 51 comes from the normal distribution and fits in the row.
    assert_eq!(critical(50, 0.95).unwrap().order, 435);
    let beyond = critical(51, 0.95).unwrap();
    assert!((450..=460).contains(&beyond.order), "{}", beyond.order);
    close(beyond.achieved, 0.95, 0.001);
}

#[test]
fn five_values_reach_no_more_than_their_widest_interval() {
    assert_eq!(critical(5, 0.95).unwrap(), Cut { order: 1, achieved: 0.9375 });
    assert_eq!(critical(1, 0.95).unwrap(), Cut { order: 1, achieved: 0.0 });
    assert_eq!(critical(6, 0.95).unwrap(), Cut { order: 1, achieved: 0.96875 });
}

#[test]
fn zeros_are_dropped_and_counted() {
    let test = signed_rank(&[0.0, 1.0, -0.0, 2.0, 3.0]).unwrap();
    assert_eq!((test.n, test.zeros, test.v_plus, test.p), (3, 2, 6.0, 0.25));
    let none = signed_rank(&[0.0; 7]).unwrap();
    assert_eq!((none.n, none.zeros, none.v_plus, none.p), (0, 7, 0.0, 1.0));
    assert_eq!(signed_rank(&[]).unwrap().p, 1.0);
}

#[test]
fn ties_share_their_places() {
    // |d| 1 1 2 3 3: ranks 1.5 1.5 3 4.5 4.5; positive 1.5 + 3 + 4.5 + 4.5. By hand: of 32 signs the
    // negative sum is 1.5 or less for none, either one, that is 3 ways.
    let test = signed_rank(&[1.0, -1.0, 2.0, 3.0, 3.0]).unwrap();
    assert_eq!((test.v_plus, test.p, test.exact), (13.5, 2.0 * 3.0 / 32.0, true));
}

#[test]
fn the_exact_distribution_has_all_signs_in_it() {
    for n in 0..=MOST_EXACT as u64 {
        let ways = sums(&(1..=n).collect::<Vec<_>>());
        assert_eq!(ways.iter().sum::<u64>(), 1 << n);
        assert!(ways.iter().eq(ways.iter().rev()), "{n}");
    }
}

#[test]
fn beyond_the_exact_sizes_the_normal_p_is_near_the_exact_one() {
    // Sixty values, every third negative, with and without ties; 2^60 ways still fit.
    for tie in [1.0, 4.0] {
        let signed = |i: u32| if i.is_multiple_of(3) { -1.0 } else { 1.0 };
        let differences: Vec<f64> =
            (1..=60).map(|i| signed(i) * (f64::from(i) / tie).ceil()).collect();
        let test = signed_rank(&differences).unwrap();
        assert!(!test.exact && test.p < 0.1);
        let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
        let exact = exact_p(&sums(&Ranks::of(&sizes).doubled), (2.0 * test.v_plus) as u64);
        close(test.p, exact, 0.001);
    }
}

#[test]
fn what_is_no_number_is_refused() {
    let error = signed_rank(&[1.0, f64::NAN]).unwrap_err();
    assert!(matches!(error, StatsError::NotFinite { index: 1, .. }), "{error}");
    assert!(signed_rank(&[f64::INFINITY]).is_err());
    assert_eq!(critical(0, 0.95), Err(StatsError::TooFew { need: 1, got: 0 }));
    for confidence in [0.0, 1.0, -1.0, f64::NAN, 95.0] {
        assert!(critical(9, confidence).is_err(), "{confidence}");
    }
}
