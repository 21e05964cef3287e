//! The simulator: the block at register level, a plant that answers to levels, workloads, and a
//! clock that jumps. It stands behind the same doors as a machine.

pub mod block;
mod clock;
mod plant;
mod source;
mod workload;

pub use clock::VirtualClock;
pub use plant::{DomainTotals, Plant};
pub use source::{SimActuator, SimSource};
pub use workload::{Phase, Shape, Workload, builtin_workload, builtin_workload_names};

use crate::board::Board;
use std::cell::RefCell;
use std::rc::Rc;

/// A simulated machine: its doors, and the plant behind them.
pub struct Simulation {
    /// Samples: the driver polling the register-level blocks.
    pub source: SimSource,
    /// Votes: the plant's levels.
    pub actuator: SimActuator,
    /// Virtual time.
    pub clock: VirtualClock,
    plant: Rc<RefCell<Plant>>,
}

impl Simulation {
    /// A machine like `board` under `workload`, at virtual time 0.
    pub fn new(board: &Board, workload: Workload) -> Self {
        let clock = VirtualClock::default();
        let plant = Rc::new(RefCell::new(Plant::new(board, workload)));
        Self {
            source: SimSource::new(board, plant.clone(), clock.clone()),
            actuator: SimActuator::new(plant.clone()),
            clock,
            plant,
        }
    }

    /// What happened on each domain so far.
    pub fn totals(&self) -> Vec<DomainTotals> {
        self.plant.borrow().totals().to_vec()
    }
}
