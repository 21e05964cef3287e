//! Policies that are wrong on purpose. An expectation that holds for all of them says nothing.

use crate::board::{Board, Level, OppTable};
use crate::observe::Observation;
use crate::policy::{Ask, Policy, PolicyFault, Proposal};
use crate::units::{Kbps, Nanos};
use std::collections::VecDeque;

/// How late [`Wrong::Late`] is.
const LATE: Nanos = Nanos(500 * Nanos::PER_MS);

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Lowest,
    Top,
    Flapping,
    OneUnder,
    Late,
    Hold,
}

impl Wrong {
    /// All of them, those first that break most.
    pub(super) const ALL: [Self; 6] =
        [Self::Lowest, Self::Top, Self::Flapping, Self::OneUnder, Self::Late, Self::Hold];

    /// For messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lowest => "always the lowest level",
            Self::Top => "always the highest level",
            Self::Flapping => "highest and lowest by turns",
            Self::OneUnder => "one level under the demand",
            Self::Late => "the demand of 500 ms ago",
            Self::Hold => "never a vote",
        }
    }
}

/// One of them, for a board.
pub(super) struct Adversary {
    wrong: Wrong,
    domains: Vec<(OppTable, Memory)>,
}

#[derive(Clone, Debug, Default)]
struct Memory {
    up: bool,
    /// Demands that are not yet late enough, oldest first.
    demands: VecDeque<(Nanos, Kbps)>,
    late: Option<Kbps>,
}

impl Adversary {
    pub(super) fn new(wrong: Wrong, board: &Board) -> Self {
        let domains = board.domains.iter().map(|d| (d.table.clone(), Memory::default())).collect();
        Self { wrong, domains }
    }
}

impl Policy for Adversary {
    fn name(&self) -> &str {
        self.wrong.name()
    }

    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let (Some(obs), Some((table, memory))) = (all.get(domain), self.domains.get_mut(domain))
        else {
            return Ok(Proposal::new(Ask::Hold, ""));
        };
        let peak = obs.measured.map(|measured| measured.peak_kbps);
        let ask = match self.wrong {
            Wrong::Lowest => Ask::Min,
            Wrong::Top => Ask::Max,
            Wrong::Hold => Ask::Hold,
            Wrong::Flapping => {
                memory.up = !memory.up;
                if memory.up { Ask::Max } else { Ask::Min }
            }
            Wrong::OneUnder => match peak {
                Some(peak) => Ask::Opp(Level(table.ceil(peak).0.saturating_sub(1))),
                None => Ask::Hold,
            },
            Wrong::Late => memory.late(obs.now, peak),
        };
        Ok(Proposal::new(ask, ""))
    }

    fn reset(&mut self, domain: usize) {
        if let Some((_, memory)) = self.domains.get_mut(domain) {
            *memory = Memory::default();
        }
    }
}

impl Memory {
    fn late(&mut self, now: Nanos, peak: Option<Kbps>) -> Ask {
        self.demands.extend(peak.map(|peak| (now, peak)));
        while let Some((_, peak)) = self.demands.front().filter(|(at, _)| now.since(*at) >= LATE) {
            self.late = Some(*peak);
            self.demands.pop_front();
        }
        self.late.map_or(Ask::Min, Ask::Demand)
    }
}
