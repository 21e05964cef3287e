//! Who last changed a devfreq device, as the probes saw it: the source notes it, the actuator names
//! it when it finds that somebody else wrote.

use crate::event::{ProbeEvent, ProbeRecord, Writer};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Devices that are remembered; a machine has a dozen.
const MOST: usize = 64;

/// The last writers, by device; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Writers(Rc<RefCell<BTreeMap<String, Writer>>>);

impl Writers {
    /// Notes who caused `record`, unless it was this process, or a worker of the kernel, of which
    /// nobody knows for whom it works.
    pub(super) fn note(&self, record: &ProbeRecord) {
        let ProbeEvent::DevfreqFrequency { dev, .. } = &record.event else { return };
        let Some(by) = &record.by else { return };
        let mut writers = self.0.borrow_mut();
        if by.pid == std::process::id() {
            // What stands now is ours: nobody wrote after that.
            writers.remove(dev);
        } else if !by.is_worker() && (writers.len() < MOST || writers.contains_key(dev)) {
            writers.insert(dev.clone(), by.clone());
        }
    }

    /// ` (sh[123])` for the object `devfreq DEVICE` whose last writer is known and not us.
    pub(super) fn of(&self, object: &str) -> Option<String> {
        let device = object.strip_prefix("devfreq ")?;
        let device = device.split(' ').next()?;
        self.0.borrow().get(device).map(|by| format!(" (by {by})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Hz, Nanos};

    fn record(dev: &str, pid: u32, comm: &str) -> ProbeRecord {
        ProbeRecord {
            t_ns: Nanos(0),
            cpu: 0,
            by: Some(Writer { pid, comm: comm.into() }),
            event: ProbeEvent::DevfreqFrequency { dev: dev.into(), freq_hz: Hz(2), prev_hz: Hz(1) },
        }
    }

    #[test]
    fn the_last_process_that_wrote_is_named_and_workers_and_we_are_not() {
        let writers = Writers::default();
        let us = std::process::id();
        writers.note(&record("noc", us + 1, "sh"));
        assert_eq!(writers.of("devfreq noc"), Some(format!(" (by sh[{}])", us + 1)));
        writers.note(&record("noc", 77, "kworker/0:1"));
        assert_eq!(writers.of("devfreq noc"), Some(format!(" (by sh[{}])", us + 1)));
        writers.note(&record("noc", us, "bwmon"));
        assert_eq!(writers.of("devfreq noc"), None, "our write came after it");
        assert_eq!(writers.of("bus_dcvs DDR"), None);
    }
}
