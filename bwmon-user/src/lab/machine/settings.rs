//! What a rig on a machine is told.

use super::host::Host;
use crate::experiment::Agenda;
use crate::live::Root;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The machine, and the bwmon on it.
#[derive(Clone, Debug)]
pub struct Site {
    /// How it is reached; `None` for this one.
    pub ssh: Option<SshTo>,
    /// Where its files are: `/`, but in tests.
    pub root: Root,
    /// The bwmon that agents are, as that machine knows it.
    pub exe: PathBuf,
    /// Where agents have their lock and their restore file; `None` for the default.
    pub state_dir: Option<PathBuf>,
}

/// A machine behind ssh.
#[derive(Clone, Debug)]
pub struct SshTo {
    /// The name that ssh knows it by.
    pub name: String,
    /// The ssh program.
    pub program: PathBuf,
}

/// What a rig on a machine is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The machine.
    pub site: Site,
    /// The agenda.
    pub agenda: Agenda,
    /// The agenda's folder: files that it names are looked for there first, and commands run there.
    pub agenda_dir: PathBuf,
    /// The folder of results.
    pub results: PathBuf,
    /// Whether agents may vote and knobs be written.
    pub dry_run: bool,
    /// Set to end a run at once.
    pub stop: Arc<AtomicBool>,
}

impl Site {
    /// This machine, with `exe` as its bwmon.
    pub fn here(exe: impl Into<PathBuf>) -> Self {
        Self { ssh: None, root: Root::default(), exe: exe.into(), state_dir: None }
    }

    /// The machine that ssh knows by `name`, with the bwmon of its `PATH`.
    pub fn over_ssh(name: impl Into<String>) -> Self {
        let ssh = SshTo { name: name.into(), program: "ssh".into() };
        Self { ssh: Some(ssh), ..Self::here("bwmon") }
    }

    pub(super) fn host(&self) -> io::Result<Host> {
        match &self.ssh {
            None => Ok(Host::here(self.root.clone())),
            Some(ssh) => Host::there(self.root.clone(), &ssh.name, &ssh.program),
        }
    }

    /// `bwmon VERB` there, with the options for where things are.
    pub(super) fn command(&self, verb: &str) -> Vec<String> {
        let mut words = vec![self.exe.to_string_lossy().into_owned(), verb.to_owned()];
        if !self.root.is_machine() {
            words.push("--root".into());
            words.push(whole(&self.root.path("")));
        }
        if let Some(folder) = &self.state_dir {
            words.push("--state-dir".into());
            words.push(whole(folder));
        }
        words
    }
}

/// Agents do not run in our folder.
fn whole(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.to_string_lossy().into_owned()
}
