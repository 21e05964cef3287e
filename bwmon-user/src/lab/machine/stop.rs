//! Asking the rig to stop, and waiting that can be stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often something that cannot wake us is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// Whether the experiment is to stop; set by a signal.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(pub(super) Arc<AtomicBool>);

impl Stop {
    pub(super) fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits until `done`, for `most`, looking every `every`. False when the time is over or we
    /// are to stop.
    pub(super) fn wait(
        &self,
        most: Duration,
        every: Duration,
        mut done: impl FnMut() -> bool,
    ) -> bool {
        let deadline = Instant::now() + most;
        loop {
            if done() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.asked() {
                return false;
            }
            std::thread::sleep(every.min(left));
        }
    }

    /// Lets `time` pass, unless we are to stop.
    pub(super) fn pause(&self, time: Duration) {
        self.wait(time, LOOK, || false);
    }
}
