//! One agent at a time.

use crate::diag::printable;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Why the lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another agent runs.
    #[error("another bwmon agent governs this machine ({holder}); stop it first")]
    Held {
        /// Its process id and command line, or "unknown".
        holder: String,
    },
    /// The lock file cannot be used.
    #[error("cannot use {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Held while an agent governs, and while `bwmon restore` works. The kernel lets go of it when the
/// process ends, however it ends.
#[derive(Debug)]
pub struct AgentLock {
    _file: File,
}

impl AgentLock {
    /// Takes the lock in `state_dir`, which is created if it is not there.
    ///
    /// # Errors
    /// When another process holds it or the file cannot be used.
    pub fn take(state_dir: &Path) -> Result<Self, LockError> {
        let path = state_dir.join("lock");
        let fail = |error| LockError::Io { path: path.clone(), error };
        std::fs::create_dir_all(state_dir)
            .map_err(|error| LockError::Io { path: state_dir.to_owned(), error })?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(LockError::Held { holder: who(holder.trim()) });
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(fail)?;
        writeln!(file, "{}", std::process::id()).map_err(fail)?;
        Ok(Self { _file: file })
    }
}

/// The process `pid` in words.
fn who(pid: &str) -> String {
    if pid.is_empty() {
        return "unknown".to_owned();
    }
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments = String::from_utf8_lossy(&arguments);
    let line: String = arguments
        .trim_end_matches('\0')
        .chars()
        .map(|c| if c == '\0' { ' ' } else { printable(c) })
        .take(200)
        .collect();
    if line.is_empty() { format!("pid {pid}") } else { format!("pid {pid}: {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_agent_is_refused_and_told_who_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = AgentLock::take(folder.path()).unwrap();
        let second = AgentLock::take(folder.path()).unwrap_err().to_string();
        assert!(second.contains(&format!("pid {}", std::process::id())), "{second}");
        drop(first);
        AgentLock::take(folder.path()).unwrap();
    }
}
