//! The simulator: the block at register level, a plant that answers to levels, workloads, and a
//! clock that jumps. It stands behind the same doors as a machine.

pub mod block;
mod calibrating;
mod calibration;
mod clock;
mod cpufreq;
mod flow;
mod kernel;
mod paths;
mod plant;
mod resource;
pub mod scenario;
pub mod seed_table;
mod shape;
mod source;
mod traffic;
mod workload;

pub use calibrating::SimRig;
pub use calibration::{Calibration, Row, SEED_TABLE, SeedTable};
pub use clock::VirtualClock;
pub use cpufreq::CpufreqVotes;
pub use kernel::KernelDriver;
pub use paths::DomainTotals;
pub use plant::Plant;
pub use resource::ResourceTotals;
pub use shape::Shape;
pub use source::{Measuring, SimActuator, SimSource};
pub use traffic::{Caches, Cost, Kind};
pub use workload::{Phase, Stream, Workload, builtin_workload, builtin_workload_names};

use crate::board::Board;
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// How a simulated machine is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The machine: its clocks, caches and CPU OPPs. The governed board may be another description
    /// of it, as the seed's is.
    pub physical: Board,
    /// Which of cpufreq's votes reach the paths.
    pub votes: CpufreqVotes,
    /// Who reads the monitors.
    pub measuring: Measuring,
    /// Costs and capacities.
    pub calibration: Calibration,
}

impl Setup {
    /// A machine like `board`: polled, and cpufreq votes for what is not governed.
    ///
    /// # Errors
    /// Never: the calibration ships in the binary.
    pub fn of(board: &Board) -> Result<Self, crate::diag::Diagnostic> {
        Ok(Self {
            physical: board.clone(),
            votes: CpufreqVotes::Ungoverned,
            measuring: Measuring::Polled,
            calibration: Calibration::seed()?,
        })
    }
}

/// A simulated machine: its doors, and the plant behind them.
pub struct Simulation {
    /// Samples: the driver over the register-level blocks.
    pub source: SimSource,
    /// Votes: the plant's levels.
    pub actuator: SimActuator,
    /// Virtual time.
    pub clock: VirtualClock,
    plant: Rc<RefCell<Plant>>,
}

impl Simulation {
    /// A machine set up as `setup`, governed through `board`, under `workload`, at virtual time 0.
    pub fn new(board: &Board, workload: Workload, setup: Setup) -> Self {
        let clock = VirtualClock::default();
        let Setup { physical, votes, measuring, calibration } = setup;
        let plant = Plant::new(&physical, board, workload, votes, calibration);
        let plant = Rc::new(RefCell::new(plant));
        Self {
            source: SimSource::new(board, plant.clone(), clock.clone(), measuring),
            actuator: SimActuator::new(plant.clone()),
            clock,
            plant,
        }
    }

    /// The machine, for what happened.
    pub fn plant(&self) -> Ref<'_, Plant> {
        self.plant.borrow()
    }
}
