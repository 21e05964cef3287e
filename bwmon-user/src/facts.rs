//! Probe events folded into what the road uses. Pure: the events come in, facts are asked for.

use crate::board::Board;
use crate::event::{ProbeEvent, ProbeRecord};
use crate::sample::{Missing, ProbeFacts, Reading};
use crate::units::{Kbps, Khz};
use crate::writers::Writers;
use std::collections::BTreeMap;

/// Consumers that are remembered; a machine has a few dozen.
const MAX_VOTES: usize = 1_024;

/// What is remembered of the events.
#[derive(Debug, Default)]
pub struct FactBook {
    /// Peak votes by node, consumer and path.
    votes: BTreeMap<VoteKey, Kbps>,
    /// What votes of an unfinished `icc_set_bw` were before it, by consumer and path.
    before: BTreeMap<(String, String), Vec<Changed>>,
    cpus: BTreeMap<u32, Khz>,
    updates: BTreeMap<String, Update>,
    writers: Writers,
    lost: Option<u64>,
    /// More consumers than are remembered: what the others vote is no longer known.
    overflowed: bool,
}

type VoteKey = (String, String, String);

/// A vote that was changed, and what it was before.
type Changed = (VoteKey, Option<Kbps>);

#[derive(Clone, Copy, Debug)]
struct Update {
    meas: Kbps,
    up: Kbps,
    down: Kbps,
    count: u32,
}

impl FactBook {
    /// Takes one event.
    pub fn take(&mut self, record: ProbeRecord) {
        self.writers.note(&record);
        match record.event {
            ProbeEvent::IccSetBw { path, dev, node, peak_kbps, .. } => {
                let key = (node, dev.clone(), path.clone());
                if self.votes.len() >= MAX_VOTES && !self.votes.contains_key(&key) {
                    self.overflowed = true;
                    return;
                }
                let old = self.votes.insert(key.clone(), peak_kbps);
                self.before.entry((dev, path)).or_default().push((key, old));
            }
            ProbeEvent::IccSetBwEnd { path, dev, ret } => self.vote_done(dev, path, ret),
            ProbeEvent::BwmonUpdate { name, meas_kbps, up_kbps, down_kbps } => {
                // The last one is what the kernel's vote follows.
                let count = self.updates.get(&name).map_or(0, |update| update.count) + 1;
                let update = Update { meas: meas_kbps, up: up_kbps, down: down_kbps, count };
                self.updates.insert(name, update);
            }
            ProbeEvent::CpuFrequency { target_cpu, khz } => {
                self.cpus.insert(target_cpu, khz);
            }
            ProbeEvent::DevfreqFrequency { .. } | ProbeEvent::DevfreqMonitor { .. } => {}
        }
    }

    /// A failed vote is rolled back by the kernel without another event.
    fn vote_done(&mut self, dev: String, path: String, ret: i32) {
        let Some(changed) = self.before.remove(&(dev, path)) else { return };
        if ret == 0 {
            return;
        }
        for (key, old) in changed.into_iter().rev() {
            match old {
                Some(kbps) => self.votes.insert(key, kbps),
                None => self.votes.remove(&key),
            };
        }
    }

    /// Notes how many events were lost since the start.
    pub fn lost(&mut self, lost: u64) {
        self.lost = Some(lost);
    }

    /// Who last changed what is voted through.
    pub fn writers(&self) -> &Writers {
        &self.writers
    }

    /// The facts for `board`, written into `facts`.
    pub fn facts(&self, board: &Board, facts: &mut ProbeFacts) {
        facts.others_kbps.clear();
        facts.others_kbps.extend(board.domains.iter().map(|domain| {
            let (node, _) = domain.icc_nodes.as_ref().filter(|_| !self.overflowed)?;
            // The monitor's own device is the kernel's governor, not somebody else.
            let own = board.monitor_of(domain).map(crate::board::Monitor::device);
            let votes = self
                .votes
                .iter()
                .filter(|((n, dev, _), _)| n == node && own.as_deref() != Some(dev.as_str()));
            votes.map(|(_, kbps)| *kbps).max()
        }));
        facts.cpu_max_khz = self.cpus.values().copied().max();
        facts.lost_events = self.lost;
    }

    /// What the kernel's driver said about the monitor `device` since the last call.
    pub fn kernel_reading(&mut self, device: &str) -> Reading {
        match self.updates.remove(device) {
            Some(update) => Reading::Kernel {
                meas_kbps: update.meas,
                up_kbps: update.up,
                down_kbps: update.down,
                updates: update.count,
            },
            None => Reading::Missing(Missing::NoUpdate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::units::Nanos;

    fn take(book: &mut FactBook, event: ProbeEvent) {
        book.take(ProbeRecord { t_ns: Nanos(0), cpu: 0, by: None, event });
    }

    fn vote(book: &mut FactBook, dev: &str, peak: u64, ret: i32) {
        let path = "acm_l3-qns_llcc".to_owned();
        take(
            book,
            ProbeEvent::IccSetBw {
                path: path.clone(),
                dev: dev.into(),
                node: "acm_l3".into(),
                avg_kbps: Kbps(0),
                peak_kbps: Kbps(peak),
                node_avg_kbps: Kbps(0),
                node_peak_kbps: Kbps(peak),
            },
        );
        take(book, ProbeEvent::IccSetBwEnd { path, dev: dev.into(), ret });
    }

    fn others(book: &FactBook) -> Option<Kbps> {
        let mut facts = ProbeFacts::default();
        book.facts(&builtin("sdm845").unwrap().unwrap(), &mut facts);
        facts.others_kbps[0]
    }

    #[test]
    fn others_is_the_highest_vote_besides_the_kernels_governor() {
        let mut book = FactBook::default();
        assert_eq!(others(&book), None);
        vote(&mut book, "cpu0", 800_000, 0);
        vote(&mut book, "gpu", 3_072_000, 0);
        vote(&mut book, "1436400.pmu", 7_216_000, 0);
        assert_eq!(others(&book), Some(Kbps(3_072_000)));
    }

    #[test]
    fn a_failed_vote_is_taken_back_as_the_kernel_does() {
        let mut book = FactBook::default();
        vote(&mut book, "cpu0", 800_000, 0);
        vote(&mut book, "cpu0", 7_216_000, -22);
        assert_eq!(others(&book), Some(Kbps(800_000)));
        vote(&mut book, "gpu", 7_216_000, -22);
        assert_eq!(others(&book), Some(Kbps(800_000)));
    }

    #[test]
    fn of_several_updates_in_a_tick_the_last_counts_as_it_does_for_the_kernel() {
        let mut book = FactBook::default();
        for (meas, up) in [(8_192_000, 7_216_001), (336_000, 800_001)] {
            take(
                &mut book,
                ProbeEvent::BwmonUpdate {
                    name: "1.pmu".into(),
                    meas_kbps: Kbps(meas),
                    up_kbps: Kbps(up),
                    down_kbps: Kbps(800_000),
                },
            );
        }
        let Reading::Kernel { meas_kbps, up_kbps, updates, .. } = book.kernel_reading("1.pmu")
        else {
            panic!("an update was taken");
        };
        assert_eq!((meas_kbps, up_kbps, updates), (Kbps(336_000), Kbps(800_001), 2));
        assert_eq!(book.kernel_reading("1.pmu"), Reading::Missing(Missing::NoUpdate));
    }
}
