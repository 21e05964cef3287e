//! The machine behind the doors.

mod actuator;
mod binding;
mod bus_dcvs;
mod capabilities;
mod clock;
mod devfreq;
mod devfreq_limits;
mod devmem;
mod icc_client;
pub mod icc_summary;
mod journal_file;
mod lock;
mod machine;
pub mod probes;
mod restore;
mod root;
mod source;
mod spec_folder;
mod standing;
mod takeover;
mod text;
mod voter;

pub use actuator::{LiveActuator, PathDescription};
pub use capabilities::{Capability, Report, doctor};
pub use clock::MonotonicClock;
pub use devfreq::{DevfreqError, DevfreqVoter};
pub use devmem::{MappedRegisters, RegisterError};
pub use journal_file::FileJournal;
pub use lock::{AgentLock, LockError};
pub use machine::Machine;
pub use restore::{DEFAULT_STATE_DIR, Item, RestoreError, RestoreFile};
pub use root::Root;
pub use source::{LiveMonitor, LiveSource};
pub use spec_folder::SpecFolder;
pub use takeover::{Mode, Takeover, takeover};
pub use text::text_of;
