use super::*;

fn close(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() <= by, "{a} is not {b} within {by}");
}

#[test]
fn the_tuna_data_of_hollander_and_wolfe() {
    // Hollander & Wolfe 1973, p. 187: panel scores of canned tuna, in the order of its lightness.
    // R 4: cor.test(x, y, method = "kendall"): T = 26, tau 0.4444, p-value = 0.1194.
    let x = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1];
    let y = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8];
    let mut both: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0));
    let series: Vec<f64> = both.into_iter().map(|(_, y)| y).collect();
    let drift = drift(&series).unwrap();
    close(drift.tau, 0.4444, 0.000_05);
    close(drift.p, 0.1194, 0.000_05);
    assert_eq!(drift.n, 9);
}

#[test]
fn a_series_that_only_rises_has_one_order_of_all() {
    // Two of 5! orders are as extreme.
    let rising = drift(&[1.0, 2.0, 5.0, 7.0, 11.0]).unwrap();
    assert_eq!(rising.tau, 1.0);
    close(rising.p, 2.0 / 120.0, 1e-12);
    let falling = drift(&[5.0, 4.0, 3.0, 2.0, 1.0]).unwrap();
    assert_eq!(falling.tau, -1.0);
    close(falling.p, 2.0 / 120.0, 1e-12);
}

#[test]
fn ties_are_corrected_for() {
    // By hand: 5 rising pairs of 6, one tied: tau-b 5 / sqrt(6 * 5); variance (156 - 18) / 18; z
    // (5 - 1) / 2.7689.
    let drift = drift(&[1.0, 2.0, 2.0, 3.0]).unwrap();
    close(drift.tau, 0.912_871, 1e-6);
    close(drift.p, 0.1486, 0.0001);
}

#[test]
fn a_constant_series_does_not_drift() {
    assert_eq!(drift(&[3.0; 60]).unwrap(), Drift { tau: 0.0, p: 1.0, n: 60 });
}

#[test]
fn the_exact_distribution_sums_to_one() {
    for n in 1..=MOST_EXACT {
        let chances = inversions(n);
        assert_eq!(chances.len(), n * (n - 1) / 2 + 1);
        close(chances.iter().sum(), 1.0, 1e-12);
    }
    // Four values: 1 3 5 6 5 3 1 of 24 (Kendall 1938).
    let ways: Vec<u64> = inversions(4).iter().map(|p| (p * 24.0).round() as u64).collect();
    assert_eq!(ways, [1, 3, 5, 6, 5, 3, 1]);
}

#[test]
fn exact_and_normal_meet_at_fifty() {
    let wave = |n: u32| -> Vec<f64> {
        (0..n).map(|i| f64::from(i) * 0.3 + f64::from(i * 37 % 53)).collect()
    };
    let (exact, normal) = (drift(&wave(50)).unwrap(), drift(&wave(51)).unwrap());
    close(exact.p, normal.p, 0.05);
}

#[test]
fn what_has_no_order_is_refused() {
    assert_eq!(drift(&[1.0]), Err(StatsError::TooFew { need: 2, got: 1 }));
    assert!(matches!(drift(&[1.0, f64::NAN]), Err(StatsError::NotFinite { index: 1, .. })));
}
