//! Copying from an event's record into the ring buffer.
#![allow(
    clippy::indexing_slicing,
    reason = "rows and columns are constants; a bound that could fail would not pass the verifier"
)]

use crate::{COUNTERS, EVENTS, OFFSETS};
use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::generated::bpf_probe_read_kernel_str;
use aya_ebpf::helpers::{
    bpf_get_current_comm, bpf_get_current_pid_tgid, bpf_get_smp_processor_id, bpf_ktime_get_ns,
};
use aya_ebpf::maps::ring_buf::RingBufEntry;
use aya_ebpf::programs::TracePointContext;
use aya_log_ebpf::warn;
use bwmon_common::{COMM_BYTES, Counters, Header, Kind, NAME_BYTES, Name};

/// A field could not be read.
pub(crate) struct Unreadable;

/// One firing of a tracepoint.
pub(crate) struct Event<'a> {
    kind: Kind,
    ctx: &'a TracePointContext,
}

impl Event<'_> {
    /// Where this event's field lies. Volatile: the compiler must not fold the zeros of the
    /// object in, the loader replaces them.
    #[inline(always)]
    fn offset(&self, column: usize) -> usize {
        // SAFETY: a static array; kind and column are constants within its bounds.
        unsafe {
            core::ptr::read_volatile(&raw const OFFSETS.at[self.kind.index()][column]) as usize
        }
    }

    /// The number in this column.
    #[inline(always)]
    pub(crate) fn number<T>(&self, column: usize) -> Result<T, Unreadable> {
        // SAFETY: the helper checks the address; T is an integer.
        unsafe { self.ctx.read_at(self.offset(column)) }.map_err(|_| Unreadable)
    }

    /// Copies the string of this `__data_loc` column.
    #[inline(always)]
    pub(crate) fn text(&self, column: usize, to: *mut Name) -> Result<(), Unreadable> {
        let loc: u32 = self.number(column)?;
        let (len, at) = (loc >> 16, (loc & 0xffff) as usize);
        // SAFETY: `to` lies in a reserved record; the helper checks the address it reads from and
        // writes at most NAME_BYTES.
        let got = unsafe {
            let from = self.ctx.as_ptr().cast::<u8>().add(at);
            let bytes = (&raw mut (*to).bytes).cast();
            bpf_probe_read_kernel_str(bytes, NAME_BYTES as u32, from.cast())
        };
        let (len, flags) = if got <= 0 {
            (0, Name::UNREADABLE)
        } else if len as usize > NAME_BYTES {
            (got as u32 - 1, Name::TRUNCATED)
        } else {
            (got as u32 - 1, 0)
        };
        // SAFETY: as above.
        unsafe {
            (&raw mut (*to).len).write(len);
            (&raw mut (*to).flags).write(flags);
        }
        Ok(())
    }
}

/// Reserves a record, lets `fill` write everything behind the header, and hands it over. Counts
/// what became of it.
#[inline(always)]
pub(crate) fn emit<T: 'static>(
    kind: Kind,
    ctx: &TracePointContext,
    fill: impl FnOnce(&Event<'_>, *mut T) -> Result<(), Unreadable>,
) -> u32 {
    let Some(counters) = COUNTERS.get_ptr_mut(0) else { return 0 };
    let row = kind.index();
    let Some(entry) = EVENTS.reserve::<T>(0) else {
        // SAFETY: a map value of this CPU; programs of this type do not nest on a CPU.
        let lost = unsafe { bump(&raw mut (*counters).lost[row]) };
        if lost == 1 {
            warn_full(ctx);
        }
        return 0;
    };
    fill_entry(kind, ctx, counters, entry, fill);
    0
}

#[inline(always)]
fn fill_entry<T: 'static>(
    kind: Kind,
    ctx: &TracePointContext,
    counters: *mut Counters,
    mut entry: RingBufEntry<T>,
    fill: impl FnOnce(&Event<'_>, *mut T) -> Result<(), Unreadable>,
) {
    let row = kind.index();
    let record = entry.as_mut_ptr();
    let header = Header {
        kind: kind as u32,
        // SAFETY: helpers without arguments.
        cpu: unsafe { bpf_get_smp_processor_id() },
        t_ns: unsafe { bpf_ktime_get_ns() },
        pid: (bpf_get_current_pid_tgid() >> 32) as u32,
        pad: 0,
        comm: bpf_get_current_comm().unwrap_or([0; COMM_BYTES]),
    };
    // SAFETY: every record starts with a Header; the entry is aligned to 8 bytes.
    unsafe { record.cast::<Header>().write(header) };
    match fill(&Event { kind, ctx }, record) {
        Ok(()) => {
            // Before the record can be seen, so that a reader never has more than was counted.
            // SAFETY: as for `lost`.
            unsafe { bump(&raw mut (*counters).emitted[row]) };
            entry.submit(0);
        }
        Err(Unreadable) => {
            entry.discard(0);
            // SAFETY: as for `lost`.
            if unsafe { bump(&raw mut (*counters).unreadable[row]) } == 1 {
                warn_unreadable(ctx);
            }
        }
    }
}

#[inline(always)]
unsafe fn bump(counter: *mut u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        *counter += 1;
        *counter
    }
}

// Not inlined: a log call is some two hundred instructions that hardly ever run.

#[cold]
#[inline(never)]
fn warn_full(ctx: &TracePointContext) {
    warn!(ctx, "ring buffer full: records are being lost (said once per CPU and event)");
}

#[cold]
#[inline(never)]
fn warn_unreadable(ctx: &TracePointContext) {
    warn!(ctx, "a field could not be read (said once per CPU and event)");
}
