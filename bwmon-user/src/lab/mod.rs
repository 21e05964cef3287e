//! Where experiments are done: runs on the model and on machines, and the folder of their results.

mod collect;
mod folder;
pub mod machine;
mod merge;
mod prepared;
mod rig;
mod simulated;
mod trace;
mod tune;

pub use collect::{Todo, Work, collect, run_name};
pub use folder::{FOLDER_SCHEMA, Folder, Plan, Writer, complete, sorted};
pub use merge::merge;
pub use prepared::{Prepared, Sources, Unprepared, UsedPolicy};
pub use rig::{Job, Outcome, Rig};
pub use simulated::SimulatedRig;
pub use trace::{DomainTrace, TRACE_FILE, TracePoint, Tracer, traces_of};
pub use tune::{Found, Search, Tried, search};
