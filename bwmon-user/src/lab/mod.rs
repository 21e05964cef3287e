//! Where experiments are done: runs on the model and on machines, and the folder of their results.

pub mod machine;
mod rig;

pub use rig::{Job, Outcome, Rig};
