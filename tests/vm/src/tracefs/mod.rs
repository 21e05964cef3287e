//! Ground truth: what the kernel's own tracing says of the events that our probes report.

mod line;
mod pipe;

pub(crate) use line::Line;
pub(crate) use pipe::Pipe;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// The six events that the probes attach to.
pub(crate) const EVENTS: [&str; 6] = [
    "interconnect/icc_set_bw",
    "interconnect/icc_set_bw_end",
    "devfreq/devfreq_frequency",
    "devfreq/devfreq_monitor",
    "icc_bwmon/qcom_bwmon_update",
    "power/cpu_frequency",
];

/// A tracing instance of its own: a separate ring buffer, removed on drop.
pub(crate) struct Truth {
    dir: PathBuf,
}

impl Truth {
    /// Starts recording those of [`EVENTS`] that the kernel has, with the clock that the probes use.
    pub(crate) fn start(name: &str) -> Result<Self> {
        let truth = Self { dir: Path::new(INSTANCES).join(name) };
        std::fs::create_dir(&truth.dir)
            .with_context(|| format!("create {}", truth.dir.display()))?;
        truth.set("trace_clock", "mono")?;
        truth.set("buffer_size_kb", "4096")?;
        for event in EVENTS.iter().filter(|event| has_event(event)) {
            truth.set(&format!("events/{event}/enable"), "1")?;
        }
        Ok(truth)
    }

    /// Stops recording; what was recorded stays readable.
    pub(crate) fn stop(&self) -> Result<()> {
        self.set("tracing_on", "0")
    }

    /// All that was recorded, oldest first.
    pub(crate) fn lines(&self) -> Result<Vec<Line>> {
        let path = self.dir.join("trace");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        Ok(text.lines().filter_map(Line::parse).collect())
    }

    /// The recorded events as a stream; reading it consumes them.
    pub(crate) fn pipe(&self) -> Result<Pipe> {
        Pipe::open(&self.dir.join("trace_pipe"))
    }

    /// Events that the kernel itself could not record. The truth is one only when this is 0.
    pub(crate) fn lost(&self) -> Result<u64> {
        let mut lost = 0;
        for cpu in std::fs::read_dir(self.dir.join("per_cpu"))? {
            let stats = std::fs::read_to_string(cpu?.path().join("stats"))?;
            lost += lost_in(&stats);
        }
        Ok(lost)
    }

    fn set(&self, file: &str, value: &str) -> Result<()> {
        let path = self.dir.join(file);
        std::fs::write(&path, value).with_context(|| format!("write {value} to {}", path.display()))
    }
}

impl Drop for Truth {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir(&self.dir) {
            println!("bwmon-vm: remove {}: {error}", self.dir.display());
        }
    }
}

/// Whether this kernel has an event, `system/name`, now.
pub(crate) fn has_event(event: &str) -> bool {
    Path::new("/sys/kernel/tracing/events").join(event).exists()
}

/// Overwritten and dropped events of one `per_cpu/cpuN/stats`.
fn lost_in(stats: &str) -> u64 {
    let losses = ["overrun: ", "commit overrun: ", "dropped events: "];
    stats
        .lines()
        .filter_map(|line| losses.iter().find_map(|name| line.strip_prefix(name)))
        .filter_map(|count| count.trim().parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_three_kinds_of_loss_count() {
        let stats = "entries: 9\noverrun: 1\ncommit overrun: 2\nbytes: 7\ndropped events: 4\n";
        assert_eq!(super::lost_in(stats), 7);
    }
}
