use super::*;

#[test]
fn the_example_of_iglewicz_and_hoaglin() {
    // Iglewicz & Hoaglin 1993: 2.1 2.6 2.4 2.5 2.3 2.1 2.3 2.6 8.2 8.3; the last two are
    // outliers by the modified z-score, and none by the plain one.
    let values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3];
    assert_eq!(outliers(&values).unwrap(), [8, 9]);
}

#[test]
fn the_threshold_itself_is_inside() {
    // Median 0, MAD 1: the score is 0.6745 x, and 3.5 lies at 5.189.
    let with = |x: f64| [-1.0, -1.0, 0.0, 1.0, 1.0, -x, x];
    assert!(outliers(&with(5.18)).unwrap().is_empty());
    assert_eq!(outliers(&with(5.2)).unwrap(), [5, 6]);
}

#[test]
fn where_most_are_equal_the_mean_deviation_stands_in() {
    let mut values = vec![7.0; 9];
    values.push(9.0);
    // Mean deviation 0.2, score 2 / 0.2507 = 8.
    assert_eq!(outliers(&values).unwrap(), [9]);
}

#[test]
fn equal_values_have_no_outlier_and_no_values_neither() {
    assert!(outliers(&[7.0; 5]).unwrap().is_empty());
    assert!(outliers(&[7.0]).unwrap().is_empty());
    assert!(outliers(&[]).unwrap().is_empty());
}

#[test]
fn what_is_no_number_is_refused() {
    assert!(matches!(outliers(&[1.0, f64::INFINITY]), Err(StatsError::NotFinite { index: 1, .. })));
}
