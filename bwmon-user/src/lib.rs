//! The agent (this file is a stand-in until the real one is merged).

pub mod units;

pub mod event;

/// What touches the machine.
pub mod live {
    pub mod probes;
}
