//! The probes: six tracepoint programs that copy facts into one ring buffer.
//!
//! They hold no opinions: no thresholds, no filtering, no arithmetic. Field offsets come from the
//! loader ([`OFFSETS`]), since kernels may lay events out differently. What could not be handed
//! over is counted per CPU.
//!
//! Built by `cargo xtask build-ebpf`. On any other target this is an empty program, so that
//! checks and lints of the whole workspace need no BPF toolchain.
#![cfg_attr(target_arch = "bpf", no_std, no_main)]
#![allow(unsafe_code, reason = "BPF helpers, maps and kernel memory are reached through pointers")]

mod copy;
mod programs;

use aya_ebpf::macros::map;
use aya_ebpf::maps::{PerCpuArray, RingBuf};
use bwmon_common::{ABI_VERSION, Counters, EVENTS_BYTES, Offsets};

/// All records.
#[map]
static EVENTS: RingBuf = RingBuf::with_byte_size(EVENTS_BYTES, 0);

/// One element: what happened on each CPU.
#[map]
static COUNTERS: PerCpuArray<Counters> = PerCpuArray::with_max_entries(1, 0);

/// Filled by the loader before the kernel sees it.
#[unsafe(export_name = "BWMON_OFFSETS")]
static OFFSETS: Offsets = Offsets::NONE;

/// Read from the object by the loader; nothing here uses it.
#[used]
#[unsafe(export_name = "BWMON_ABI_VERSION")]
static ABI: u32 = ABI_VERSION;

/// `bpf_probe_read_kernel` and the tracepoint program type want a GPL-compatible license.
#[used]
#[unsafe(link_section = "license")]
#[unsafe(export_name = "LICENSE")]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

#[cfg(not(target_arch = "bpf"))]
fn main() {}

#[cfg(target_arch = "bpf")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The verifier accepts no program from which this can be reached.
    loop {}
}
