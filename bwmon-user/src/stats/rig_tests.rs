//! Experiments on a made-up machine that warms up: how often is the verdict wrong?

use super::*;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const RIGS: u64 = 200;
const PAIRS: u32 = 20;
const QUESTION: Question =
    Question { smallest_effect: 0.009_950_33, lower_is_better: true, alpha: 0.05 };

/// Normal noise of standard deviation 1, by Box & Muller.
fn noise(rng: &mut StdRng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Log ratios of the times of candidate and baseline, and all times in order: 2 % noise per run, 10 %
/// slower in the course of the experiment, the order within a pair drawn by lot.
fn rig(seed: u64, effect: f64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut ratios, mut times) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let baseline_first = rng.random::<bool>();
        let mut time = |factor: f64| {
            let warmth = 1.0 + 0.1 * times.len() as f64 / f64::from(2 * PAIRS - 1);
            let time = 100.0 * factor * warmth * (1.0 + 0.02 * noise(&mut rng));
            times.push(time);
            time
        };
        let candidate = 1.0 + effect;
        let (baseline, candidate) = if baseline_first {
            let baseline = time(1.0);
            (baseline, time(candidate))
        } else {
            let candidate = time(candidate);
            (time(1.0), candidate)
        };
        ratios.push((candidate / baseline).ln());
    }
    (ratios, times)
}

fn verdicts(effect: f64) -> Vec<Verdict> {
    let judged = |seed| {
        let paired = paired(&rig(seed, effect).0, 0.95).unwrap();
        verdict(&paired, &QUESTION, paired.p).unwrap()
    };
    (0..RIGS).map(judged).collect()
}

fn share(verdicts: &[Verdict], of: &[Verdict]) -> usize {
    verdicts.iter().filter(|verdict| of.contains(verdict)).count()
}

#[test]
fn two_equal_candidates_on_a_drifting_machine_are_seldom_told_apart() {
    let wrong = share(&verdicts(0.0), &[Verdict::Better, Verdict::Worse]);
    // 5 %, and the scatter of 200 trials: a standard deviation is 3.
    assert!(wrong <= 14, "{wrong} of {RIGS}");
}

#[test]
fn three_percent_less_time_is_found_under_two_percent_noise() {
    let verdicts = verdicts(-0.03);
    let found = share(&verdicts, &[Verdict::Better]);
    assert!(found >= 160, "{found} of {RIGS}");
    assert_eq!(share(&verdicts, &[Verdict::Worse]), 0);
}

#[test]
fn the_interval_covers_the_truth_as_often_as_it_says() {
    let truth = 0.97_f64.ln();
    let covers = |seed: &u64| {
        let paired = paired(&rig(*seed, -0.03).0, 0.95).unwrap();
        paired.low <= truth && truth <= paired.high
    };
    let covered = (0..RIGS).filter(covers).count();
    // 95 % and more; two and a half standard deviations of 200 trials are 4 %.
    assert!(covered >= 182, "{covered} of {RIGS}");
}

#[test]
fn the_drift_is_seen_in_the_times_and_is_gone_from_the_ratios() {
    let seen = |series: &[f64]| drift(series).unwrap().p <= 0.05;
    let rigs: Vec<_> = (0..RIGS).map(|seed| rig(seed, 0.0)).collect();
    let times = rigs.iter().filter(|(_, times)| seen(times)).count();
    let ratios = rigs.iter().filter(|(ratios, _)| seen(ratios)).count();
    assert!(times >= 190 && ratios <= 18, "{times} and {ratios} of {RIGS}");
}
