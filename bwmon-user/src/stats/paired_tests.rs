use super::*;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

#[test]
#[allow(clippy::approx_constant, reason = "3.14 is a measured value")]
fn the_depression_data_of_hollander_and_wolfe() {
    // Hollander & Wolfe 1973, p. 29; R 4: wilcox.test(x, y, paired = TRUE, conf.int = TRUE) says
    // 0.46 and 0.010 to 0.786.
    let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    let result = paired(&differences, 0.95).unwrap();
    close(result.estimate, 0.46);
    close(result.low, 0.010);
    close(result.high, 0.786);
    close(result.p, 0.039_062_5);
    // 1 - 2 P(V <= 5) for nine values: 10 of 512 signs.
    close(result.achieved, 1.0 - 20.0 / 512.0);
    assert_eq!((result.n, result.zeros, result.exact), (9, 0, true));
}

#[test]
fn too_few_pairs_give_the_widest_interval_and_say_so() {
    let result = paired(&[0.01, 0.02, 0.04], 0.95).unwrap();
    assert_eq!((result.low, result.high, result.achieved), (0.01, 0.04, 0.75));
    let one = paired(&[0.3], 0.95).unwrap();
    assert_eq!((one.low, one.estimate, one.high, one.achieved), (0.3, 0.3, 0.3, 0.0));
}

#[test]
fn zeros_are_in_the_interval_and_not_in_the_test() {
    let result = paired(&[0.0; 12], 0.95).unwrap();
    assert_eq!((result.low, result.high, result.p, result.zeros), (0.0, 0.0, 1.0, 12));
    assert!(result.achieved >= 0.95);
}

#[test]
fn beyond_the_exact_sizes_the_interval_still_reaches_its_confidence() {
    let values: Vec<f64> = (0..81).map(|i| f64::from(i) - 30.0).collect();
    let result = paired(&values, 0.95).unwrap();
    assert_eq!((result.estimate, result.exact), (10.0, false));
    close(result.low + result.high, 20.0);
    assert!(result.low > 0.0 && result.p < 0.001);
    assert!(result.achieved >= 0.95 && result.achieved < 0.951, "{}", result.achieved);
}

#[test]
fn the_largest_numbers_overflow_nothing() {
    let result = paired(&[f64::MAX, f64::MAX, -f64::MAX], 0.95).unwrap();
    assert!(result.estimate.is_finite() && result.high == f64::MAX && result.low == -f64::MAX);
}

#[test]
fn what_cannot_be_analysed_is_refused() {
    assert_eq!(paired(&[], 0.95), Err(StatsError::TooFew { need: 1, got: 0 }));
    let error = paired(&[0.1, f64::NEG_INFINITY], 0.95).unwrap_err();
    assert!(error.to_string().starts_with("value 1 is -inf"), "{error}");
    assert!(matches!(paired(&[f64::NAN], 0.95), Err(StatsError::NotFinite { index: 0, .. })));
    assert!(matches!(paired(&[0.1], 1.0), Err(StatsError::OutOfRange { .. })));
    let many = vec![0.0; super::super::MOST_VALUES + 1];
    assert!(matches!(paired(&many, 0.95), Err(StatsError::TooMany { .. })));
}
