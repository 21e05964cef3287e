//! Boards: the monitors of a machine, the domains they measure, their OPP tables.

mod basis;
mod builtin;
mod cpu;
pub mod devicetree;
mod faults;
pub mod fitted;
mod merge;
mod parse;
mod read_back;
mod table;
mod variant;
mod write;

pub use basis::Basis;
pub use builtin::{builtin, builtin_ids, builtin_text};
pub use cpu::{CpuOpp, CpuOpps};
pub use faults::faults;
pub use merge::{Difference, Merged, Origin, merge};
pub use parse::parse;
pub use table::{Level, MAX_COLUMNS, OppTable, TableError};
pub use variant::{VARIANTS, Variant, variant};
pub use write::to_toml;

use crate::bwmon::{CountScale, Layout, TIMER_HZ};
use crate::units::{Hz, Khz};
use serde::{Deserialize, Serialize};

/// Length of a window in the mainline driver's variants: 4 ms.
pub const WINDOW_TICKS: u32 = (TIMER_HZ / 250) as u32;

/// The largest count unit: downstream trees go up to 4 MB.
pub const MAX_UNIT_KB: u32 = 65_536;

/// One machine or SoC: its monitors, its domains, their OPP tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// Short name, as after `--board`.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Root `compatible` strings of the device trees that this board describes.
    pub compatible: Vec<String>,
    /// Where the facts come from.
    pub source: String,
    /// The BWMON blocks.
    pub monitors: Vec<Monitor>,
    /// What is governed. Never empty.
    pub domains: Vec<Domain>,
    /// CPU OPPs with their bandwidth votes, one table per cluster; empty where CPUs vote nothing.
    pub cpu_opps: Vec<CpuOpps>,
}

/// One BWMON block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Monitor {
    /// Name within the board.
    pub name: String,
    /// Device-tree node, `pmu@<address>`.
    pub node: String,
    /// The node's compatible strings, most specific first. The driver matches the last ones.
    pub compatible: Vec<String>,
    /// Register layout.
    pub layout: Layout,
    /// Address and size of each region: one, or two in the split layout.
    pub reg: Vec<(u64, u64)>,
    /// How it counts.
    pub scale: CountScale,
    /// Clear bits do not clear themselves (NEEDS_FORCE_CLEAR in the driver).
    pub force_clear: bool,
    /// GIC SPI number of its interrupt.
    pub irq_spi: Option<u32>,
    /// Another monitor shares the interrupt line, so that UIO cannot have it.
    pub irq_shared: bool,
    /// The mapping must be non-posted (`nonposted-mmio`).
    pub nonposted_mmio: bool,
    /// What is not certain about its count unit, and who says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl Monitor {
    /// The platform device's name under `/sys/bus/platform/devices`: `<address>.<node name>`.
    pub fn device(&self) -> String {
        match self.node.split_once('@') {
            Some((name, address)) => format!("{address}.{name}"),
            None => self.node.clone(),
        }
    }
}

/// What is governed: an interconnect path or clock with an OPP table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Name within the board.
    pub name: String,
    /// Index into [`Board::monitors`] of the monitor that measures it.
    pub monitor: Option<usize>,
    /// Ends of the interconnect path, as the device tree writes them.
    pub path: Option<(String, String)>,
    /// Names of the interconnect nodes at both ends, as the tracepoints print them.
    pub icc_nodes: Option<(String, String)>,
    /// The tags at both ends of the path; where they differ the kernel sets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icc_tags: Option<(u32, u32)>,
    /// The levels.
    pub table: OppTable,
    /// The devfreq device through which this domain can be voted, if there is one.
    pub devfreq: Option<DevfreqPath>,
    /// The interconnect paths through which it can be voted, one per column of the table; empty
    /// without such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icc: Vec<IccPath>,
    /// The block of a vendor kernel's aggregator through which it can be voted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_dcvs: Option<BusDcvsPath>,
    /// The device of the project's kernel module through which it can be voted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<VoteDevice>,
}

/// A platform device whose own interconnect paths the kernel module `bwmon_vote` votes on
/// (`bwmon-user/kmod/bwmon_vote`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteDevice {
    /// Its name under `/sys/bus/platform/devices`: the monitor's own, or another.
    pub device: String,
    /// Its path for each column of the table: an index, or a name in `interconnect-names`.
    pub paths: Vec<String>,
}

/// An interconnect path, for the kernel's test client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IccPath {
    /// The node where it begins, as in `interconnect_summary`.
    pub src: String,
    /// The node where it ends.
    pub dst: String,
    /// When the vote counts: 3 while the CPUs are active (AMC and WAKE), 7 always. 0 would be taken
    /// as always by the kernel, and is not allowed here.
    #[serde(default = "active_only")]
    pub tag: u32,
}

/// QCOM_ICC_TAG_ACTIVE_ONLY (dt-bindings/interconnect/qcom,icc.h).
fn active_only() -> u32 {
    3
}

/// A block under `/sys/devices/system/cpu/bus_dcvs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusDcvsPath {
    /// Its name: `DDR`, `LLCC`, `L3`.
    pub hw: String,
    /// The frequency of each level, lowest first; as long as the OPP table.
    #[serde(rename = "freq_kHz")]
    pub freq_khz: Vec<Khz>,
}

/// Which files of a devfreq device are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DevfreqKnob {
    /// The governor `userspace` and its `set_freq`.
    #[default]
    Userspace,
    /// `min_freq` and `max_freq`; the governor stays.
    Limits,
}

/// How a domain's levels become frequencies of a devfreq device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevfreqPath {
    /// Name under `/sys/class/devfreq`.
    pub device: String,
    /// The frequency of each level, lowest first; as long as the OPP table.
    pub freq_hz: Vec<Hz>,
    /// Which files are written.
    #[serde(default)]
    pub through: DevfreqKnob,
}

impl Board {
    /// Checks what the types do not: for boards that come from elsewhere than a board file.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), String> {
        if self.domains.is_empty() {
            return Err("the board has no domains".into());
        }
        for monitor in &self.monitors {
            let scale = monitor.scale;
            let fits = scale.window_ticks > 0
                && scale.window_ticks >> monitor.layout.window_bits() == 0
                && (1..=MAX_UNIT_KB).contains(&scale.unit_kb);
            if !fits {
                return Err(format!("monitor {} cannot count so: {scale:?}", monitor.name));
            }
        }
        match self.domains.iter().find(|d| d.monitor.is_some_and(|m| m >= self.monitors.len())) {
            Some(domain) => Err(format!("domain {} has a monitor that is not there", domain.name)),
            None => Ok(()),
        }
    }

    /// The index of the domain called `name`.
    pub fn domain_index(&self, name: &str) -> Option<usize> {
        self.domains.iter().position(|domain| domain.name == name)
    }

    /// The monitor of `domain`, if it has one.
    pub fn monitor_of(&self, domain: &Domain) -> Option<&Monitor> {
        domain.monitor.and_then(|index| self.monitors.get(index))
    }
}
