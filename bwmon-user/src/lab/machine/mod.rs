//! Runs on a real machine: this one, or one that ssh reaches.
//!
//! Files of the machine are looked at and written through `host`; what was in them is noted
//! first. Policies run as agents of their own beside the workload, so that the lab needs nothing of
//! the machine but its files and its programs.

mod agent;
mod conditions;
mod energy;
mod environment;
mod host;
mod journal;
mod knobs;
mod measure;
mod note;
mod process;
mod put_back;
mod rig;
mod settings;
mod snapshot;
mod ssh;
mod stop;
mod subject;
mod trouble;
mod under;
mod work;

pub use put_back::put_back;
pub use rig::MachineRig;
pub use settings::{Settings, Site, SshTo};
