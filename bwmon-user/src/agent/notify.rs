//! What the service manager hears (sd_notify(3)). Without one, nobody listens and nothing is said.

use crate::status::Status;
use crate::units::Nanos;
use sd_notify::NotifyState;

/// The loop's own beat: READY after the first tick, then the watchdog.
pub(super) struct Beat {
    /// A quarter of the time after which the manager loses patience; `None` without a watchdog.
    every: Option<Nanos>,
    last: Option<Nanos>,
}

impl Beat {
    pub(super) fn new() -> Self {
        let patience = sd_notify::watchdog_enabled();
        let quarter = |time: std::time::Duration| {
            Nanos(u64::try_from(time.as_nanos() / 4).unwrap_or(u64::MAX))
        };
        Self { every: patience.map(quarter), last: None }
    }

    /// A tick has been completed at `now`.
    pub(super) fn tick(&mut self, now: Nanos) {
        let first = self.last.is_none();
        if first {
            tell(&[NotifyState::Ready]);
        }
        let due = match (self.every, self.last) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(every), Some(last)) => now.since(last).0 >= every.0,
        };
        if due {
            tell(&[NotifyState::Watchdog]);
        }
        if due || first {
            self.last = Some(now);
        }
    }
}

/// A reload begins; [`ready`] ends it.
pub(super) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// The reload is over.
pub(super) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The end begins.
pub(super) fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// The line of `systemctl status`.
pub(super) fn status(status: &Status) {
    tell(&[NotifyState::Status(&line(status))]);
}

/// `status` in a line.
fn line(status: &Status) -> String {
    let mut line = format!("{} on {} ({})", status.policy.name, status.board, status.mode);
    for domain in &status.domains {
        let level = match (domain.level, domain.level_kbps) {
            (Some(level), Some(kbps)) => format!("level {level}, {kbps} kBps"),
            _ => "level unknown".to_owned(),
        };
        line += &format!("; {}: {level}", domain.name);
    }
    if status.pause.is_some() {
        line += "; paused";
    }
    let counts = &status.counts;
    line += &format!("; {} ticks, {} missed", counts.ticks, counts.missed);
    line += &format!(", {} faults", counts.faults);
    line
}

fn tell(what: &[NotifyState<'_>]) {
    // A manager that does not listen is no reason to stop governing.
    let _ = sd_notify::notify(what);
}
