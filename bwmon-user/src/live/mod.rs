//! The machine behind the doors.

mod actuator;
mod binding;
mod blocks;
mod capabilities;
mod clock;
mod devfreq;
pub mod devicetree;
mod devmem;
mod identity;
pub mod in_force;
mod journal_file;
mod lock;
mod machine;
pub mod probes;
pub mod reached;
mod restore;
mod root;
mod source;
mod takeover;
pub mod votes;
mod ways;

pub use actuator::{LiveActuator, PathDescription};
pub use blocks::{BlockState, block_state};
pub use capabilities::{Capability, Report, doctor};
pub use clock::MonotonicClock;
pub use devfreq::{DevfreqError, DevfreqVoter};
pub use devmem::{MappedRegisters, RegisterError};
pub use identity::Identity;
pub use journal_file::FileJournal;
pub use lock::{AgentLock, LockError};
pub use machine::Machine;
pub use restore::{DEFAULT_STATE_DIR, Item, RestoreError, RestoreFile};
pub use root::Root;
pub use source::{LiveMonitor, LiveSource};
pub use takeover::{Mode, Takeover, takeover};
pub use ways::{Way, ways};
