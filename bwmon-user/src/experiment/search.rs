//! Looking for tunables: candidates are drawn at random, and the better half of them goes on to more
//! blocks, until few are left (successive halving: Jamieson and Talwalkar 2016).

use super::agenda::{Subject, SubjectKind};
use crate::random::Draw;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A tunable that may vary.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// Its name.
    pub name: String,
    /// What it is drawn from.
    pub from: Choices,
}

/// What a tunable is drawn from, evenly.
#[derive(Clone, Debug, PartialEq)]
pub enum Choices {
    /// Whole numbers, both ends among them.
    Whole(i64, i64),
    /// Numbers between two.
    Real(f64, f64),
    /// `true` or `false`.
    Either,
}

/// Tunables as `--set` takes them.
pub type Setting = BTreeMap<String, String>;

/// `count` different settings of `varies`, fewer where there are no more.
pub fn candidates(varies: &[Vary], count: usize, seed: u64) -> Vec<Setting> {
    let mut draw = Draw::new(&[seed, 4]);
    let mut all: Vec<Setting> = Vec::new();
    // A small space is exhausted after a while.
    for _ in 0..count.saturating_mul(8) {
        if all.len() >= count {
            break;
        }
        let one = varies.iter().map(|vary| {
            let value = match vary.from {
                Choices::Whole(from, to) => draw.between(from, to).to_string(),
                // Three digits are enough to tell tunables apart, and to write down.
                Choices::Real(from, to) => format!("{:.3}", from + (to - from) * draw.unit()),
                Choices::Either => (draw.below(2) == 1).to_string(),
            };
            (vary.name.clone(), value)
        });
        let setting = one.collect();
        if !all.contains(&setting) {
            all.push(setting);
        }
    }
    all
}

/// How good a setting is on some scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// The worst scenario's loss of throughput against the highest levels, in percent.
    pub loss_pct: f64,
    /// Geometric mean over the scenarios of the vote integral, as a share of that of the highest
    /// levels, in percent.
    pub votes_pct: f64,
}

impl Score {
    /// From each scenario's throughput and vote integral, with those of the highest levels.
    pub fn of(scenarios: &[Measured]) -> Option<Self> {
        let mut loss_pct = f64::NEG_INFINITY;
        let mut logs = 0.0;
        for one in scenarios {
            if !(one.top_throughput > 0.0 && one.top_votes > 0.0 && one.votes > 0.0) {
                return None;
            }
            loss_pct = loss_pct.max((1.0 - one.throughput / one.top_throughput) * 100.0);
            logs += (one.votes / one.top_votes).ln();
        }
        let count = scenarios.len() as f64;
        (count > 0.0).then(|| Self { loss_pct, votes_pct: (logs / count).exp() * 100.0 })
    }

    /// Fewer votes first among those that lose at most `most_loss_pct`; the others after them, by
    /// what they lose.
    pub fn compare(&self, other: &Self, most_loss_pct: f64) -> Ordering {
        let within = |score: &Self| score.loss_pct <= most_loss_pct;
        match (within(self), within(other)) {
            (true, true) => self.votes_pct.total_cmp(&other.votes_pct),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.loss_pct.total_cmp(&other.loss_pct),
        }
    }
}

/// One scenario under one setting and under the highest levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Throughput, in kB/s.
    pub throughput: f64,
    /// Vote integral, in kBps s.
    pub votes: f64,
    /// Throughput at the highest levels.
    pub top_throughput: f64,
    /// Vote integral at the highest levels.
    pub top_votes: f64,
}

/// A round: so many candidates in so many blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Candidates that are still there.
    pub candidates: usize,
    /// Blocks that each gets.
    pub blocks: u32,
}

/// The rounds for `candidates`: each half of the last with twice the blocks, down to `keep`.
pub fn rounds(candidates: usize, keep: usize, blocks: u32) -> Vec<Round> {
    let mut rounds = vec![Round { candidates, blocks }];
    let mut last = Round { candidates, blocks };
    while last.candidates > keep.max(1) {
        last = Round {
            candidates: (last.candidates / 2).max(keep.max(1)),
            blocks: last.blocks.saturating_mul(2),
        };
        rounds.push(last);
    }
    rounds
}

/// A candidate as a subject called `name`.
pub fn subject(name: &str, policy: &str, preset: Option<&str>, set: &Setting) -> Subject {
    Subject {
        name: name.to_owned(),
        kind: SubjectKind::Policy {
            policy: policy.to_owned(),
            preset: preset.map(str::to_owned),
            set: set.clone(),
        },
        board: None,
        cpufreq_votes: None,
        period_us: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_different_within_their_ranges_and_the_same_for_a_seed() {
        let varies = [
            Vary { name: "n".into(), from: Choices::Whole(1, 3) },
            Vary { name: "b".into(), from: Choices::Either },
        ];
        // Three numbers and two truths: six settings and no more.
        let all = candidates(&varies, 100, 1);
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|one| ["1", "2", "3"].contains(&one["n"].as_str())));
        assert_eq!(candidates(&varies, 4, 1), candidates(&varies, 4, 1));
        let real = [Vary { name: "x".into(), from: Choices::Real(0.5, 0.75) }];
        for one in candidates(&real, 50, 2) {
            assert!((0.5..=0.75).contains(&one["x"].parse::<f64>().unwrap()), "{one:?}");
        }
    }

    #[test]
    fn a_score_is_the_worst_loss_and_the_mean_of_the_votes() {
        let measured = |throughput, votes| Measured {
            throughput,
            votes,
            top_throughput: 100.0,
            top_votes: 100.0,
        };
        let score = Score::of(&[measured(99.0, 50.0), measured(97.0, 12.5)]).unwrap();
        // sqrt(0.5 * 0.125) = 0.25.
        assert!((score.loss_pct - 3.0).abs() < 1e-9 && (score.votes_pct - 25.0).abs() < 1e-9);
        assert_eq!(Score::of(&[]), None);
        assert_eq!(Score::of(&[measured(99.0, 0.0)]), None, "votes that are not known");
    }

    #[test]
    fn what_loses_too_much_comes_after_what_does_not() {
        let score = |loss_pct, votes_pct| Score { loss_pct, votes_pct };
        let mut scores = [score(5.0, 1.0), score(0.5, 60.0), score(2.0, 30.0), score(0.9, 40.0)];
        scores.sort_by(|a, b| a.compare(b, 1.0));
        assert_eq!(scores, [score(0.9, 40.0), score(0.5, 60.0), score(2.0, 30.0), score(5.0, 1.0)]);
    }

    #[test]
    fn each_round_has_half_the_candidates_and_twice_the_blocks() {
        let seen: Vec<(usize, u32)> =
            rounds(64, 5, 1).iter().map(|round| (round.candidates, round.blocks)).collect();
        assert_eq!(seen, [(64, 1), (32, 2), (16, 4), (8, 8), (5, 16)]);
        assert_eq!(rounds(3, 5, 2).len(), 1);
    }
}
