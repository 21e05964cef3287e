//! Known traffic on this machine: reads or copies of a block, on one CPU, with a bound on memory and
//! time, and a note of how much was moved when.

use super::clock::MonotonicClock;
use super::root::Root;
use crate::calibrate::{Kind, Moved, Traffic};
use crate::ports::Clock;
use crate::units::Nanos;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Bytes between two looks at the clock: a fraction of what crosses a path in a window.
const CHUNK_BYTES: usize = 256 * 1024;

/// Longest time that a generator runs, whoever forgets to stop it.
const LONGEST: Nanos = Nanos(5 * Nanos::PER_S);

/// Why there is no traffic.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// Too little memory.
    #[error("{wanted} MiB of memory are needed for the traffic, half of {free} MiB may be taken")]
    Memory {
        /// MiB needed.
        wanted: u64,
        /// MiB free.
        free: u64,
    },
    /// The CPU cannot be had.
    #[error("cannot run on CPU {cpu}: {error}")]
    Cpu {
        /// The CPU.
        cpu: u32,
        /// What the system said.
        error: io::Error,
    },
    /// The thread cannot be started, or died.
    #[error("the traffic's thread: {0}")]
    Thread(String),
}

/// Traffic that runs until it is stopped.
pub struct Generator {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Moved, TrafficError>>,
}

impl Generator {
    /// Starts `traffic`, and waits until it flows.
    ///
    /// # Errors
    /// Why it does not.
    pub fn start(root: &Root, traffic: Traffic) -> Result<Self, TrafficError> {
        enough_memory(root, traffic)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let (flows, ready) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("bwmon-traffic".into())
            .spawn(move || flow(traffic, &stopped, &flows))
            .map_err(|error| TrafficError::Thread(error.to_string()))?;
        // An end without a word is an error, which the thread answers.
        if ready.recv().is_err() {
            return match thread.join() {
                Ok(Err(error)) => Err(error),
                _ => Err(TrafficError::Thread("it ended before it began".into())),
            };
        }
        Ok(Self { stop, thread })
    }

    /// Stops it, and says what was moved.
    ///
    /// # Errors
    /// If the thread died.
    pub fn finish(self) -> Result<Moved, TrafficError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err(TrafficError::Thread("it died".into())))
    }
}

/// At most half of what is free is taken. Where that is not known, nobody is asked.
fn enough_memory(root: &Root, traffic: Traffic) -> Result<(), TrafficError> {
    let text = std::fs::read_to_string(root.path("/proc/meminfo")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free_kb: Option<u64> = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let blocks = if traffic.kind == Kind::Copy { 2 } else { 1 };
    let wanted_kb = u64::from(traffic.block_kb) * blocks;
    match free_kb {
        Some(free_kb) if wanted_kb > free_kb / 2 => {
            Err(TrafficError::Memory { wanted: wanted_kb / 1024, free: free_kb / 1024 })
        }
        _ => Ok(()),
    }
}

fn flow(
    traffic: Traffic,
    stop: &AtomicBool,
    flows: &std::sync::mpsc::Sender<()>,
) -> Result<Moved, TrafficError> {
    if let Some(cpu) = traffic.cpu {
        let mut set = CpuSet::new();
        set.set(cpu as usize);
        sched_setaffinity(None, &set)
            .map_err(|error| TrafficError::Cpu { cpu, error: error.into() })?;
    }
    // Written once, so that every page is there: untouched ones are all the same page of zeros.
    let words = traffic.block_kb as usize * 1024 / 8;
    let source: Vec<u64> = (0..words as u64).collect();
    let mut target = if traffic.kind == Kind::Copy { source.clone() } else { Vec::new() };
    let chunk = (CHUNK_BYTES / 8).min(words).max(1);
    let clock = MonotonicClock;
    let begin = clock.now();
    let (mut marks, mut bytes) = (vec![(begin, 0)], 0u64);
    let _ = flows.send(());
    loop {
        match traffic.kind {
            Kind::Read => {
                for part in source.chunks(chunk) {
                    black_box(part.iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
                    bytes += part.len() as u64 * 8;
                    marks.push((clock.now(), bytes));
                }
            }
            Kind::Copy => {
                for (from, to) in source.chunks(chunk).zip(target.chunks_mut(chunk)) {
                    to.copy_from_slice(from);
                    black_box(&to);
                    bytes += from.len() as u64 * 8;
                    marks.push((clock.now(), bytes));
                }
            }
        }
        let late = marks.last().is_some_and(|(at, _)| at.since(begin) > LONGEST);
        if late || stop.load(Ordering::Relaxed) {
            return Ok(Moved::new(marks));
        }
    }
}

/// One CPU of each cluster: the first of each cpufreq policy, or CPU 0 where there is none.
pub fn one_cpu_per_cluster(root: &Root) -> Vec<u32> {
    let folder = root.path("/sys/devices/system/cpu/cpufreq");
    let policies = super::root::names(&folder).into_iter();
    let mut cpus: Vec<u32> = policies
        .filter_map(|policy| {
            let path = folder.join(policy).join("affected_cpus");
            let text = super::root::read_line(&path).ok()?;
            text.split_whitespace().next()?.parse().ok()
        })
        .collect();
    cpus.sort_unstable();
    cpus.dedup();
    // On machines where every CPU has its own policy, two tell as much as all.
    if cpus.is_empty() { vec![0] } else { cpus.into_iter().take(8).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(kind: Kind, block_kb: u32, cpu: Option<u32>) -> Traffic {
        Traffic { kind, block_kb, cpu }
    }

    #[test]
    fn reads_and_copies_say_how_much_was_moved_when() {
        for kind in [Kind::Read, Kind::Copy] {
            let generator =
                Generator::start(&Root::default(), traffic(kind, 1_024, Some(0))).unwrap();
            let clock = MonotonicClock;
            let (from, to) = (clock.now(), clock.now().plus(Nanos(20 * Nanos::PER_MS)));
            while clock.now() < to {
                std::thread::yield_now();
            }
            let moved = generator.finish().unwrap();
            let window = Nanos(4 * Nanos::PER_MS);
            let (low, high) = moved.busiest(from, to, window).expect("it ran all the time");
            assert!(low > 0.0 && high >= low, "{kind:?}: {low} {high}");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_and_memory_that_is_not_free_are_refused() {
        let on = |cpu| Generator::start(&Root::default(), traffic(Kind::Read, 64, Some(cpu)));
        let Err(error) = on(1_000) else { panic!("there is no CPU 1000") };
        assert!(error.to_string().starts_with("cannot run on CPU 1000"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/meminfo"), "MemAvailable:  100000 kB\n").unwrap();
        let refused = Generator::start(&Root::at(folder.path()), traffic(Kind::Copy, 32_768, None));
        let Err(error) = refused else { panic!("64 MiB are more than half of 97") };
        assert!(error.to_string().starts_with("64 MiB of memory"), "{error}");
    }

    #[test]
    fn one_cpu_of_each_policy_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        assert_eq!(one_cpu_per_cluster(&root), [0]);
        for (policy, cpus) in [("policy4", "4 5 6 7\n"), ("policy0", "0 1 2 3\n")] {
            let dir = root.path("/sys/devices/system/cpu/cpufreq").join(policy);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("affected_cpus"), cpus).unwrap();
        }
        assert_eq!(one_cpu_per_cluster(&root), [0, 4]);
    }
}
