//! What a journal tells of its domains, counted tick by tick.

use super::agenda::JournalMeasure;
use crate::board::{Board, Level, OppTable};
use crate::units::{Kbps, Nanos};

/// One domain in one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticked {
    /// The time that the tick's reading belongs to.
    pub span: Nanos,
    /// The busiest window, if anything was read.
    pub peak: Option<Kbps>,
    /// The level that was decided; `None` where nothing is voted.
    pub level: Option<Level>,
    /// The policy faulted.
    pub fault: bool,
}

/// The figures of one domain.
#[derive(Clone, Debug)]
struct Figures {
    table: OppTable,
    level: Option<Level>,
    read: Nanos,
    peak_kbps_ns: u128,
    voted: Nanos,
    vote_kbps_ns: u128,
    transitions: u64,
    below: Nanos,
    /// Since when a reading is above the level in force.
    late_since: Option<Nanos>,
    reactions_us: Vec<u64>,
    faults: u64,
    now: Nanos,
}

/// Counts a journal's ticks, all or those after settling.
#[derive(Clone, Debug)]
pub struct Meter {
    names: Vec<String>,
    domains: Vec<Figures>,
}

impl Meter {
    /// A meter for the domains of `board`.
    pub fn new(board: &Board) -> Self {
        let figures = |table: &OppTable| Figures {
            table: table.clone(),
            level: None,
            read: Nanos(0),
            peak_kbps_ns: 0,
            voted: Nanos(0),
            vote_kbps_ns: 0,
            transitions: 0,
            below: Nanos(0),
            late_since: None,
            reactions_us: Vec::new(),
            faults: 0,
            now: Nanos(0),
        };
        Self {
            names: board.domains.iter().map(|domain| domain.name.clone()).collect(),
            domains: board.domains.iter().map(|domain| figures(&domain.table)).collect(),
        }
    }

    /// Takes one tick of `domain`.
    pub fn tick(&mut self, domain: usize, tick: Ticked) {
        if let Some(figures) = self.domains.get_mut(domain) {
            figures.tick(tick);
        }
    }

    /// Takes a level that was in force before the first tick that counts.
    pub fn settled(&mut self, domain: usize, level: Option<Level>) {
        if let Some(figures) = self.domains.get_mut(domain) {
            figures.level = level;
        }
    }

    /// What `level` of the domain number `domain` carries, in kB/s; 0 without such a domain.
    pub fn kbps_of(&self, domain: usize, level: Level) -> u64 {
        self.domains.get(domain).map_or(0, |figures| figures.table.kbps_of(level).0)
    }

    /// A figure of `domain`; of all domains their sum, for reaction times the greatest. `None` where
    /// it is unknown: nothing was read, nothing voted, nothing late, no such domain.
    pub fn figure(&self, what: JournalMeasure, domain: Option<&str>) -> Option<f64> {
        if let Some(name) = domain {
            let index = self.names.iter().position(|known| known == name)?;
            return self.domains.get(index)?.figure(what);
        }
        let known = self.domains.iter().filter_map(|figures| figures.figure(what));
        use JournalMeasure as J;
        match what {
            J::ReactionUsP50 | J::ReactionUsP99 => known.reduce(f64::max),
            _ => known.reduce(|a, b| a + b),
        }
    }
}

impl Figures {
    fn tick(&mut self, tick: Ticked) {
        let span = u128::from(tick.span.0);
        let began = self.now;
        self.now = self.now.plus(tick.span);
        let before = self.level;
        if let Some(peak) = tick.peak {
            self.read = self.read.plus(tick.span);
            self.peak_kbps_ns += u128::from(peak.0) * span;
            if before.is_some_and(|level| peak > self.table.kbps_of(level)) {
                self.below = self.below.plus(tick.span);
                let since = *self.late_since.get_or_insert(began);
                if tick.level.is_some_and(|level| peak <= self.table.kbps_of(level)) {
                    self.reacted(since);
                }
            } else {
                self.late_since = None;
            }
        }
        if let Some(level) = before {
            self.voted = self.voted.plus(tick.span);
            self.vote_kbps_ns += u128::from(self.table.kbps_of(level).0) * span;
        }
        self.transitions +=
            u64::from(before.is_some() && tick.level.is_some_and(|l| Some(l) != before));
        self.faults += u64::from(tick.fault);
        self.level = tick.level.or(before);
    }

    fn reacted(&mut self, since: Nanos) {
        self.reactions_us.push(self.now.since(since).as_us());
        self.late_since = None;
    }

    fn figure(&self, what: JournalMeasure) -> Option<f64> {
        use JournalMeasure as J;
        let per = |sum: u128, time: Nanos| (time.0 > 0).then(|| sum as f64 / time.0 as f64);
        let voted = (self.voted.0 > 0).then_some(());
        match what {
            J::MeanKbps => per(self.peak_kbps_ns, self.read),
            J::MeanVoteKbps => per(self.vote_kbps_ns, self.voted),
            J::VoteIntegralKbpsS => voted.map(|()| self.vote_kbps_ns as f64 / Nanos::PER_S as f64),
            J::Transitions => voted.map(|()| self.transitions as f64),
            J::BelowDemandMs => {
                let known = self.read.0 > 0 && self.voted.0 > 0;
                known.then(|| self.below.0 as f64 / Nanos::PER_MS as f64)
            }
            J::ReactionUsP50 => self.percentile(50),
            J::ReactionUsP99 => self.percentile(99),
            J::Faults => (self.now.0 > 0).then_some(self.faults as f64),
        }
    }

    /// The nearest-rank percentile.
    fn percentile(&self, percent: usize) -> Option<f64> {
        let mut sorted = self.reactions_us.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.checked_sub(1)?).map(|us| *us as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    const MS: u64 = Nanos::PER_MS;

    /// Four ticks of 4 ms on the seed's board (800000, 1804000, 2188000, ...): quiet, late, late but
    /// answered, quiet.
    fn counted() -> Meter {
        let mut meter = Meter::new(&builtin("sdm845-seed").unwrap().unwrap());
        meter.settled(0, Some(Level(0)));
        for (peak, level) in [(500_000, 0), (1_500_000, 0), (1_500_000, 1), (1_500_000, 1)] {
            let tick = Ticked {
                span: Nanos(4 * MS),
                peak: Some(Kbps(peak)),
                level: Some(Level(level)),
                fault: false,
            };
            meter.tick(0, tick);
        }
        meter
    }

    #[test]
    fn figures_of_a_rise_are_what_a_reader_of_the_journal_would_count() {
        let meter = counted();
        let ddr = |what| meter.figure(what, None);
        use JournalMeasure as J;
        // (500000 + 3 * 1500000) / 4
        assert_eq!(ddr(J::MeanKbps), Some(1_250_000.0));
        // In force for the ticks: 0, 0, 0, 1.
        assert_eq!(ddr(J::MeanVoteKbps), Some((3.0 * 800_000.0 + 1_804_000.0) / 4.0));
        assert_eq!(ddr(J::VoteIntegralKbpsS), Some((3.0 * 800_000.0 + 1_804_000.0) * 0.004));
        assert_eq!((ddr(J::Transitions), ddr(J::BelowDemandMs)), (Some(1.0), Some(8.0)));
        // From the start of the first late tick to the end of the tick that answered: 8 ms.
        assert_eq!((ddr(J::ReactionUsP50), ddr(J::ReactionUsP99)), (Some(8_000.0), Some(8_000.0)));
    }

    #[test]
    fn what_was_not_read_or_not_voted_is_unknown_and_not_zero() {
        let mut meter = Meter::new(&builtin("sdm845-seed").unwrap().unwrap());
        let tick = Ticked { span: Nanos(MS), peak: None, level: None, fault: false };
        meter.tick(0, tick);
        use JournalMeasure as J;
        for what in
            [J::MeanKbps, J::MeanVoteKbps, J::Transitions, J::BelowDemandMs, J::ReactionUsP50]
        {
            assert_eq!(meter.figure(what, None), None, "{what:?}");
        }
        assert_eq!(meter.figure(J::Faults, None), Some(0.0));
        assert_eq!(meter.figure(J::Faults, Some("no such domain")), None);
    }
}
