//! The records in the ring buffer: a [`Header`], numbers, then names.

use crate::NAME_BYTES;
use core::mem::offset_of;

/// The start of every record.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// A [`crate::Kind`] as number.
    pub kind: u32,
    /// The CPU on which the tracepoint fired.
    pub cpu: u32,
    /// `bpf_ktime_get_ns`: nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    /// The process in whose context it fired; 0 for the idle task.
    pub pid: u32,
    /// Zero.
    pub pad: u32,
    /// The task's name, NUL-terminated, in no promised encoding.
    pub comm: [u8; COMM_BYTES],
}

/// Bytes of a task's name: TASK_COMM_LEN.
pub const COMM_BYTES: usize = 16;

/// A string copied from the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// How many of `bytes` are the string, without NUL. What lies behind is undefined.
    pub len: u32,
    /// [`Name::TRUNCATED`], [`Name::UNREADABLE`].
    pub flags: u32,
    /// The string's bytes, in no promised encoding.
    pub bytes: [u8; NAME_BYTES],
}

impl Name {
    /// The kernel's string was longer.
    pub const TRUNCATED: u32 = 1;
    /// It could not be read; `len` is 0.
    pub const UNREADABLE: u32 = 2;
}

/// `interconnect:icc_set_bw`; bandwidths in kBps.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IccSetBw {
    /// The common start.
    pub header: Header,
    /// The consumer's average vote.
    pub avg_kbps: u32,
    /// The consumer's peak vote.
    pub peak_kbps: u32,
    /// The node's aggregated average.
    pub node_avg_kbps: u32,
    /// The node's aggregated peak.
    pub node_peak_kbps: u32,
    /// `<src node>-<dst node>`
    pub path: Name,
    /// The consumer.
    pub dev: Name,
    /// The node.
    pub node: Name,
}

/// `interconnect:icc_set_bw_end`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct IccSetBwEnd {
    /// The common start.
    pub header: Header,
    /// The result as the bits of an `i32`: 0 or a negative errno.
    pub ret: u32,
    /// Zero.
    pub pad: u32,
    /// `<src node>-<dst node>`
    pub path: Name,
    /// The consumer.
    pub dev: Name,
}

/// `devfreq:devfreq_frequency`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DevfreqFrequency {
    /// The common start.
    pub header: Header,
    /// The new frequency in Hz.
    pub freq_hz: u64,
    /// The frequency before, in Hz.
    pub prev_hz: u64,
    /// The devfreq device.
    pub dev: Name,
}

/// `devfreq:devfreq_monitor`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DevfreqMonitor {
    /// The common start.
    pub header: Header,
    /// The frequency in Hz.
    pub freq_hz: u64,
    /// Busy time in the driver's unit.
    pub busy_time: u64,
    /// Total time in the driver's unit.
    pub total_time: u64,
    /// The polling interval in ms.
    pub polling_ms: u32,
    /// Zero.
    pub pad: u32,
    /// The devfreq device.
    pub dev: Name,
}

/// `icc_bwmon:qcom_bwmon_update`; bandwidths in kBps.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BwmonUpdate {
    /// The common start.
    pub header: Header,
    /// Measured, before rounding to an OPP.
    pub meas_kbps: u32,
    /// The threshold for going up.
    pub up_kbps: u32,
    /// The threshold for coming down.
    pub down_kbps: u32,
    /// Zero.
    pub pad: u32,
    /// The monitor's platform device.
    pub name: Name,
}

/// `power:cpu_frequency`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CpuFrequency {
    /// The common start.
    pub header: Header,
    /// The new frequency in kHz.
    pub khz: u32,
    /// The CPU that it is about.
    pub target_cpu: u32,
}

const _: () = {
    assert!(size_of::<Header>() == 40 && offset_of!(Header, t_ns) == 8);
    assert!(offset_of!(Header, pid) == 16 && offset_of!(Header, comm) == 24);
    assert!(size_of::<Name>() == 8 + NAME_BYTES && NAME_BYTES.is_multiple_of(8));
    assert!(size_of::<IccSetBw>() == 56 + 3 * size_of::<Name>());
    assert!(offset_of!(IccSetBw, path) == 56);
    assert!(size_of::<IccSetBwEnd>() == 48 + 2 * size_of::<Name>());
    assert!(offset_of!(IccSetBwEnd, path) == 48);
    assert!(size_of::<DevfreqFrequency>() == 56 + size_of::<Name>());
    assert!(offset_of!(DevfreqFrequency, dev) == 56);
    assert!(size_of::<DevfreqMonitor>() == 72 + size_of::<Name>());
    assert!(offset_of!(DevfreqMonitor, dev) == 72);
    assert!(size_of::<BwmonUpdate>() == 56 + size_of::<Name>());
    assert!(offset_of!(BwmonUpdate, name) == 56);
    assert!(size_of::<CpuFrequency>() == 48);
    // The ring buffer aligns records to 8 bytes.
    assert!(align_of::<IccSetBw>() == 8 && align_of::<DevfreqMonitor>() == 8);
};
