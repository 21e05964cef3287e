//! How many events a second the probes take, and what one costs the traced kernel path.
//!
//! `cargo run --release -p bwmon-user --example probe_rate [seconds [per_second]]`, as root. The
//! `cpu_frequency` probe is attached to a system call that nobody makes; one thread makes it as
//! fast as it can while another reads every 2 ms. Prints one JSON object.
#![allow(
    clippy::disallowed_methods,
    reason = "a measurement: it reads the clock, sleeps and starts threads"
)]

use anyhow::{Context, Result};
use bwmon_common::Kind;
use bwmon_user::live::probes::{Loader, ProbeSet, StandIn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const GETPRIORITY: StandIn = StandIn {
    group: "syscalls",
    event: "sys_enter_getpriority",
    fields: &[("state", "__syscall_nr"), ("cpu_id", "__syscall_nr")],
};

/// Calls between two looks at the clock.
const BURST: u64 = 64;

/// The reader looks this often. A reader that spins would be the slower one: each record that it
/// waits for makes the kernel wake it.
const PAUSE: Duration = Duration::from_millis(2);

fn main() -> Result<()> {
    let number = |place, unless: u64| match std::env::args().nth(place) {
        Some(text) => text.parse().with_context(|| format!("`{text}` is no number")),
        None => Ok(unless),
    };
    let (seconds, rate) = (number(1, 5)?, number(2, 0)?);
    let span = Duration::from_secs(seconds);
    let (bare, bare_ns) = calls(span / 5, 0);
    let set = Loader::embedded()?
        .only(&[Kind::CpuFrequency])
        .stand_in(Kind::CpuFrequency, GETPRIORITY)
        .load()?;
    let ProbeSet { mut reader, guard, .. } = set;
    let stop = AtomicBool::new(false);
    let (read, (made, traced_ns)) = std::thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let made = calls(span, rate);
            stop.store(true, Ordering::Release);
            made
        });
        let mut read = 0_u64;
        let mut records = Vec::new();
        loop {
            let last = stop.load(Ordering::Acquire);
            records.clear();
            read += reader.drain(&mut records) as u64;
            if last && records.is_empty() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        (read, caller.join().unwrap_or_default())
    });
    let counts = reader.counts()?;
    drop(guard);
    let per_second = made / seconds.max(1);
    println!(
        "{}",
        serde_json::json!({
            "seconds": seconds, "calls": made, "read": read,
            "emitted": counts.emitted_of(Kind::CpuFrequency), "lost": counts.all_lost(),
            "events_per_s": per_second, "call_ns_bare": bare_ns, "call_ns_traced": traced_ns,
            "bare_calls": bare,
        })
    );
    Ok(())
}

/// Makes the call until the time is over, at most `rate` times a second unless that is 0; answers
/// how often, and the mean time from one to the next.
fn calls(span: Duration, rate: u64) -> (u64, u64) {
    let start = Instant::now();
    let mut made = 0_u64;
    loop {
        let ns = start.elapsed().as_nanos() as u64;
        if u128::from(ns) >= span.as_nanos() {
            return (made, ns / made.max(1));
        }
        if rate > 0 && made.saturating_mul(1_000_000_000) / rate > ns {
            std::hint::spin_loop();
            continue;
        }
        for _ in 0..BURST {
            let _ = rustix::process::getpriority_process(None);
        }
        made += BURST;
    }
}
