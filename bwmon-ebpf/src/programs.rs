//! One program per tracepoint. Each writes every field of its record, padding included.

use crate::copy::{Event, Unreadable, emit};
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use bwmon_common::field;
use bwmon_common::{
    BwmonUpdate, CpuFrequency, DevfreqFrequency, DevfreqMonitor, IccSetBw, IccSetBwEnd, Kind,
};

/// Writes one field of a reserved record.
macro_rules! put {
    ($record:ident . $field:ident = $value:expr) => {{
        let value = $value;
        // SAFETY: the record is reserved memory of exactly this type.
        unsafe { (&raw mut (*$record).$field).write(value) }
    }};
}

/// The address of a name in a reserved record.
macro_rules! name {
    ($record:ident . $field:ident) => {
        // SAFETY: an address only; the record is reserved memory of exactly this type.
        unsafe { &raw mut (*$record).$field }
    };
}

/// A consumer's vote arrives at a node.
#[tracepoint]
pub(crate) fn icc_set_bw(ctx: TracePointContext) -> u32 {
    use field::icc_set_bw as f;
    emit(Kind::IccSetBw, &ctx, |e: &Event<'_>, r: *mut IccSetBw| -> Result<(), Unreadable> {
        put!(r.avg_kbps = e.number(f::AVG)?);
        put!(r.peak_kbps = e.number(f::PEAK)?);
        put!(r.node_avg_kbps = e.number(f::NODE_AVG)?);
        put!(r.node_peak_kbps = e.number(f::NODE_PEAK)?);
        e.text(f::PATH, name!(r.path))?;
        e.text(f::DEV, name!(r.dev))?;
        e.text(f::NODE, name!(r.node))
    })
}

/// A consumer's vote is done, or failed.
#[tracepoint]
pub(crate) fn icc_set_bw_end(ctx: TracePointContext) -> u32 {
    use field::icc_set_bw_end as f;
    emit(Kind::IccSetBwEnd, &ctx, |e: &Event<'_>, r: *mut IccSetBwEnd| {
        put!(r.ret = e.number(f::RET)?);
        put!(r.pad = 0);
        e.text(f::PATH, name!(r.path))?;
        e.text(f::DEV, name!(r.dev))
    })
}

/// A devfreq device changed its frequency.
#[tracepoint]
pub(crate) fn devfreq_frequency(ctx: TracePointContext) -> u32 {
    use field::devfreq_frequency as f;
    emit(Kind::DevfreqFrequency, &ctx, |e: &Event<'_>, r: *mut DevfreqFrequency| {
        put!(r.freq_hz = e.number(f::FREQ)?);
        put!(r.prev_hz = e.number(f::PREV)?);
        e.text(f::DEV, name!(r.dev))
    })
}

/// A polling devfreq governor looked at its device.
#[tracepoint]
pub(crate) fn devfreq_monitor(ctx: TracePointContext) -> u32 {
    use field::devfreq_monitor as f;
    emit(Kind::DevfreqMonitor, &ctx, |e: &Event<'_>, r: *mut DevfreqMonitor| {
        put!(r.freq_hz = e.number(f::FREQ)?);
        put!(r.busy_time = e.number(f::BUSY)?);
        put!(r.total_time = e.number(f::TOTAL)?);
        put!(r.polling_ms = e.number(f::POLLING)?);
        put!(r.pad = 0);
        e.text(f::DEV, name!(r.dev))
    })
}

/// The kernel's bwmon driver handled an interrupt.
#[tracepoint]
pub(crate) fn qcom_bwmon_update(ctx: TracePointContext) -> u32 {
    use field::bwmon_update as f;
    emit(Kind::BwmonUpdate, &ctx, |e: &Event<'_>, r: *mut BwmonUpdate| {
        put!(r.meas_kbps = e.number(f::MEAS)?);
        put!(r.up_kbps = e.number(f::UP)?);
        put!(r.down_kbps = e.number(f::DOWN)?);
        put!(r.pad = 0);
        e.text(f::NAME, name!(r.name))
    })
}

/// A CPU changed its frequency.
#[tracepoint]
pub(crate) fn cpu_frequency(ctx: TracePointContext) -> u32 {
    use field::cpu_frequency as f;
    emit(Kind::CpuFrequency, &ctx, |e: &Event<'_>, r: *mut CpuFrequency| {
        put!(r.khz = e.number(f::KHZ)?);
        put!(r.target_cpu = e.number(f::CPU)?);
        Ok(())
    })
}
