use super::*;

fn close(a: f64, b: f64, by: f64) {
    assert!((a - b).abs() <= by, "{a} is not {b} within {by}");
}

/// Hollander & Wolfe 1973, p. 69: permeability of the human chorioamnion at term, and between the
/// 12th and 26th week.
const TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
const EARLY: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

#[test]
fn the_permeability_data_of_hollander_and_wolfe() {
    let result = unpaired(&TERM, &EARLY, 0.95).unwrap();
    // R 4: wilcox.test(x, y): W = 35, p-value = 0.2544 (0.1272 one-sided, in the book as well).
    assert_eq!((result.u, result.exact), (35.0, true));
    close(result.p, 0.2544, 0.000_05);
    // The book, sections 4.2 and 4.3: 0.305; -0.15 to 0.76.
    close(result.shift, 0.305, 1e-9);
    close(result.low, -0.15, 1e-9);
    close(result.high, 0.76, 1e-9);
    assert!((0.95..0.97).contains(&result.achieved), "{}", result.achieved);
}

#[test]
fn the_order_of_the_samples_turns_the_shift_and_nothing_else() {
    let (a, b) = (unpaired(&TERM, &EARLY, 0.9).unwrap(), unpaired(&EARLY, &TERM, 0.9).unwrap());
    close(a.p, b.p, 1e-12);
    close(a.shift, -b.shift, 1e-12);
    close(a.low, -b.high, 1e-12);
    close(a.u + b.u, 50.0, 0.0);
}

#[test]
fn critical_values_are_those_of_mann_and_whitneys_table() {
    // The largest U with two-sided p <= 0.05, in most textbooks: 5 and 5: 2; 8 and 8: 13;
    // 10 and 10: 23; 20 and 20: 127; 4 and 10: 5.
    let table = [(5, 5, 2), (8, 8, 13), (10, 10, 23), (20, 20, 127), (4, 10, 5), (10, 4, 5)];
    for (m, n, u) in table {
        assert_eq!(cut(m, n, 0.95).order, u + 1, "{m} and {n}");
    }
    // Three and three: the widest interval has 1 - 2 / 20.
    let few = unpaired(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0], 0.95).unwrap();
    assert_eq!((few.p, few.low, few.high), (0.1, 1.0, 5.0));
    close(few.achieved, 0.9, 1e-12);
}

#[test]
fn ties_are_exact_too() {
    // 1 1 2 against 1 3 3: ranks 2 2 4 and 2 5.5 5.5. Of 20 subsets those with a sum of at most 8:
    // two of the three 2s with the 4, and all three 2s: 4.
    let result = unpaired(&[1.0, 1.0, 2.0], &[1.0, 3.0, 3.0], 0.95).unwrap();
    assert_eq!((result.u, result.p), (2.0, 0.4));
    let same = unpaired(&[1.0; 4], &[1.0; 4], 0.95).unwrap();
    assert_eq!((same.u, same.p, same.shift), (8.0, 1.0, 0.0));
}

#[test]
fn beyond_the_exact_sizes_the_normal_distribution_takes_over_without_a_jump() {
    let first: Vec<f64> = (0..25).map(|i| f64::from(i) + 4.25).collect();
    let second: Vec<f64> = (0..25).map(f64::from).collect();
    let exact = unpaired(&first, &second, 0.95).unwrap();
    let more: Vec<f64> = second.iter().copied().chain([12.0]).collect();
    let normal = unpaired(&first, &more, 0.95).unwrap();
    assert!(exact.exact && !normal.exact);
    close(exact.p, normal.p, 0.01);
    close(exact.low, normal.low, 1.0);
    assert!(normal.achieved >= 0.95 && normal.achieved < 0.96);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    assert_eq!(unpaired(&[], &EARLY, 0.95), Err(StatsError::TooFew { need: 1, got: 0 }));
    assert!(matches!(
        unpaired(&EARLY, &[1.0, f64::NAN], 0.95),
        Err(StatsError::NotFinite { index: 1, .. })
    ));
    assert!(matches!(unpaired(&TERM, &EARLY, 0.0), Err(StatsError::OutOfRange { .. })));
}

#[test]
fn small_samples_in_either_order_have_the_p_of_the_table() {
    // The lowest of all 20, 35 and 35 arrangements. statrs 0.19.1's exact method says 1 for the first
    // two, where the first sample is not the larger one.
    let (low, high) = ([1.0, 2.0, 3.0, 3.5], [4.0, 5.0, 6.0, 7.0]);
    for (m, n, arrangements) in [(3, 3, 20.0), (3, 4, 35.0), (4, 3, 35.0)] {
        let result = unpaired(&low[..m], &high[..n], 0.95).unwrap();
        close(result.p, 2.0 / arrangements, 1e-12);
    }
}
