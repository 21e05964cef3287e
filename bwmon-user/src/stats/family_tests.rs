use super::*;

fn rounded(p: &[f64]) -> Vec<f64> {
    holm(p).into_iter().map(|p| (p * 1e9).round() / 1e9).collect()
}

#[test]
fn r_and_the_definition_agree() {
    // R 4: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
    assert_eq!(rounded(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
}

#[test]
fn one_comparison_needs_no_correction() {
    assert_eq!(holm(&[0.03]), [0.03]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn nothing_exceeds_one() {
    assert_eq!(holm(&[0.6, 0.9, 0.7]), [1.0, 1.0, 1.0]);
}

#[test]
fn a_p_that_is_not_a_number_counts_as_one() {
    assert_eq!(rounded(&[f64::NAN, 0.01, -f64::NAN]), [1.0, 0.03, 1.0]);
}
