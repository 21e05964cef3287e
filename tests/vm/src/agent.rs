//! The program under test as a child process.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::wait;

/// How much of its messages is shown when it fails.
const TAIL_LINES: usize = 15;

/// A running program whose output goes to files under `/run`.
pub(crate) struct Agent {
    name: String,
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Agent {
    /// Starts `/bwmon` with these words.
    pub(crate) fn bwmon(name: &str, words: &[&str]) -> Result<Self> {
        Self::start("/bwmon", name, words)
    }

    /// Starts any program; `name` names its output files and its errors.
    pub(crate) fn start(program: &str, name: &str, words: &[&str]) -> Result<Self> {
        println!("bwmon-vm: {program} {}", words.join(" "));
        let out = Path::new("/run").join(format!("{name}.out"));
        let err = Path::new("/run").join(format!("{name}.err"));
        let child = Command::new(program)
            .args(words)
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "1")
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?)
            .spawn()
            .with_context(|| format!("start {program}"))?;
        Ok(Self { name: name.to_owned(), child, out, err })
    }

    /// What it has printed so far.
    pub(crate) fn stdout(&self) -> Result<String> {
        std::fs::read_to_string(&self.out).with_context(|| format!("read {}", self.out.display()))
    }

    /// The messages that it has printed so far.
    pub(crate) fn stderr(&self) -> Result<String> {
        std::fs::read_to_string(&self.err).with_context(|| format!("read {}", self.err.display()))
    }

    /// An error, with its last messages, if it has ended already.
    pub(crate) fn must_be_running(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => self.complain(&format!("ended too early ({status})")),
        }
    }

    /// Whether it has ended, however.
    pub(crate) fn has_ended(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until it has printed a line that starts so.
    pub(crate) fn wait_for_line(&mut self, start: &str, limit: Duration) -> Result<()> {
        self.wait_for(start, limit, Self::stdout)
    }

    /// Waits until it has given a message that starts so.
    pub(crate) fn wait_for_message(&mut self, start: &str, limit: Duration) -> Result<()> {
        self.wait_for(start, limit, Self::stderr)
    }

    fn wait_for(
        &mut self,
        start: &str,
        limit: Duration,
        read: fn(&Self) -> Result<String>,
    ) -> Result<()> {
        let what = format!("{} to say {start:?}", self.name);
        wait::until(&what, limit, || {
            if read(self)?.lines().any(|line| line.starts_with(start)) {
                return Ok(Some(()));
            }
            self.must_be_running()?;
            Ok(None)
        })
    }

    /// A line of its `/proc/PID/status` that is in kB.
    pub(crate) fn memory_kb(&self, name: &str) -> Result<u64> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).with_context(|| format!("read {path}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.with_context(|| format!("{path} has no {name}"))?.parse().context("not a number")
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("pid")?;
        kill_process(pid, signal).with_context(|| format!("signal {}", self.name))
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let what = format!("{} to end", self.name);
        let child = &mut self.child;
        let answer = wait::until(&what, limit, || Ok(child.try_wait()?));
        match answer {
            Ok(status) => Ok(status),
            Err(error) => self.complain(&format!("{error:#}")),
        }
    }

    /// Waits for its end, which must be a success.
    pub(crate) fn must_succeed(&mut self, limit: Duration) -> Result<()> {
        match self.wait(limit)? {
            status if status.success() => Ok(()),
            status => self.complain(&format!("failed ({status})")),
        }
    }

    fn complain<T>(&self, what: &str) -> Result<T> {
        let said = self.stderr()?;
        let lines: Vec<&str> = said.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default();
        bail!("{} {what}; it said: {}", self.name, tail.join(" | "))
    }
}

impl Drop for Agent {
    /// No child outlives its scenario.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let ended = self.child.kill().and_then(|()| self.child.wait());
            println!("bwmon-vm: {} had to be ended: {ended:?}", self.name);
        }
    }
}
