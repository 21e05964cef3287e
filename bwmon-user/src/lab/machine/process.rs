//! A process on this machine: run to its end, to its timeout, or until we are to stop.

use super::stop::Stop;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, test_kill_process_group, waitid,
};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Between asking a process to end and killing it.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Its time was over, and it was killed.
    TimedOut,
    /// We were to stop, and it was killed.
    Stopped,
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// Runs `command` in a process group of its own, of which nothing is left when this returns.
///
/// # Errors
/// When it cannot be started.
pub(super) fn run(
    command: &mut Command,
    timeout: Duration,
    stop: &Stop,
) -> io::Result<(Ending, Duration)> {
    let began = Instant::now();
    let mut child = command.process_group(0).spawn()?;
    let exits = watch(&child);
    let deadline = began + timeout;
    let killed = loop {
        match exits.recv_timeout(Duration::from_millis(20)) {
            Ok(at) => {
                end_group(&child);
                return Ok((child.wait()?.into(), at.saturating_duration_since(began)));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Ok((child.wait()?.into(), began.elapsed()));
            }
            Err(RecvTimeoutError::Timeout) if stop.asked() => break Ending::Stopped,
            Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => break Ending::TimedOut,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    signal_group(&child, Signal::TERM);
    let _ = exits.recv_timeout(GRACE);
    end_group(&child);
    child.wait()?;
    Ok((killed, began.elapsed()))
}

/// Tells when the child exits, and leaves it to be waited for: until then its id is nobody else's,
/// and its group can be killed safely. A thread, because kernels of vendors have no pidfd yet.
fn watch(child: &Child) -> Receiver<Instant> {
    let (sender, exits) = channel();
    if let Some(pid) = pid(child) {
        std::thread::spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
            let _ = sender.send(Instant::now());
        });
    }
    exits
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

fn signal_group(child: &Child, signal: Signal) {
    if let Some(pid) = pid(child) {
        let _ = kill_process_group(pid, signal);
    }
}

/// What the command left running would disturb the next run.
fn end_group(child: &Child) {
    let Some(pid) = pid(child) else { return };
    let _ = kill_process_group(pid, Signal::KILL);
    debug_assert!(test_kill_process_group(pid).is_ok(), "the leader has not been waited for");
}
