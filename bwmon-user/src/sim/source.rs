//! The simulator's doors: the real driver over the model's registers, and the plant's levels.

use super::block::Block;
use super::{KernelDriver, Plant, VirtualClock};
use crate::board::Board;
use crate::bwmon::{Driver, Poll};
use crate::ports::{Actuator, Clock, CounterSource, Outcome, SourceError};
use crate::sample::{Missing, Reading, Sample, Window};
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use std::cell::RefCell;
use std::rc::Rc;

/// Who reads the monitors of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measuring {
    /// The agent polls the registers.
    Polled,
    /// The kernel's driver answers interrupts; the agent sees its updates.
    Kernel,
}

enum Monitor {
    Polled(Driver<Block>),
    Kernel(KernelDriver),
    /// No domain names it.
    Unused,
}

/// Samples of a simulated machine.
pub struct SimSource {
    /// Each monitor with the domain whose traffic it sees.
    monitors: Vec<(Monitor, usize)>,
    plant: Rc<RefCell<Plant>>,
    clock: VirtualClock,
    last: Nanos,
    domains: usize,
}

impl SimSource {
    /// The monitors of `board`, started.
    pub fn new(
        board: &Board,
        plant: Rc<RefCell<Plant>>,
        clock: VirtualClock,
        measuring: Measuring,
    ) -> Self {
        let now = clock.now();
        let monitors = board.monitors.iter().enumerate().map(|(index, monitor)| {
            let Some((domain, described)) =
                board.domains.iter().enumerate().find(|(_, d)| d.monitor == Some(index))
            else {
                return (Monitor::Unused, 0);
            };
            let block = Block::new(monitor.layout, monitor.scale.unit_kb, monitor.force_clear);
            let mut driver = Driver::new(block, monitor.layout, monitor.scale, monitor.force_clear);
            let monitor = match measuring {
                Measuring::Polled => {
                    driver.start_polled(now);
                    Monitor::Polled(driver)
                }
                Measuring::Kernel => {
                    Monitor::Kernel(KernelDriver::new(driver, described.table.clone(), now))
                }
            };
            (monitor, domain)
        });
        let monitors = monitors.collect();
        Self { monitors, plant, clock, last: now, domains: board.domains.len() }
    }
}

impl CounterSource for SimSource {
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
        let now = self.clock.now();
        let mut plant = self.plant.borrow_mut();
        sample.window = Window { start_ns: self.last, end_ns: now };
        let mut from = self.last;
        while from < now {
            let to = plant.step_end(from, now);
            plant.step(from, to);
            // 19.2 MHz: 12 ticks are 625 ns; counted from zero, so that no fraction is lost.
            let ticks = (to.0 * 12 / 625 - from.0 * 12 / 625).min(u64::from(u32::MAX)) as u32;
            for (monitor, domain) in &mut self.monitors {
                monitor.run(ticks, plant.bytes(*domain));
            }
            from = to;
        }
        if self.monitors.iter().any(|(monitor, _)| matches!(monitor, Monitor::Polled(_))) {
            plant.polled();
        }
        sample.monitors.clear();
        for (monitor, _) in &mut self.monitors {
            sample.monitors.push(monitor.read(now));
        }
        // What the probes would report of such a machine.
        sample.probes.others_kbps.clear();
        sample.probes.others_kbps.extend((0..self.domains).map(|domain| plant.others(domain)));
        sample.probes.cpu_max_khz = plant.cpu_max_khz();
        sample.probes.lost_events = Some(0);
        self.last = now;
        Ok(())
    }
}

impl Monitor {
    fn run(&mut self, ticks: u32, bytes: u64) {
        match self {
            Self::Polled(driver) => driver.registers_mut().run(ticks, bytes),
            Self::Kernel(driver) => driver.run(ticks, bytes),
            Self::Unused => {}
        }
    }

    fn read(&mut self, now: Nanos) -> Reading {
        match self {
            Self::Polled(driver) => match driver.poll(now) {
                Poll::Counts { maxima, elapsed } => {
                    Reading::Polled { zone_max: maxima, elapsed_ns: elapsed }
                }
                Poll::NoWholeWindow { .. } => Reading::Missing(Missing::NoWholeWindow),
            },
            Self::Kernel(driver) => driver.handle(now),
            Self::Unused => Reading::Missing(Missing::Absent),
        }
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

    fn release(&mut self) -> Vec<Outcome> {
        Vec::new()
    }
}
