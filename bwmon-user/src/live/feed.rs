//! The probes and what is remembered of their events: the source asks at each tick, the actuator
//! when it finds that somebody else wrote. Clones share them.

use super::probes::ProbeSet;
use crate::board::Board;
use crate::event::ProbeRecord;
use crate::facts::FactBook;
use crate::sample::{ProbeFacts, Reading};
use crate::units::Nanos;
use crate::writers::named;
use std::cell::RefCell;
use std::rc::Rc;

/// Reading the counters of lost events takes a few system calls.
const LOST_EVERY: Nanos = Nanos(Nanos::PER_S);

/// A handle to the probes' events.
#[derive(Clone, Default)]
pub(super) struct Feed(Rc<RefCell<Inner>>);

#[derive(Default)]
struct Inner {
    probes: Option<ProbeSet>,
    facts: FactBook,
    events: Vec<ProbeRecord>,
    lost_read: Option<Nanos>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}

impl Feed {
    /// Events of `probes`.
    pub(super) fn of(probes: Option<ProbeSet>) -> Self {
        Self(Rc::new(RefCell::new(Inner { probes, ..Inner::default() })))
    }

    /// Takes what has come by `now`, and writes the facts for `board` into `facts`.
    pub(super) fn facts(&self, now: Nanos, board: &Board, facts: &mut ProbeFacts) {
        let mut inner = self.0.borrow_mut();
        inner.take();
        inner.count_lost(now);
        inner.facts.facts(board, facts);
    }

    /// As [`FactBook::kernel_reading`].
    pub(super) fn kernel_reading(&self, device: &str) -> Reading {
        self.0.borrow_mut().facts.kernel_reading(device)
    }

    /// Events lost since the start; `None` without probes, or if the kernel does not answer.
    pub(super) fn lost(&self) -> Option<u64> {
        self.0.borrow().probes.as_ref().and_then(|probes| probes.reader.lost().ok())
    }

    /// Who changed one of `objects` after `since`, in words to append; empty if no probe saw it.
    /// The write may have come after this tick's sample, so what is there is taken first.
    pub(super) fn who(&self, objects: &[String], since: Nanos) -> String {
        let mut inner = self.0.borrow_mut();
        inner.take();
        let writers = inner.facts.writers();
        let us = std::process::id();
        let mut by = objects.iter().filter_map(|object| writers.after(object, since, us));
        by.next().map(named).unwrap_or_default()
    }

    /// Takes `record` as if a probe had reported it.
    #[cfg(test)]
    pub(super) fn play(&self, record: ProbeRecord) {
        self.0.borrow_mut().facts.take(record);
    }
}

impl Inner {
    fn take(&mut self) {
        let Some(probes) = &mut self.probes else { return };
        probes.reader.drain(&mut self.events);
        for event in self.events.drain(..) {
            self.facts.take(event);
        }
    }

    fn count_lost(&mut self, now: Nanos) {
        let Some(probes) = &self.probes else { return };
        if self.lost_read.is_none_or(|at| now.since(at) >= LOST_EVERY) {
            // A kernel that does not answer leaves the number unknown.
            if let Ok(lost) = probes.reader.lost() {
                self.facts.lost(lost);
            }
            self.lost_read = Some(now);
        }
    }
}
