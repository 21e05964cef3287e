//! What `bwmon watch --json` printed, against what the kernel's own trace says.

use crate::agent::Agent;
use crate::tracefs::{Line, Truth};
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

/// One tracepoint in both languages: its fields as the kernel prints them, and as we do.
struct Pair {
    kernel: &'static str,
    ours: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

/// `devfreq_monitor` and `cpu_frequency` are left out: they come at any time, so also between the
/// start of the one recording and that of the other.
const PAIRS: [Pair; 4] = [
    Pair {
        kernel: "qcom_bwmon_update",
        ours: "bwmon_update",
        fields: &[
            ("name", "name"),
            ("meas_kbps", "meas_kBps"),
            ("up_kbps", "up_kBps"),
            ("down_kbps", "down_kBps"),
        ],
    },
    Pair {
        kernel: "icc_set_bw",
        ours: "icc_set_bw",
        fields: &[
            ("path", "path"),
            ("dev", "dev"),
            ("node", "node"),
            ("avg_bw", "avg_kBps"),
            ("peak_bw", "peak_kBps"),
            ("agg_avg", "node_avg_kBps"),
            ("agg_peak", "node_peak_kBps"),
        ],
    },
    Pair {
        kernel: "icc_set_bw_end",
        ours: "icc_set_bw_end",
        fields: &[("path", "path"), ("dev", "dev"), ("ret", "ret")],
    },
    Pair {
        kernel: "devfreq_frequency",
        ours: "devfreq_frequency",
        fields: &[("dev_name", "dev"), ("freq", "freq_hz"), ("prev_freq", "prev_hz")],
    },
];

/// A running `bwmon watch` and the kernel's trace of the same time.
pub(crate) struct Recording {
    truth: Truth,
    watch: Agent,
}

/// What both recorded.
pub(crate) struct Recorded {
    /// Per event: how often.
    pub(crate) counts: Vec<(&'static str, usize)>,
    /// The records of `bwmon watch`.
    pub(crate) records: Vec<Value>,
}

impl Recording {
    /// Starts both; returns when the probes are attached.
    pub(crate) fn start(name: &str) -> Result<Self> {
        let truth = Truth::start(name)?;
        let mut watch = Agent::bwmon(&format!("{name}-watch"), &["watch", "--json"])?;
        watch.wait_for_message("bwmon: watching", PATIENCE)?;
        Ok(Self { truth, watch })
    }

    /// What the kernel has recorded so far.
    pub(crate) fn truth(&self) -> Result<Vec<Line>> {
        self.truth.lines()
    }

    /// Ends both and compares every field of every event: an error at the first difference, or if
    /// anything was lost on either side.
    pub(crate) fn finish(mut self) -> Result<Recorded> {
        self.watch.must_be_running()?;
        self.watch.signal(Signal::INT)?;
        self.watch.must_succeed(PATIENCE)?;
        self.truth.stop()?;
        ensure!(self.truth.lost()? == 0, "the kernel's own trace lost events");
        let mut records = Vec::new();
        for line in self.watch.stdout()?.lines() {
            let record = serde_json::from_str(line);
            records.push(record.with_context(|| format!("bwmon watch printed {line:?}"))?);
        }
        let summary: Option<Value> = records.pop();
        let lost = summary.as_ref().and_then(|s: &Value| s.get("lost")).and_then(Value::as_u64);
        ensure!(lost == Some(0), "bwmon watch ended with {summary:?}");
        let truth = self.truth.lines()?;
        let mut counts = Vec::new();
        for pair in &PAIRS {
            counts.push((pair.kernel, pair.compare(&truth, &records)?));
        }
        Ok(Recorded { counts, records })
    }
}

impl Pair {
    /// How many there are; an error unless both sides have the same.
    fn compare(&self, truth: &[Line], records: &[Value]) -> Result<usize> {
        let mut theirs = Vec::new();
        for line in truth.iter().filter(|line| line.event == self.kernel) {
            let fields = self.fields.iter().map(|(name, _)| line.text(name).map(str::to_owned));
            theirs.push(fields.collect::<Result<Vec<String>>>()?);
        }
        let ours = records.iter().filter(|record| text(record, "event") == self.ours);
        let ours = ours.map(|record| self.fields.iter().map(|(_, name)| text(record, name)));
        let mut ours: Vec<Vec<String>> = ours.map(Iterator::collect).collect();
        // Two CPUs may emit at once: the order between them is nobody's.
        theirs.sort();
        ours.sort();
        ensure!(
            ours.len() == theirs.len(),
            "{}: the kernel emitted {}, the probes reported {}",
            self.kernel,
            theirs.len(),
            ours.len()
        );
        let different = theirs.iter().zip(&ours).find(|(theirs, ours)| theirs != ours);
        if let Some((theirs, ours)) = different {
            anyhow::bail!("{}: the kernel says {theirs:?}, the probes {ours:?}", self.kernel);
        }
        Ok(ours.len())
    }
}

/// A field as text, whatever its type; empty if it is not there.
fn text(record: &Value, name: &str) -> String {
    match record.get(name) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn end(dev: &str, ret: i32) -> (Line, Value) {
        let line = format!("  x-1 [0] d.. 1.0: icc_set_bw_end: path=A-B dev={dev} ret={ret}");
        let record = json!({ "event": "icc_set_bw_end", "path": "A-B", "dev": dev, "ret": ret });
        (Line::parse(&line).unwrap(), record)
    }

    #[test]
    fn equal_events_count_and_a_different_field_is_named() {
        let pair = &PAIRS[2];
        let (line_a, record_a) = end("a", 0);
        let (line_b, record_b) = end("b", -22);
        let truth = [line_a.clone(), line_b];
        assert_eq!(pair.compare(&truth, &[record_b.clone(), record_a]).unwrap(), 2);
        let error =
            pair.compare(std::slice::from_ref(&line_a), &[record_b]).unwrap_err().to_string();
        assert!(error.contains("-22"), "{error}");
        let error = pair.compare(&[line_a], &[]).unwrap_err().to_string();
        assert!(error.contains("emitted 1, the probes reported 0"), "{error}");
    }
}
