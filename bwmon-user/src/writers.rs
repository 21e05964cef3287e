//! Who last changed what is voted through, as the probes saw it. Pure: events come in, and it is
//! asked who it was when somebody else's write is found.

use crate::event::{ProbeEvent, ProbeRecord, Writer};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Objects that are remembered; a machine has a dozen.
const MOST: usize = 64;

/// How the interconnect test client is called as a consumer.
const TEST_CLIENT: &str = "icc-debugfs-client";

/// The last writers, by the name that a vote path has for its object.
#[derive(Debug, Default)]
pub struct Writers(BTreeMap<String, Last>);

/// Apart, so that a worker which carries out what somebody asked for does not hide them.
#[derive(Debug, Default)]
struct Last {
    process: Option<Change>,
    kernel: Option<Change>,
}

#[derive(Debug)]
struct Change {
    at: Nanos,
    by: Writer,
}

impl Writers {
    /// Notes who caused `record`, if it is a change of something that is voted through.
    pub fn note(&mut self, record: &ProbeRecord) {
        let Some(by) = &record.by else { return };
        let object = match &record.event {
            ProbeEvent::DevfreqFrequency { dev, .. } => format!("devfreq {dev}"),
            ProbeEvent::IccSetBw { dev, path, .. } if dev == TEST_CLIENT => {
                format!("interconnect {path}")
            }
            _ => return,
        };
        if self.0.len() >= MOST && !self.0.contains_key(&object) {
            return;
        }
        let last = self.0.entry(object).or_default();
        let change = Some(Change { at: record.t_ns, by: by.clone() });
        if by.is_kernel() {
            last.kernel = change;
        } else {
            last.process = change;
        }
    }

    /// Who changed `object` after `since`: the last process that is not `us`, or else a thread of
    /// the kernel. A change before it cannot be what is found now.
    pub fn after(&self, object: &str, since: Nanos, us: u32) -> Option<&Writer> {
        let last = self.0.get(object)?;
        let process = last.process.iter().filter(|change| change.by.pid != us);
        process.chain(&last.kernel).find(|change| change.at > since).map(|change| &change.by)
    }
}

/// What is appended to the news of a foreign write.
pub fn named(by: &Writer) -> String {
    if by.is_kernel() {
        // It never wrote to our file: it carries out what whoever did has set going.
        format!(", and {by} has changed its frequency since")
    } else {
        format!(" (by {by})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Hz, Kbps};

    const US: u32 = 7;
    const NOC: &str = "devfreq noc";

    fn change(t: u64, pid: u32, comm: &str) -> ProbeRecord {
        let dev = "noc".into();
        let event = ProbeEvent::DevfreqFrequency { dev, freq_hz: Hz(2), prev_hz: Hz(1) };
        ProbeRecord { t_ns: Nanos(t), cpu: 0, by: Some(Writer { pid, comm: comm.into() }), event }
    }

    fn after(writers: &Writers, since: u64) -> Option<String> {
        writers.after(NOC, Nanos(since), US).map(named)
    }

    #[test]
    fn only_who_changed_it_since_our_own_write_is_named() {
        let mut writers = Writers::default();
        writers.note(&change(10, 8, "sh"));
        assert_eq!(after(&writers, 9).as_deref(), Some(" (by sh[8])"));
        assert_eq!(after(&writers, 10), None, "ours came after it");
        assert_eq!(writers.after("devfreq other", Nanos(0), US), None);
        writers.note(&change(20, 9, "tuned"));
        assert_eq!(after(&writers, 9).as_deref(), Some(" (by tuned[9])"), "the last one");
    }

    #[test]
    fn we_and_the_idle_task_are_nobody() {
        let mut writers = Writers::default();
        writers.note(&ProbeRecord { by: None, ..change(10, 8, "sh") });
        assert_eq!(after(&writers, 0), None);
        writers.note(&change(10, US, "bwmon"));
        assert_eq!(after(&writers, 0), None);
    }

    #[test]
    fn the_kernel_is_called_so_and_does_not_hide_a_process() {
        let mut writers = Writers::default();
        writers.note(&change(10, 77, "kworker/0:1"));
        let kernel = ", and the kernel (kworker/0:1) has changed its frequency since";
        assert_eq!(after(&writers, 9).as_deref(), Some(kernel));
        writers.note(&change(11, 8, "sh"));
        writers.note(&change(12, 77, "kworker/0:1"));
        assert_eq!(after(&writers, 9).as_deref(), Some(" (by sh[8])"));
        assert_eq!(after(&writers, 11).as_deref(), Some(kernel), "the process came before ours");
    }

    #[test]
    fn a_vote_of_the_test_client_is_told_by_its_path_and_other_consumers_are_not() {
        let vote = |dev: &str| {
            let (path, dev, node) = ("chm_apps-ebi".into(), dev.into(), "ebi".into());
            let none = Kbps(0);
            let event = ProbeEvent::IccSetBw {
                path,
                dev,
                node,
                avg_kbps: none,
                peak_kbps: none,
                node_avg_kbps: none,
                node_peak_kbps: none,
            };
            ProbeRecord { event, ..change(10, 8, "sh") }
        };
        let mut writers = Writers::default();
        writers.note(&vote("cpu0"));
        assert_eq!(writers.after("interconnect chm_apps-ebi", Nanos(0), US), None);
        writers.note(&vote(TEST_CLIENT));
        let by = writers.after("interconnect chm_apps-ebi", Nanos(0), US);
        assert_eq!(by.map(named).as_deref(), Some(" (by sh[8])"));
    }

    #[test]
    fn a_flood_of_devices_is_bounded() {
        let mut writers = Writers::default();
        for n in 0..10 * MOST {
            let (freq_hz, prev_hz) = (Hz(2), Hz(1));
            let event = ProbeEvent::DevfreqFrequency { dev: n.to_string(), freq_hz, prev_hz };
            writers.note(&ProbeRecord { event, ..change(1, 8, "sh") });
        }
        assert_eq!(writers.0.len(), MOST);
    }
}
