//! The agent beside a run: a child here, or a process that is left running behind ssh.

use super::host::Host;
use super::journal::{self, Span, Told, Whose};
use super::ssh::quoted;
use super::stop::Stop;
use crate::units::Nanos;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long an agent may take to its first tick, and to its end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of a journal's end in which its last line is looked for.
const TAIL: u64 = 64 * 1024;

/// How often another machine is asked.
const ASK: Duration = Duration::from_millis(100);

/// A running agent.
#[derive(Debug)]
pub(super) struct Agent {
    process: Process,
    whose: Whose,
    /// Journal, summary and stderr, on this machine.
    files: PathBuf,
}

#[derive(Debug)]
enum Process {
    Here(Child),
    /// In this folder on the other machine.
    There(String),
}

/// An agent that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// What is wrong with how it ended, if something is.
    pub(super) trouble: Option<String>,
    /// The summary that it printed.
    pub(super) summary: Option<Value>,
}

/// Where the journal of an agent will be, as the machine that it runs on knows it.
///
/// # Errors
/// When there can be no folder for it on the other machine.
pub(super) fn journal_path(host: &mut Host, folder: &Path) -> io::Result<String> {
    Ok(match host.folder()? {
        Some(there) => format!("{there}/agent.jsonl"),
        None => folder.join("agent.jsonl").to_string_lossy().into_owned(),
    })
}

impl Agent {
    /// Starts `argv`, which writes its journal to [`journal_path`] of `folder`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(
        host: &mut Host,
        argv: &[String],
        folder: &Path,
        whose: Whose,
    ) -> io::Result<Self> {
        let files = folder.to_owned();
        if let Some(there) = host.folder()?
            && let Some(ssh) = host.ssh()
        {
            let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            let script = format!(
                "cd {} || exit 1; rm -f agent.*\n\
                 ( {} > agent.out 2> agent.err & echo $! > agent.pid; wait $!; echo $? > agent.code \
                 ) >/dev/null 2>&1 &",
                quoted(&there),
                words.join(" ")
            );
            ssh.ask(&script)?;
            return Ok(Self { process: Process::There(there), whose, files });
        }
        let (program, arguments) =
            argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(File::create(folder.join("agent.out"))?);
        command.stderr(File::create(folder.join("agent.err"))?);
        // A Ctrl-C is ours: the agent ends when the run has been seen to.
        let child = command.process_group(0).spawn()?;
        Ok(Self { process: Process::Here(child), whose, files })
    }

    /// Waits for its first tick.
    ///
    /// # Errors
    /// Why it will not come: what the agent said when it ended, or nothing in time.
    pub(super) fn wait_ready(&mut self, host: &Host, stop: &Stop) -> io::Result<()> {
        let mut ended = false;
        let every = if host.ssh().is_some() { ASK } else { super::stop::LOOK };
        let ready = stop.wait(PATIENCE, every, || {
            ended = !self.runs(host);
            ended || self.now(host).is_some()
        });
        if ended {
            return Err(io::Error::other(format!("the agent ended: {}", self.said(host))));
        }
        if !ready && !stop.asked() {
            return Err(io::Error::other("the agent's first tick did not come in 20 s"));
        }
        Ok(())
    }

    /// When its last sample was taken, by its own clock.
    pub(super) fn now(&self, host: &Host) -> Option<Nanos> {
        let tail = match (&self.process, host.ssh()) {
            (Process::There(there), Some(ssh)) => {
                let file = quoted(&format!("{there}/agent.jsonl"));
                ssh.ask(&format!("tail -c {TAIL} {file}")).ok()?
            }
            _ => tail(&self.files.join("agent.jsonl")).ok()?,
        };
        journal::last_moment(&tail)
    }

    /// Whether it has not ended.
    pub(super) fn runs(&mut self, host: &Host) -> bool {
        self.code(host).is_none()
    }

    /// Its exit code, -1 for a signal, once it has ended.
    fn code(&mut self, host: &Host) -> Option<i32> {
        match (&mut self.process, host.ssh()) {
            (Process::Here(child), _) => {
                let status = child.try_wait().ok().flatten()?;
                Some(status.code().unwrap_or(-1))
            }
            (Process::There(there), Some(ssh)) => {
                let script = format!("cat {}/agent.code 2>/dev/null || true", quoted(there));
                ssh.ask(&script).ok()?.trim().parse().ok()
            }
            (Process::There(_), None) => None,
        }
    }

    fn signal(&self, host: &Host, signal: Signal) {
        match (&self.process, host.ssh()) {
            (Process::Here(child), _) => {
                let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, signal));
            }
            (Process::There(there), Some(ssh)) => {
                let pid = format!("$(cat {}/agent.pid)", quoted(there));
                let _ = ssh.ask(&format!("kill -{} {pid}", signal.as_raw()));
            }
            (Process::There(_), None) => {}
        }
    }

    /// Ends it, and brings its files here.
    pub(super) fn end(&mut self, host: &Host) -> Ended {
        let early = self.code(host);
        if early.is_none() {
            self.signal(host, Signal::TERM);
        }
        // Even when we are to stop: it has to put back what it changed.
        let every = if host.ssh().is_some() { ASK } else { super::stop::LOOK };
        let ended = Stop::default().wait(PATIENCE, every, || !self.runs(host));
        if !ended {
            self.signal(host, Signal::KILL);
            if let Process::Here(child) = &mut self.process {
                let _ = child.wait();
            }
        }
        let fetched = self.fetch(host);
        let trouble = match (early, ended, self.code(host)) {
            (Some(_), ..) => Some(format!("the agent ended during the run: {}", self.said(host))),
            (None, false, _) => Some("the agent did not end in 20 s and was killed".to_owned()),
            (None, true, Some(0)) => fetched.err().map(|error| error.to_string()),
            (None, true, _) => Some(format!("the agent failed: {}", self.said(host))),
        };
        let summary = fs::read_to_string(self.files.join("agent.out")).ok();
        let summary = summary.and_then(|text| serde_json::from_str(&text).ok());
        Ended { trouble, summary }
    }

    fn fetch(&self, host: &Host) -> io::Result<()> {
        let (Process::There(there), Some(ssh)) = (&self.process, host.ssh()) else { return Ok(()) };
        for name in ["agent.err", "agent.out", "agent.jsonl"] {
            ssh.fetch(&format!("{there}/{name}"), &self.files.join(name))?;
        }
        Ok(())
    }

    /// What it said went wrong.
    fn said(&self, host: &Host) -> String {
        let _ = self.fetch(host);
        said(&self.files.join("agent.err"))
    }

    /// What its journal tells of `span`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn told(&self, span: Span) -> anyhow::Result<Told> {
        journal::read(&self.files.join("agent.jsonl"), span, self.whose)
    }
}

/// The error in what a bwmon said: its last line is the reason, notes stand before it.
pub(super) fn said(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    match text.split_once("error: ") {
        Some((_, error)) => error.split_whitespace().collect::<Vec<_>>().join(" "),
        None => text.lines().last().unwrap_or("it said nothing").to_owned(),
    }
}

fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Ends the agent that writes `journal`, if one still does: an experiment that was killed has left
/// it. Says so.
pub(super) fn end_orphan(host: &Host, journal: &str) -> Option<String> {
    let said = writer(host, journal).and_then(|pid| end_writer(host, journal, pid));
    // The folder that was made for it there.
    let folder = journal.rsplit_once('/').map(|(folder, _)| folder);
    let ours = folder.filter(|folder| folder.contains("/bwmon-lab."));
    if let (Some(ssh), Some(folder)) = (host.ssh(), ours) {
        let _ = ssh.ask(&format!("rm -rf {}", quoted(folder)));
    }
    said
}

fn end_writer(host: &Host, journal: &str, pid: i32) -> Option<String> {
    let Some(ssh) = host.ssh() else {
        let id = Pid::from_raw(pid)?;
        let _ = kill_process(id, Signal::TERM);
        let gone = Stop::default()
            .wait(PATIENCE, super::stop::LOOK, || writer(host, journal) != Some(pid));
        return Some(match gone {
            true => format!("ended the agent {pid} that was left running"),
            false => format!("the agent {pid} does not end"),
        });
    };
    let script = format!(
        "kill -TERM {pid}; n=0; while kill -0 {pid} 2>/dev/null && [ $n -lt 20 ]; do sleep 1; \
         n=$((n+1)); done"
    );
    Some(match ssh.ask(&script) {
        Ok(_) => format!("ended the agent {pid} that was left running on {}", ssh.name()),
        Err(error) => format!("the agent {pid} was not ended: {error}"),
    })
}

/// The process that was started to write `journal`: its command line names it, no other's does.
fn writer(host: &Host, journal: &str) -> Option<i32> {
    if let Some(ssh) = host.ssh() {
        let (folder, _) = journal.rsplit_once('/')?;
        let script = format!(
            "p=$(cat {}/agent.pid) && grep -qaF {} /proc/$p/cmdline && echo $p",
            quoted(folder),
            quoted(journal)
        );
        return ssh.ask(&script).ok()?.trim().parse().ok();
    }
    let running = fs::read_dir("/proc").ok()?.flatten();
    let pids = running.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let names = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.next();
        let words: Vec<&[u8]> = words.collect();
        let verb = words.first().is_some_and(|word| *word == b"run");
        verb && words.contains(&journal.as_bytes())
    };
    pids.into_iter().find(names)
}
