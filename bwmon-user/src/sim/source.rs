//! The simulator's doors: the real driver over the model's registers, and the plant's levels.

use super::block::Block;
use super::{Plant, VirtualClock};
use crate::board::Board;
use crate::bwmon::{Driver, Poll};
use crate::ports::{Actuator, Clock, CounterSource, SourceError};
use crate::sample::{Missing, ProbeFacts, Reading, Sample, Window};
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use std::cell::RefCell;
use std::rc::Rc;

struct Measured {
    driver: Driver<Block>,
    /// The domain whose traffic it sees; `None` for a monitor that no domain names.
    domain: Option<usize>,
}

/// Samples of a simulated machine.
pub struct SimSource {
    monitors: Vec<Measured>,
    plant: Rc<RefCell<Plant>>,
    clock: VirtualClock,
    last: Nanos,
    domains: usize,
}

impl SimSource {
    /// The monitors of `board`, started.
    pub fn new(board: &Board, plant: Rc<RefCell<Plant>>, clock: VirtualClock) -> Self {
        let now = clock.now();
        let monitors = board
            .monitors
            .iter()
            .enumerate()
            .map(|(index, monitor)| {
                let block = Block::new(monitor.layout, monitor.scale.unit_kb, monitor.force_clear);
                let mut driver =
                    Driver::new(block, monitor.layout, monitor.scale, monitor.force_clear);
                driver.start_polled(now);
                let domain = board.domains.iter().position(|d| d.monitor == Some(index));
                Measured { driver, domain }
            })
            .collect();
        Self { monitors, plant, clock, last: now, domains: board.domains.len() }
    }
}

impl CounterSource for SimSource {
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
        let now = self.clock.now();
        let mut plant = self.plant.borrow_mut();
        plant.step(self.last, now);
        // 19.2 MHz: 12 ticks are 625 ns.
        let ticks = (now.since(self.last).0 * 12 / 625).min(u64::from(u32::MAX)) as u32;
        sample.window = Window { start_ns: self.last, end_ns: now };
        sample.monitors.resize(self.monitors.len(), Reading::Missing(Missing::NotStarted));
        for (monitor, reading) in self.monitors.iter_mut().zip(&mut sample.monitors) {
            let bytes = monitor.domain.map_or(0, |domain| plant.bytes(domain));
            monitor.driver.registers_mut().run(ticks, bytes);
            *reading = match monitor.driver.poll(now) {
                Poll::Counts { maxima, elapsed } => {
                    Reading::Polled { zone_max: maxima, elapsed_ns: elapsed }
                }
                Poll::NoWholeWindow { .. } => Reading::Missing(Missing::NoWholeWindow),
            };
        }
        if sample.probes.others_kbps.len() != self.domains {
            sample.probes =
                ProbeFacts { others_kbps: vec![None; self.domains], ..ProbeFacts::default() };
        }
        self.last = now;
        Ok(())
    }
}

/// Votes of a simulated machine.
pub struct SimActuator {
    plant: Rc<RefCell<Plant>>,
}

impl SimActuator {
    /// Votes for `plant`.
    pub fn new(plant: Rc<RefCell<Plant>>) -> Self {
        Self { plant }
    }
}

impl Actuator for SimActuator {
    fn apply(&mut self, vote: &Vote) -> Applied {
        if !vote.change {
            return Applied::InForce;
        }
        self.plant.borrow_mut().set_level(vote.domain, vote.level);
        Applied::Placed
    }

    fn release(&mut self) -> Result<(), Vec<String>> {
        Ok(())
    }
}
