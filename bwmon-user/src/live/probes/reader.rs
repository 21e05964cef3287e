//! Taking records out of the ring buffer, and accounting for those that never came.

use super::decode::decode;
use super::error::ProbeError;
use super::load::chain;
use crate::event::ProbeRecord;
use aya::Ebpf;
use aya::maps::{MapData, MapError, PerCpuArray, RingBuf};
use aya::programs::{ProgramFd, TracePoint};
use aya_log::EbpfLogger;
use bwmon_common::{COUNTERS_MAP, Counters, EVENTS_MAP, Kind};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The most records that one call takes out: about what the ring buffer holds of the smallest.
/// A flood must not keep the caller from its other work.
const MOST_PER_DRAIN: usize = 16_384;

/// Where the probes' warnings go.
#[derive(Clone)]
pub(super) struct Speaker(Arc<dyn Fn(&str) + Send + Sync>);

impl Speaker {
    pub(super) fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Speaker {
        Speaker(Arc::new(say))
    }

    pub(super) fn stderr() -> Speaker {
        Speaker::new(|message| {
            // A stderr that is gone is no reason to stop.
            let _ = writeln!(io::stderr().lock(), "bwmon probes: {message}");
        })
    }
}

impl log::Log for Speaker {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        (self.0)(&record.args().to_string());
    }

    fn flush(&self) {}
}

/// What became of the tracepoint hits since loading, summed over CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records handed over, by [`Kind::index`].
    pub emitted: [u64; Kind::COUNT],
    /// Hits lost to a full ring buffer, by [`Kind::index`].
    pub lost: [u64; Kind::COUNT],
    /// Hits dropped because a field could not be read, by [`Kind::index`].
    pub unreadable: [u64; Kind::COUNT],
    /// Hits that the kernel did not hand to a probe because another one was running on that CPU.
    /// Kernels before 6.7 do not count these.
    pub missed: u64,
    /// Records that came but were not understood.
    pub foreign: u64,
}

impl Counts {
    /// Records of this kind that were handed over.
    pub fn emitted_of(&self, kind: Kind) -> u64 {
        self.emitted.get(kind.index()).copied().unwrap_or_default()
    }

    /// All hits that no record tells of, whatever the cause.
    pub fn all_lost(&self) -> u64 {
        let counted = self.lost.iter().chain(&self.unreadable).sum::<u64>();
        counted + self.missed + self.foreign
    }
}

/// The probes' end in the agent.
pub struct ProbeReader {
    ring: RingBuf<MapData>,
    counters: PerCpuArray<MapData, Counters>,
    warnings: EbpfLogger<Speaker>,
    programs: Vec<ProgramFd>,
    foreign: u64,
}

impl ProbeReader {
    pub(super) fn new(ebpf: &mut Ebpf, speaker: Speaker) -> Result<ProbeReader, ProbeError> {
        let mut take = |name: &str| {
            let why = || format!("it has no map `{name}`");
            ebpf.take_map(name).ok_or_else(|| ProbeError::BadObject { why: why() })
        };
        let bad = |e: MapError| ProbeError::Kernel { what: "open a map".into(), why: chain(&e) };
        let ring = RingBuf::try_from(take(EVENTS_MAP)?).map_err(bad)?;
        let counters = PerCpuArray::try_from(take(COUNTERS_MAP)?).map_err(bad)?;
        let warnings = EbpfLogger::init_with_logger(ebpf, speaker)
            .map_err(|e| ProbeError::BadObject { why: chain(&e) })?;
        Ok(ProbeReader { ring, counters, warnings, programs: Vec::new(), foreign: 0 })
    }

    /// Remembers a program whose missed runs are to be counted.
    pub(super) fn watch(&mut self, program: &TracePoint) -> Result<(), ProbeError> {
        let what = "keep a program's descriptor";
        let kept = program.fd().and_then(|fd| Ok(fd.try_clone()?));
        self.programs
            .push(kept.map_err(|e| ProbeError::Kernel { what: what.into(), why: chain(&e) })?);
        Ok(())
    }

    /// Appends the records that are there, oldest first, and says how many. Never waits. Under a
    /// flood it leaves some for the next call. Passes the probes' warnings on.
    pub fn drain(&mut self, out: &mut Vec<ProbeRecord>) -> usize {
        let before = out.len();
        self.take(out);
        out.len() - before
    }

    /// As [`ProbeReader::drain`], and says whether the ring buffer was taken dry.
    fn take(&mut self, out: &mut Vec<ProbeRecord>) -> bool {
        self.warnings.flush();
        for _ in 0..MOST_PER_DRAIN {
            let Some(item) = self.ring.next() else { return true };
            match decode(&item) {
                Ok(record) => out.push(record),
                Err(_) => self.foreign = self.foreign.saturating_add(1),
            }
        }
        false
    }

    /// What became of all hits so far. Reads the kernel's counters: a few system calls.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub fn counts(&self) -> Result<Counts, ProbeError> {
        let per_cpu = self.counters.get(&0, 0).map_err(|e| ProbeError::Kernel {
            what: "read the probes' counters".into(),
            why: chain(&e),
        })?;
        let mut sum = Counts { foreign: self.foreign, ..Counts::default() };
        for one in per_cpu.iter() {
            add(&mut sum.emitted, &one.emitted);
            add(&mut sum.lost, &one.lost);
            add(&mut sum.unreadable, &one.unreadable);
        }
        for program in &self.programs {
            sum.missed += missed(program)?;
        }
        Ok(sum)
    }

    /// All hits that no record tells of: [`Counts::all_lost`].
    ///
    /// # Errors
    /// As [`ProbeReader::counts`].
    pub fn lost(&self) -> Result<u64, ProbeError> {
        Ok(self.counts()?.all_lost())
    }

    /// How many records of this kind were handed over.
    ///
    /// # Errors
    /// As [`ProbeReader::counts`].
    pub fn emitted(&self, kind: Kind) -> Result<u64, ProbeError> {
        Ok(self.counts()?.emitted_of(kind))
    }
}

impl AsFd for ProbeReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

impl AsRawFd for ProbeReader {
    fn as_raw_fd(&self) -> RawFd {
        self.ring.as_raw_fd()
    }
}

/// A [`ProbeReader`] on a tokio runtime.
pub struct AsyncProbeReader {
    fd: AsyncFd<ProbeReader>,
}

impl AsyncProbeReader {
    /// Registers the reader with the runtime that is running.
    ///
    /// # Errors
    /// When the runtime cannot watch it.
    ///
    /// # Panics
    /// Outside of a tokio runtime with IO enabled, as tokio's `AsyncFd`.
    pub fn new(reader: ProbeReader) -> io::Result<AsyncProbeReader> {
        #[expect(unsafe_code, reason = "tokio cannot know that the descriptor stays the same")]
        // SAFETY: the descriptor is that of the ring buffer's map, which the reader owns and
        // never replaces; no exclusive reference to the reader leaves this type.
        let fd = unsafe { AsyncFd::register_with_interest(reader, Interest::READABLE) };
        Ok(AsyncProbeReader { fd: fd.map_err(|e| e.into_parts().1)? })
    }

    /// Waits until there are records, then drains them as [`ProbeReader::drain`] does. Cancel
    /// safe: no record is taken before the wait is over. May come back with 0.
    ///
    /// # Errors
    /// When the runtime can no longer watch the ring buffer.
    pub async fn readable(&mut self, out: &mut Vec<ProbeRecord>) -> io::Result<usize> {
        let mut ready = self.fd.readable_mut().await?;
        let before = out.len();
        if ready.get_inner_mut().take(out) {
            // The kernel wakes again at the next record.
            ready.clear_ready();
        }
        Ok(out.len() - before)
    }

    /// As [`ProbeReader::drain`]: what is there now, without waiting.
    pub fn drain(&mut self, out: &mut Vec<ProbeRecord>) -> usize {
        self.fd.get_mut().drain(out)
    }

    /// The reader, for its counters.
    pub fn get_ref(&self) -> &ProbeReader {
        self.fd.get_ref()
    }
}

fn add(sum: &mut [u64; Kind::COUNT], more: &[u64; Kind::COUNT]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

/// Runs that the kernel left out, from the descriptor's `fdinfo` (since Linux 5.12).
fn missed(program: &ProgramFd) -> Result<u64, ProbeError> {
    let path = format!("/proc/self/fdinfo/{}", program.as_fd().as_raw_fd());
    let text = std::fs::read_to_string(&path)
        .map_err(|source| ProbeError::Read { path: path.into(), source })?;
    let line = text.lines().find_map(|l| l.strip_prefix("recursion_misses:"));
    Ok(line.and_then(|n| n.trim().parse().ok()).unwrap_or_default())
}
