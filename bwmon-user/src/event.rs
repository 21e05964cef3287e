//! What the probes report, as the agent sees it: one value per tracepoint hit.
//!
//! Fields and their meaning come from the kernel's trace headers
//! (`drivers/interconnect/trace.h`, `include/trace/events/{devfreq,power}.h`,
//! `drivers/soc/qcom/trace_icc-bwmon.h`).

use crate::units::{Hz, Kbps, Khz, Nanos};
use serde::Serialize;

/// One probe event with the moment and CPU at which the kernel emitted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProbeRecord {
    /// `bpf_ktime_get_ns`: `CLOCK_MONOTONIC`.
    pub t_ns: Nanos,
    /// The CPU on which the tracepoint fired.
    pub cpu: u32,
    /// In whose context; `None` in the idle task's, where it is nobody's doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Writer>,
    /// What happened.
    #[serde(flatten)]
    pub event: ProbeEvent,
}

/// The process in whose context an event fired: for a write to sysfs, the one that wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Writer {
    /// Its process number.
    pub pid: u32,
    /// The name of the task that ran, at most 15 characters.
    pub comm: String,
}

impl Writer {
    /// Named like a thread of the kernel, which works off what others asked for and says nothing
    /// about them. A process can call itself so too.
    pub fn is_kernel(&self) -> bool {
        ["kworker/", "irq/", "ksoftirqd/"].iter().any(|start| self.comm.starts_with(start))
    }
}

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let comm: String = self.comm.chars().map(crate::diag::printable).collect();
        match self.is_kernel() {
            true => write!(f, "the kernel ({comm})"),
            false => write!(f, "{comm}[{}]", self.pid),
        }
    }
}

/// What happened, one variant per tracepoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ProbeEvent {
    /// `interconnect:icc_set_bw`: once per node of a path, before constraints are applied.
    IccSetBw {
        /// `<src node>-<dst node>` of the path.
        path: String,
        /// The consumer device that votes.
        dev: String,
        /// The node of this event.
        node: String,
        /// This consumer's average vote.
        #[serde(rename = "avg_kBps")]
        avg_kbps: Kbps,
        /// This consumer's peak vote.
        #[serde(rename = "peak_kBps")]
        peak_kbps: Kbps,
        /// The node's sum of averages, after this vote.
        #[serde(rename = "node_avg_kBps")]
        node_avg_kbps: Kbps,
        /// The node's maximum of peaks, after this vote.
        #[serde(rename = "node_peak_kBps")]
        node_peak_kbps: Kbps,
    },
    /// `interconnect:icc_set_bw_end`: once per vote; `ret != 0` means that it was rolled back
    /// without another `icc_set_bw`.
    IccSetBwEnd {
        /// `<src node>-<dst node>` of the path.
        path: String,
        /// The consumer device that voted.
        dev: String,
        /// 0 or a negative errno.
        ret: i32,
    },
    /// `devfreq:devfreq_frequency`: a device really changed its frequency.
    DevfreqFrequency {
        /// The devfreq device.
        dev: String,
        /// The new frequency.
        freq_hz: Hz,
        /// The frequency before.
        prev_hz: Hz,
    },
    /// `devfreq:devfreq_monitor`: a polling governor looked at a device.
    DevfreqMonitor {
        /// The devfreq device.
        dev: String,
        /// Its frequency.
        freq_hz: Hz,
        /// Busy time in the driver's own unit.
        busy_time: u64,
        /// Total time in the driver's own unit.
        total_time: u64,
        /// The polling interval.
        polling_ms: u32,
    },
    /// `icc_bwmon:qcom_bwmon_update`: the kernel's bwmon driver handled an interrupt.
    BwmonUpdate {
        /// The monitor's platform device.
        name: String,
        /// The measured bandwidth: (count + 1) units, before rounding to an OPP.
        #[serde(rename = "meas_kBps")]
        meas_kbps: Kbps,
        /// The threshold now programmed for going up.
        #[serde(rename = "up_kBps")]
        up_kbps: Kbps,
        /// The threshold now programmed for coming down.
        #[serde(rename = "down_kBps")]
        down_kbps: Kbps,
    },
    /// `power:cpu_frequency`: a CPU changed its frequency.
    CpuFrequency {
        /// Which CPU.
        target_cpu: u32,
        /// Its new frequency.
        khz: Khz,
    },
}

impl ProbeEvent {
    /// The tracepoint's name, as under `events/` in tracefs.
    pub fn tracepoint(&self) -> &'static str {
        match self {
            Self::IccSetBw { .. } => "interconnect:icc_set_bw",
            Self::IccSetBwEnd { .. } => "interconnect:icc_set_bw_end",
            Self::DevfreqFrequency { .. } => "devfreq:devfreq_frequency",
            Self::DevfreqMonitor { .. } => "devfreq:devfreq_monitor",
            Self::BwmonUpdate { .. } => "icc_bwmon:qcom_bwmon_update",
            Self::CpuFrequency { .. } => "power:cpu_frequency",
        }
    }
}
