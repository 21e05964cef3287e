//! From readings to a verdict on a unit.

use super::{Seen, Subject, Traffic};
use crate::bwmon::COUNT_MAX;
use serde::Serialize;

/// Counts that the traffic has to add to what there is without it, for a bound that says something.
const ENOUGH: u16 = 2;

/// The units that blocks are built with: powers of two, in kB of 1024 bytes.
const CANDIDATES: std::ops::RangeInclusive<u32> = 0..=16;

/// What one trial says about one monitor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The traffic.
    pub traffic: Traffic,
    /// Its name, for people.
    pub name: String,
    /// What the program moved in a window, in kB of 1024 bytes: the median of the readings.
    #[serde(rename = "moved_kB")]
    pub moved_kb: f64,
    /// The largest count, and the largest without traffic: medians.
    pub count: u16,
    /// See `count`.
    pub quiet_count: u16,
    /// Bounds of the unit in kB; `None` if the trial says nothing.
    #[serde(rename = "unit_kB")]
    pub unit_kb: Option<(f64, f64)>,
    /// Why it says nothing.
    pub silent: Option<String>,
}

impl Trial {
    /// Judges the readings `seen` under `traffic`, with `quiet` those without any.
    pub fn of(traffic: Traffic, seen: &[Seen], quiet: &[Seen]) -> Self {
        let count = median(seen.iter().map(|seen| f64::from(seen.count))).unwrap_or(0.0) as u16;
        let quiet_count =
            median(quiet.iter().map(|seen| f64::from(seen.count))).unwrap_or(0.0) as u16;
        let low = median(seen.iter().map(|seen| seen.bytes.0)).unwrap_or(0.0);
        let high = median(seen.iter().map(|seen| seen.bytes.1)).unwrap_or(0.0);
        let mut trial = Self {
            traffic,
            name: traffic.name(),
            moved_kb: low / 1024.0,
            count,
            quiet_count,
            unit_kb: None,
            silent: None,
        };
        trial.silent = if seen.is_empty() {
            Some("no reading".to_owned())
        } else if !traffic.judged() {
            Some("stays in the caches".to_owned())
        } else if count >= COUNT_MAX {
            Some("the count register was full".to_owned())
        } else if count < quiet_count.saturating_add(ENOUGH) {
            Some("does not show: too little for this unit, or not on this path".to_owned())
        } else {
            None
        };
        if trial.silent.is_none() {
            // n counts of the unit u: n <= (traffic + others) / u < n + 1.
            let (least, most) = traffic.kind.factors();
            let below = f64::from(count) + 1.0;
            let above = f64::from(count) - f64::from(quiet_count) - 1.0;
            trial.unit_kb =
                Some((low * least / below / 1024.0, high * most / above.max(1.0) / 1024.0));
        }
        trial
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The answer for one monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The board's unit fits and no other power of two does.
    Fits,
    /// It does not fit.
    Doubtful,
    /// The trials do not tell.
    CannotBeTold,
}

/// What was found for one monitor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The monitor and the board's unit.
    #[serde(flatten)]
    pub subject: Subject,
    /// The answer.
    pub verdict: Verdict,
    /// Bounds of the unit, in kB, that all trials allow.
    #[serde(rename = "low_kB")]
    pub low_kb: Option<f64>,
    /// See `low_kb`.
    #[serde(rename = "high_kB")]
    pub high_kb: Option<f64>,
    /// Powers of two within the bounds.
    #[serde(rename = "candidates_kB")]
    pub candidates_kb: Vec<u32>,
    /// The answer in words.
    pub why: String,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// Judges the unit of `subject` by `trials`. A path is crossed by the traffic of some CPUs only, so
/// those of the CPU that shows most are taken.
pub fn judge(subject: &Subject, trials: Vec<Trial>) -> Finding {
    let best = trials.iter().max_by_key(|trial| trial.count.saturating_sub(trial.quiet_count));
    let cpu = best.and_then(|trial| trial.traffic.cpu);
    let own = trials.iter().filter(|trial| trial.traffic.cpu == cpu);
    let bounds: Vec<(f64, f64)> = own.filter_map(|trial| trial.unit_kb).collect();
    let low = bounds.iter().map(|(low, _)| *low).reduce(f64::max);
    let high = bounds.iter().map(|(_, high)| *high).reduce(f64::min);
    let within = |kb: f64| low.is_some_and(|low| kb > low) && high.is_some_and(|high| kb <= high);
    let candidates_kb: Vec<u32> =
        CANDIDATES.map(|power| 1 << power).filter(|kb| within(f64::from(*kb))).collect();
    let unit = subject.unit_kb;
    let fits = within(f64::from(unit));
    let others: Vec<String> =
        candidates_kb.iter().filter(|kb| **kb != unit).map(|kb| format!("{kb} kB")).collect();
    let (verdict, why) = match (low.zip(high), fits, others.is_empty()) {
        (None, ..) => {
            let silent = trials.iter().filter(|trial| trial.traffic.judged());
            let mut why: Vec<&str> = silent.filter_map(|trial| trial.silent.as_deref()).collect();
            why.sort_unstable();
            why.dedup();
            (Verdict::CannotBeTold, format!("no trial says anything: {}", why.join("; ")))
        }
        (Some((low, high)), ..) if low >= high => {
            let why = "the trials contradict each other: other traffic came and went, try again on a \
                       quiet machine";
            (Verdict::CannotBeTold, why.to_owned())
        }
        (_, true, true) => (Verdict::Fits, format!("fits the board's {unit} kB")),
        (_, true, false) => {
            let why = format!("fits the board's {unit} kB, and {} as well", others.join(", "));
            (Verdict::CannotBeTold, why)
        }
        (_, false, true) => {
            let why = format!("the board's {unit} kB does not fit, and no power of two does");
            (Verdict::Doubtful, why)
        }
        (_, false, false) => {
            let why = format!("the board's {unit} kB does not fit; {} does", others.join(" or "));
            (Verdict::Doubtful, why)
        }
    };
    Finding {
        subject: subject.clone(),
        verdict,
        low_kb: low,
        high_kb: high,
        candidates_kb,
        why,
        trials,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FAR_BEYOND_CACHES_KB, Kind};
    use super::*;

    const READ: Traffic = Traffic { kind: Kind::Read, block_kb: FAR_BEYOND_CACHES_KB, cpu: None };

    /// Readings of a block that counts in `unit_kb` under `mib` of traffic in a window.
    fn seen(unit_kb: u32, mib: f64) -> Vec<Seen> {
        let bytes = mib * 1024.0 * 1024.0;
        let count = (bytes / 1024.0 / f64::from(unit_kb)) as u16;
        vec![Seen { count: count.min(COUNT_MAX), bytes: (bytes, bytes * 1.01) }; 5]
    }

    fn verdict(board_kb: u32, true_kb: u32, mib: f64) -> (Verdict, Vec<u32>) {
        let subject = Subject { monitor: "x".into(), unit_kb: board_kb };
        let finding = judge(&subject, vec![Trial::of(READ, &seen(true_kb, mib), &[])]);
        (finding.verdict, finding.candidates_kb)
    }

    #[test]
    fn the_true_unit_is_found_at_both_sizes_that_the_driver_knows() {
        assert_eq!(verdict(64, 64, 17.0), (Verdict::Fits, vec![64]));
        assert_eq!(verdict(1024, 1024, 17.0), (Verdict::Fits, vec![1024]));
        assert_eq!(verdict(1024, 4096, 17.0), (Verdict::Doubtful, vec![4096]));
        assert_eq!(verdict(64, 1024, 17.0), (Verdict::Doubtful, vec![1024]));
    }

    #[test]
    fn too_few_counts_tell_nothing_rather_than_something_wrong() {
        // One count: the traffic may have been one unit or nearly two.
        assert_eq!(verdict(4096, 4096, 5.0).0, Verdict::CannotBeTold);
        // Two counts of 4096 kB in 9 MiB: between 3.0 and 9.9 MiB, 8192 fits too.
        assert_eq!(verdict(4096, 4096, 9.0), (Verdict::CannotBeTold, vec![4096, 8192]));
    }

    #[test]
    fn a_full_register_and_an_empty_path_are_silent_with_a_reason() {
        let trial = Trial::of(READ, &seen(1, 17.0), &[]);
        assert_eq!(trial.silent.as_deref(), Some("the count register was full"));
        let trial = Trial::of(READ, &seen(64, 17.0), &seen(64, 17.0));
        assert!(trial.silent.unwrap().starts_with("does not show"));
        let small = Traffic { block_kb: 64, ..READ };
        assert_eq!(Trial::of(small, &seen(64, 17.0), &[]).silent.unwrap(), "stays in the caches");
    }

    #[test]
    fn a_copys_unknown_share_widens_the_bounds_and_does_not_shift_them() {
        let copy = Traffic { kind: Kind::Copy, ..READ };
        // 6 MiB copied, 12 or 18 MiB on the path: 192 or 288 counts of 64 kB.
        for times in [2.0, 3.0] {
            let bytes = 6.0 * 1024.0 * 1024.0;
            let count = (bytes * times / 65_536.0) as u16;
            let seen = vec![Seen { count, bytes: (bytes, bytes) }; 3];
            let (low, high) = Trial::of(copy, &seen, &[]).unit_kb.unwrap();
            assert!(low < 64.0 && 64.0 <= high, "{times}: {low} {high}");
        }
    }

    #[test]
    fn one_reading_with_somebody_elses_traffic_is_outvoted() {
        let mut readings = seen(64, 17.0);
        readings[2].count = 4_000;
        let trial = Trial::of(READ, &readings, &[]);
        assert_eq!(trial.count, 272);
    }

    #[test]
    fn trials_that_contradict_each_other_are_no_finding() {
        let subject = Subject { monitor: "x".into(), unit_kb: 64 };
        let trials =
            vec![Trial::of(READ, &seen(64, 17.0), &[]), Trial::of(READ, &seen(128, 17.0), &[])];
        let finding = judge(&subject, trials);
        assert_eq!(finding.verdict, Verdict::CannotBeTold);
        assert!(finding.why.contains("contradict"), "{}", finding.why);
    }

    #[test]
    fn the_cpu_whose_traffic_crosses_the_path_counts() {
        let subject = Subject { monitor: "x".into(), unit_kb: 64 };
        let on = |cpu, mib| {
            let mut trial = Trial::of(Traffic { cpu: Some(cpu), ..READ }, &seen(64, 17.0), &[]);
            // The other cluster's traffic passes by; what shows are some 4 MiB of its own.
            if mib < 17.0 {
                trial.count = (mib * 16.0) as u16;
                trial.unit_kb = Some((250.0, 300.0));
            }
            trial
        };
        let finding = judge(&subject, vec![on(0, 4.0), on(4, 17.0)]);
        assert_eq!((finding.verdict, finding.candidates_kb), (Verdict::Fits, vec![64]));
    }
}
