//! The agent's configuration: one TOML file to values that are checked once. What each key means, and
//! its default, stands in the example, which is part of the binary.

mod parse;
mod words;

pub use parse::parse;
pub use words::{ModeName, OnExit, Readers};

use crate::metrics::MetricsPlan;
use crate::policy::canary::Rule;
use crate::product::GivenLimit;

/// A configuration with every key, all of them commented out.
pub const EXAMPLE: &str = include_str!("example.toml");

/// Where packages put it.
pub const DEFAULT_FILE: &str = "/etc/bwmon/bwmon.toml";

/// What a file says; what it does not say is left to the command line and the defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// What may be done to the machine.
    pub mode: Option<ModeName>,
    /// The board: a built-in one or a file.
    pub board: Option<String>,
    /// The policy: a file or one that is built in.
    pub policy: Option<String>,
    /// The product, whatever the machine is.
    pub product: Option<String>,
    /// Folders in which products are looked for.
    pub products: Vec<String>,
    /// Settings of the policy's head that belong together.
    pub preset: Option<String>,
    /// Names and values of tunables.
    pub params: Vec<(String, String)>,
    /// Limits, for all domains or for one.
    pub limits: Vec<GivenLimit>,
    /// Distance of the ticks.
    pub period_us: Option<u64>,
    /// Sleep until a block interrupts.
    pub interrupts: Option<bool>,
    /// Longest time between two ticks then.
    pub heartbeat_ms: Option<u64>,
    /// Take changed files when they are noticed.
    pub watch: Option<bool>,
    /// What becomes of the votes at the end.
    pub on_exit: Option<OnExit>,
    /// Where lock and restore file are.
    pub state_dir: Option<String>,
    /// Time and rule of a changed policy's canary.
    pub canary: Option<(u64, Rule)>,
    /// The journal.
    pub journal: JournalConfig,
    /// The control socket.
    pub control: ControlConfig,
    /// Where metrics are served.
    pub metrics_listen: Option<MetricsPlan>,
}

/// `[journal]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalConfig {
    /// The file.
    pub file: Option<String>,
    /// Megabytes (1,000,000 bytes) after which a new file begins.
    pub max_mb: Option<u64>,
    /// Older files that are kept beside it.
    pub keep: Option<u64>,
}

/// `[control]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlConfig {
    /// The socket; `none` for no socket.
    pub socket: Option<String>,
    /// The group that may change things; empty for root alone.
    pub group: Option<String>,
    /// Who may read.
    pub readers: Option<Readers>,
}
