//! Tests against this machine's own kernel. They need root and a built object; without, they say
//! so and pass, except under `CI=true`.
//!
//! A build machine has no interconnect and no devfreq device, so each probe stands in for an
//! event that every kernel fires and whose fields have the same types.

use super::*;
use crate::event::{ProbeEvent, ProbeRecord};
use bwmon_common::Kind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Fired by sending a packet: the interface's name, the packet's address and length.
const SEND: StandIn = StandIn {
    group: "net",
    event: "net_dev_queue",
    fields: &[
        ("path_name", "name"),
        ("dev", "name"),
        ("node_name", "name"),
        ("dev_name", "name"),
        ("avg_bw", "len"),
        ("peak_bw", "len"),
        ("node_avg_bw", "len"),
        ("node_peak_bw", "len"),
        ("freq", "skbaddr"),
        ("prev_freq", "skbaddr"),
        ("busy_time", "skbaddr"),
        ("total_time", "skbaddr"),
        ("polling_ms", "len"),
    ],
};

/// Fired by starting a program: its path, and its process id twice.
const EXEC: StandIn = StandIn {
    group: "sched",
    event: "sched_process_exec",
    fields: &[
        ("path_name", "filename"),
        ("dev", "filename"),
        ("ret", "pid"),
        ("name", "filename"),
        ("meas_kbps", "pid"),
        ("up_kbps", "old_pid"),
        ("down_kbps", "pid"),
    ],
};

/// Fired by one system call that hardly anybody makes.
const GETPRIORITY: StandIn = StandIn {
    group: "syscalls",
    event: "sys_enter_getpriority",
    fields: &[("state", "__syscall_nr"), ("cpu_id", "__syscall_nr")],
};

/// The events are the whole machine's: one test must not flood another one's ring buffer.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A loader and the turn to use it, or the reason why these tests cannot run here.
fn loader() -> Option<(MutexGuard<'static, ()>, Loader)> {
    let why = match Loader::embedded() {
        Ok(_) if !rustix::process::geteuid().is_root() => "not root".to_owned(),
        // A turn that ended in a failed test is as good as any other.
        Ok(loader) => {
            return Some((ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner), loader));
        }
        Err(e) => e.to_string(),
    };
    assert!(std::env::var("CI").as_deref() != Ok("true"), "cannot run under CI: {why}");
    eprintln!("skipped: {why}");
    None
}

fn getpriority(times: usize) {
    for _ in 0..times {
        let _ = rustix::process::getpriority_process(None);
    }
}

/// Sends a datagram of so many bytes to this machine, and answers the frame's length.
fn send(payload: usize) -> u64 {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let sent = socket.send_to(&vec![0; payload], socket.local_addr().unwrap()).unwrap();
    // Ethernet, IPv4 and UDP headers.
    (14 + 20 + 8 + sent) as u64
}

/// Runs a program with this path, and answers its process id.
fn execute(path: &std::path::Path) -> u32 {
    let mut child = std::process::Command::new(path).spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn what_this_kernel_has_is_attached_and_the_rest_is_named() {
    let Some((_turn, loader)) = loader() else { return };
    let probes = loader.load().unwrap();
    let (here, gone) = (&probes.attached, &probes.absent);
    assert_eq!(here.len() + gone.len(), Kind::COUNT);
    for gone in gone {
        eprintln!("absent: {}: {}; lost: {}", gone.event, gone.why, gone.lost);
        assert!(gone.why.contains("no such event"), "{}: {}", gone.event, gone.why);
    }
    for here in here {
        eprintln!("attached: {}", here.event);
    }
    assert_eq!(probes.reader.lost().unwrap(), 0);
}

#[test]
fn every_program_passes_the_verifier_and_copies_what_happened() {
    let Some((_turn, loader)) = loader() else { return };
    let mut probes = loader
        .stand_in(Kind::IccSetBw, SEND)
        .stand_in(Kind::IccSetBwEnd, EXEC)
        .stand_in(Kind::DevfreqFrequency, SEND)
        .stand_in(Kind::DevfreqMonitor, SEND)
        .stand_in(Kind::BwmonUpdate, EXEC)
        .stand_in(Kind::CpuFrequency, GETPRIORITY)
        .load()
        .unwrap();
    assert_eq!(probes.attached.len(), Kind::COUNT, "{:?}", probes.absent);
    let dir = tempfile::tempdir().unwrap();
    // The probes copy 47 bytes of a name; this path is longer, the other one is not.
    let long = dir.path().join("a-name-longer-than-the-probes-copy-from-the-kernel");
    std::os::unix::fs::symlink("/bin/true", &long).unwrap();
    let (short_pid, long_pid) = (execute("/bin/true".as_ref()), execute(&long));
    getpriority(1);
    let frame = send(333);
    let mut records = Vec::new();
    probes.reader.drain(&mut records);
    assert_eq!(probes.reader.counts().unwrap().foreign, 0);

    for kind in Kind::ALL {
        let name = format!("{}:{}", kind.group(), kind.event());
        let these: Vec<_> = records.iter().filter(|r| r.event.tracepoint() == name).collect();
        assert!(!these.is_empty(), "no record of {name}");
        let odd = these.iter().find(|r| !plausible(r));
        assert_eq!(odd, None);
    }
    assert!(records.iter().any(|r| voted(r, frame)), "no icc_set_bw of {frame}");
    let cut: String = long.to_str().unwrap().chars().take(47).chain(['…']).collect();
    for (pid, path) in [(short_pid, "/bin/true"), (long_pid, cut.as_str())] {
        assert!(ended(&records, pid, path), "no icc_set_bw_end with {pid} {path}");
        assert!(updated(&records, pid, path), "no qcom_bwmon_update with {pid} {path}");
    }
}

fn plausible(record: &ProbeRecord) -> bool {
    // Kernel addresses lie in the upper half on all 64-bit machines.
    let address = |n: u64| n >> 63 == 1;
    let fields = match &record.event {
        ProbeEvent::DevfreqFrequency { dev, freq_hz, prev_hz } => {
            !dev.is_empty() && address(freq_hz.0) && freq_hz == prev_hz
        }
        ProbeEvent::DevfreqMonitor { dev, freq_hz, busy_time, total_time, polling_ms } => {
            let same = freq_hz.0 == *busy_time && busy_time == total_time;
            !dev.is_empty() && same && address(*busy_time) && *polling_ms > 0
        }
        ProbeEvent::CpuFrequency { target_cpu, khz } => u64::from(*target_cpu) == khz.0,
        _ => true,
    };
    fields && record.t_ns.0 > 0 && record.cpu < 4096
}

fn voted(record: &ProbeRecord, frame: u64) -> bool {
    match &record.event {
        ProbeEvent::IccSetBw {
            path,
            dev,
            node,
            avg_kbps,
            peak_kbps,
            node_avg_kbps,
            node_peak_kbps,
        } => {
            let all = [avg_kbps, peak_kbps, node_avg_kbps, node_peak_kbps];
            all.iter().all(|k| k.0 == frame) && [path, dev, node].iter().all(|n| *n == "lo")
        }
        _ => false,
    }
}

fn ended(records: &[ProbeRecord], pid: u32, file: &str) -> bool {
    records.iter().any(|r| match &r.event {
        ProbeEvent::IccSetBwEnd { path, dev, ret } => {
            *ret == pid.cast_signed() && path == file && dev == file
        }
        _ => false,
    })
}

fn updated(records: &[ProbeRecord], pid: u32, file: &str) -> bool {
    records.iter().any(|r| match &r.event {
        ProbeEvent::BwmonUpdate { name, meas_kbps, down_kbps, .. } => {
            meas_kbps.0 == u64::from(pid) && meas_kbps == down_kbps && name == file
        }
        _ => false,
    })
}

#[test]
fn nothing_is_lost_while_it_is_read_and_what_is_lost_is_counted() {
    let Some((_turn, loader)) = loader() else { return };
    let said = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&said);
    let mut probes = loader
        .only(&[Kind::CpuFrequency])
        .stand_in(Kind::CpuFrequency, GETPRIORITY)
        .warnings(move |message| hear.lock().unwrap().push(message.to_owned()))
        .load()
        .unwrap();

    // The ring holds 16384 records of this kind (24 bytes and a header of 8).
    let (rounds, batch) = (40, 5_000);
    let mut records = Vec::new();
    for _ in 0..rounds {
        getpriority(batch);
        probes.reader.drain(&mut records);
    }
    let counts = probes.reader.counts().unwrap();
    assert_eq!(counts.all_lost(), 0, "{counts:?}");
    assert_eq!(counts.emitted_of(Kind::CpuFrequency), records.len() as u64);
    assert!(records.len() >= rounds * batch);
    assert!(said.lock().unwrap().is_empty());

    // Now unread until it overflows.
    records.clear();
    getpriority(40_000);
    while probes.reader.drain(&mut records) > 0 {}
    let after = probes.reader.counts().unwrap();
    let row = Kind::CpuFrequency.index();
    let emitted = after.emitted[row] - counts.emitted[row];
    assert_eq!(emitted, records.len() as u64);
    assert!(emitted + after.lost[row] >= 40_000, "{after:?}");
    assert!(after.lost[row] > 0 && probes.reader.lost().unwrap() == after.lost[row]);
    let said = said.lock().unwrap();
    assert!(said.iter().all(|s| s.contains("ring buffer full")), "{said:?}");
    let cpus = std::thread::available_parallelism().unwrap().get();
    assert!((1..=cpus).contains(&said.len()), "once per CPU: {said:?}");
}

#[test]
fn a_runtime_is_woken_by_records() {
    let Some((_turn, loader)) = loader() else { return };
    let probes = loader
        .only(&[Kind::CpuFrequency])
        .stand_in(Kind::CpuFrequency, GETPRIORITY)
        .load()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ProbeSet { reader, guard, .. } = probes;
    runtime.block_on(async {
        let mut reader = AsyncProbeReader::new(reader).unwrap();
        let mut records = Vec::new();
        for round in 1..=3 {
            getpriority(10);
            let wanted = records.len() + 10;
            while records.len() < wanted {
                let wait = std::time::Duration::from_secs(10);
                let woken = tokio::time::timeout(wait, reader.readable(&mut records)).await;
                woken.unwrap_or_else(|_| panic!("not woken in round {round}")).unwrap();
            }
        }
        assert_eq!(reader.get_ref().lost().unwrap(), 0);
    });
    drop(guard);
}

#[test]
fn dropping_the_guard_detaches() {
    let Some((_turn, loader)) = loader() else { return };
    let probes = loader
        .only(&[Kind::CpuFrequency])
        .stand_in(Kind::CpuFrequency, GETPRIORITY)
        .load()
        .unwrap();
    let ProbeSet { mut reader, guard, .. } = probes;
    drop(guard);
    let mut records = Vec::new();
    reader.drain(&mut records);
    records.clear();
    getpriority(100);
    assert_eq!(reader.drain(&mut records), 0);
}
