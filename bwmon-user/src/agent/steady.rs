//! What keeps the governing thread in time: no page that has to be fetched, no slack of the timer,
//! a better place in the run queue. None of it is needed to govern.

use super::startup_text;
use crate::live::Mode;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, Rlimit, getrlimit, setpriority_process, setrlimit};
use rustix::thread::{gettid, set_current_timer_slack};
use std::num::NonZeroU64;

/// Stack that a tick may use.
const STACK: usize = 256 * 1024;

/// Steadies the thread that calls; answers what could not be had, where that matters.
pub(super) fn steady(mode: Mode) -> Vec<String> {
    touch_stack();
    // Before the lock: what is locked cannot be let go of.
    startup_text::let_go();
    let mut missing = Vec::new();
    if set_current_timer_slack(NonZeroU64::new(1)).is_err() {
        missing.push("timer slack of 1 ns".to_owned());
    }
    if setpriority_process(Some(gettid()), -10).is_err() {
        missing.push("nice -10 (CAP_SYS_NICE)".to_owned());
    }
    let all = Rlimit { current: None, maximum: None };
    // Refused without CAP_SYS_RESOURCE; the present limit may do all the same.
    if getrlimit(Resource::Memlock).current.is_some() {
        let _ = setrlimit(Resource::Memlock, all);
    }
    // Pages are locked when they are first used, so that the agent stays small.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    if mlockall(flags).is_err() {
        missing.push("locked memory (CAP_IPC_LOCK)".to_owned());
    }
    // Who only looks may be late.
    if mode != Mode::Govern || missing.is_empty() {
        return Vec::new();
    }
    vec![format!("ticks may come late under load: not allowed: {}", missing.join(", "))]
}

#[inline(never)]
fn touch_stack() {
    let mut pages = [0_u8; STACK];
    std::hint::black_box(&mut pages);
}
