use super::*;

#[test]
fn the_median_lies_in_the_middle() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
}

#[test]
fn quartiles_are_those_of_r() {
    // R 4: quantile(c(1, 2, 4, 8, 16, 32)): 25 % 2.5, 50 % 6, 75 % 14.
    let quartiles = quartiles(&[32.0, 16.0, 8.0, 4.0, 2.0, 1.0]).unwrap();
    assert_eq!(quartiles, Quartiles { lower: 2.5, median: 6.0, upper: 14.0 });
}

#[test]
fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
    let mean = geometric_mean(&[4.0, 0.25, 2.0, 0.5]).unwrap();
    assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    assert!((geometric_mean(&[1e300; 9]).unwrap() / 1e300 - 1.0).abs() < 1e-9);
}

#[test]
fn nothing_and_what_is_no_number_have_no_summary() {
    for values in [&[][..], &[1.0, f64::NAN]] {
        assert_eq!((median(values), quartiles(values), geometric_mean(values)), (None, None, None));
    }
    assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    assert_eq!(geometric_mean(&[1.0, -1.0]), None);
}
