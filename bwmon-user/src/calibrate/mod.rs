//! The count unit of a monitor, found by known traffic.
//!
//! What one count stands for is data that has been wrong before: MSM8998's was, SDM845's LLCC monitor
//! is disputed. Here traffic of a known size crosses the path while the block counts. A reading is the
//! largest count of any window, so each one bounds the unit from both sides; no statistics are needed,
//! but readings in which somebody else's traffic stood out are outvoted by a median.

mod judge;
mod moved;

pub use judge::{Finding, Trial, Verdict, judge};
pub use moved::Moved;

use serde::Serialize;

/// A kind of traffic that is easy to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Reads from one end to the other.
    Read,
    /// Reads from one block, writes to another.
    Copy,
}

impl Kind {
    /// Bytes that cross the path for each byte that the program moved, at least and at most. What is
    /// read is fetched once, and a little more in advance. What is copied is fetched and written; CPUs
    /// may fetch the old contents of what is written, too, or stream it past the caches.
    pub fn factors(self) -> (f64, f64) {
        match self {
            Self::Read => (1.0, 1.1),
            Self::Copy => (2.0, 3.0),
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Copy => "copy",
        }
    }
}

/// A trial's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// What is done.
    pub kind: Kind,
    /// Over how much memory, in KiB.
    #[serde(rename = "block_kB")]
    pub block_kb: u32,
    /// On which CPU; `None` if that does not matter.
    pub cpu: Option<u32>,
}

/// Blocks from which all of a sweep misses every cache that a machine has.
pub const FAR_BEYOND_CACHES_KB: u32 = 32 * 1024;

impl Traffic {
    /// The trials for one CPU: a block that stays in the caches, to see that the path is quiet then,
    /// and blocks that go to memory.
    pub fn trials(cpu: Option<u32>) -> Vec<Self> {
        let of = |kind, block_kb| Self { kind, block_kb, cpu };
        vec![
            of(Kind::Read, 64),
            of(Kind::Read, FAR_BEYOND_CACHES_KB),
            of(Kind::Read, 4 * FAR_BEYOND_CACHES_KB),
            of(Kind::Copy, FAR_BEYOND_CACHES_KB),
            of(Kind::Copy, 2 * FAR_BEYOND_CACHES_KB),
        ]
    }

    /// Whether the unit can be judged by it.
    pub fn judged(self) -> bool {
        self.block_kb >= FAR_BEYOND_CACHES_KB
    }

    /// For people.
    pub fn name(self) -> String {
        let size = match self.block_kb {
            kb if kb.is_multiple_of(1024) => format!("{} MiB", kb / 1024),
            kb => format!("{kb} KiB"),
        };
        let cpu = self.cpu.map_or_else(String::new, |cpu| format!(" on CPU {cpu}"));
        format!("{} {size}{cpu}", self.kind.name())
    }
}

/// One reading of a monitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The largest count of a window.
    pub count: u16,
    /// Bytes of known traffic that the busiest window carried, at least and at most, as the program
    /// moved them.
    pub bytes: (f64, f64),
}

/// Where traffic can be made and monitors can be read.
pub trait Rig {
    /// Makes `traffic`, or none, for a while; answers the readings of each monitor.
    ///
    /// # Errors
    /// Why it could not be done.
    fn observe(&mut self, traffic: Option<Traffic>) -> Result<Vec<Vec<Seen>>, String>;
}

/// A monitor to be calibrated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// Its name.
    pub monitor: String,
    /// The unit that the board gives it.
    #[serde(rename = "unit_kB")]
    pub unit_kb: u32,
}

/// Runs the trials of all `cpus` on `rig` and judges each of `subjects`; `tell` is told what is being
/// done.
///
/// # Errors
/// Why a trial could not be run.
pub fn calibrate(
    rig: &mut dyn Rig,
    subjects: &[Subject],
    cpus: &[Option<u32>],
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Finding>, String> {
    tell("no traffic, to see what else there is");
    let quiet = rig.observe(None)?;
    let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); subjects.len()];
    for traffic in cpus.iter().flat_map(|cpu| Traffic::trials(*cpu)) {
        tell(&traffic.name());
        let seen = rig.observe(Some(traffic))?;
        let readings = seen.iter().zip(&quiet);
        for (trials, (seen, quiet)) in trials.iter_mut().zip(readings) {
            trials.push(Trial::of(traffic, seen, quiet));
        }
    }
    let judged = subjects.iter().zip(trials);
    Ok(judged.map(|(subject, trials)| judge(subject, trials)).collect())
}
