//! Does an expectation hold for what happened?

use super::check::{Check, What};
use super::history::{History, Seen};
use super::judge_demand;
use crate::board::{Level, OppTable};
use std::ops::Range;

/// One way in which an expectation does not hold: the first in time on its domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    pub(super) domain: usize,
    pub(super) at_ms: u64,
    /// What was expected, up to the comma.
    pub(super) expected: String,
    /// What was seen instead.
    pub(super) seen: String,
}

/// What came of one expectation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What it is about occurred on at least one domain.
    pub(super) occurred: bool,
    pub(super) misses: Vec<Miss>,
}

/// One domain's run, as an expectation looks at it.
pub(super) struct View<'a> {
    pub(super) history: &'a History,
    pub(super) domain: usize,
    pub(super) table: &'a OppTable,
    pub(super) seen: &'a [Seen],
    /// The ticks of the expectation's span.
    pub(super) ticks: Range<usize>,
    pub(super) check: &'a Check,
}

/// Judges `check`; `other` is the run of the policy that a `same_as` names.
pub(super) fn judge(check: &Check, history: &History, other: Option<&History>) -> Verdict {
    let mut verdict = Verdict::default();
    for domain in &check.domains {
        let described = history.board.domains.get(*domain);
        let (Some(described), Some(seen)) = (described, history.domains.get(*domain)) else {
            continue;
        };
        let view = View {
            history,
            domain: *domain,
            table: &described.table,
            seen,
            ticks: history.ticks(check.from_ms, check.to_ms),
            check,
        };
        let (occurred, miss) = match &check.what {
            What::Rise { ms, to } => judge_demand::rise(&view, *ms, *to),
            What::Fall { ms, to } => judge_demand::fall(&view, *ms, *to),
            What::Stay { ms } => judge_demand::stay(&view, *ms),
            What::NeverBelow { grace_ms } => judge_demand::never_below(&view, *grace_ms),
            What::Idle { ms } => judge_demand::idle(&view, *ms),
            _ => (true, view.plain(other)),
        };
        verdict.occurred |= occurred;
        verdict.misses.extend(miss);
    }
    verdict
}

impl<'a> View<'a> {
    /// The ticks of the span.
    pub(super) fn span(&self) -> impl Iterator<Item = (usize, &'a Seen)> + use<'a> {
        let seen = self.seen;
        self.ticks.clone().filter_map(move |index| Some((index, seen.get(index)?)))
    }

    /// A level as messages name it.
    pub(super) fn level(&self, level: Level) -> String {
        format!("level {level} ({} kBps)", self.table.kbps_of(level))
    }

    pub(super) fn miss(&self, at_ms: u64, expected: String, seen: String) -> Miss {
        Miss { domain: self.domain, at_ms, expected, seen }
    }

    fn within(&self) -> String {
        format!("from {} to {} ms", self.check.from_ms, self.check.to_ms)
    }

    /// The first tick that is not as expected.
    fn first(&self, expected: String, wrong: impl Fn(&Seen) -> bool) -> Option<Miss> {
        let (index, seen) = self.span().find(|(_, seen)| wrong(seen))?;
        let at_ms = self.history.end_ms(index);
        let expected = format!("{expected} was expected {}", self.within());
        Some(self.miss(at_ms, expected, format!("at {at_ms} ms it was {}", self.level(seen.level))))
    }

    /// What is judged by levels and reasons alone.
    fn plain(&self, other: Option<&History>) -> Option<Miss> {
        let of = |name: super::value::LevelName| name.of(self.table).unwrap_or(self.table.top());
        let vote = |seen: &Seen| self.table.kbps_of(seen.level);
        match &self.check.what {
            What::LevelMin(name) => {
                let least = of(*name);
                self.first(format!("{} or more", self.level(least)), |seen| seen.level < least)
            }
            What::LevelMax(name) => {
                let most = of(*name);
                self.first(format!("{} or less", self.level(most)), |seen| seen.level > most)
            }
            What::VoteMin(kbps) => {
                self.first(format!("a vote of {kbps} kBps or more"), |seen| vote(seen) < *kbps)
            }
            What::VoteMax(kbps) => {
                self.first(format!("a vote of {kbps} kBps or less"), |seen| vote(seen) > *kbps)
            }
            What::LevelAtEnd(name) => {
                let (index, seen) = self.span().last()?;
                let at_ms = self.history.end_ms(index);
                let expected = format!("{} was expected at {at_ms} ms", self.level(of(*name)));
                (seen.level != of(*name)).then(|| {
                    self.miss(at_ms, expected, format!("it was {}", self.level(seen.level)))
                })
            }
            What::MeanVoteMax(kbps) => {
                let (sum, count) =
                    self.span().fold((0, 0), |(sum, n), (_, seen)| (sum + vote(seen).0, n + 1));
                let mean = sum / std::cmp::max(count, 1);
                let expected =
                    format!("a mean vote of {kbps} kBps or less was expected {}", self.within());
                (mean > kbps.0)
                    .then(|| self.miss(self.check.to_ms, expected, format!("it was {mean} kBps")))
            }
            What::Transitions { max } => self.transitions(*max),
            What::HeldBack { max_ms } => {
                let held = self.history.held_back_ms.get(self.domain).copied().unwrap_or(0);
                let expected =
                    format!("its clock was to hold traffic back for at most {max_ms} ms");
                (held > *max_ms)
                    .then(|| self.miss(self.check.to_ms, expected, format!("it did for {held} ms")))
            }
            What::Why(text) => self.why(text),
            What::SameAs { name, .. } => self.same_as(name, other?),
            _ => None,
        }
    }

    fn transitions(&self, max: u64) -> Option<Miss> {
        let changes: Vec<usize> =
            self.span().filter(|(_, seen)| seen.changed).map(|(index, _)| index).collect();
        let beyond = changes.get(usize::try_from(max).ok()?)?;
        let at_ms = self.history.end_ms(*beyond);
        let expected = format!("at most {max} changes of level were expected {}", self.within());
        let seen = format!("there were {}, number {} at {at_ms} ms", changes.len(), max + 1);
        Some(self.miss(at_ms, expected, seen))
    }

    fn why(&self, text: &str) -> Option<Miss> {
        let reasons = || self.span().filter_map(|(_, seen)| seen.why.as_deref());
        if reasons().any(|why| why.contains(text)) {
            return None;
        }
        let mut known: Vec<&str> = reasons().filter(|why| !why.is_empty()).collect();
        known.sort_unstable();
        known.dedup();
        let shown = match known.as_slice() {
            [] => "no reason was given".to_owned(),
            known => {
                let quoted = known.iter().take(5).map(|why| format!("\"{why}\""));
                format!("the reasons were {}", quoted.collect::<Vec<_>>().join(", "))
            }
        };
        let expected = format!("a reason with \"{text}\" was expected {}", self.within());
        Some(self.miss(self.check.to_ms, expected, shown))
    }

    fn same_as(&self, name: &str, other: &History) -> Option<Miss> {
        let theirs = other.domains.get(self.domain)?;
        let (index, ours, theirs) = self.span().find_map(|(index, seen)| {
            let other = theirs.get(index)?;
            (other.level != seen.level).then_some((index, seen.level, other.level))
        })?;
        let at_ms = self.history.end_ms(index);
        let expected = format!("at {at_ms} ms {name} has {}", self.level(theirs));
        Some(self.miss(at_ms, expected, format!("it was {}", self.level(ours))))
    }
}
