//! The words between the agent and its clients: JSON objects, one per line, over a Unix socket.
//! Description for other programs: docs/control.md.

mod answer;
mod ask;
mod hold;
mod policy_use;

pub use answer::{Answer, Code};
pub use ask::{Ask, MAX_EVERY_MS, MIN_EVERY_MS, parse};
pub use hold::HoldAsk;
pub use policy_use::PolicyUse;

/// The protocol's version, the number behind `bwmon` in every request.
pub const PROTOCOL: u64 = 1;

/// Bytes of a request from somebody who may change something: a policy with its settings fits.
pub const MAX_REQUEST: usize = 512 * 1024;

/// Bytes of a request from somebody who may only read.
pub const MAX_READ_REQUEST: usize = 4 * 1024;
