//! Another machine, by the `ssh` program: scripts for `sh`, sent through standard input, so that
//! neither spaces nor the login shell of the other side matter.

use super::process::{self, Ending};
use super::stop::Stop;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// For a question that is answered at once.
const QUESTION: Duration = Duration::from_secs(30);

/// The machine that ssh knows by a name. One connection is kept for all.
#[derive(Debug)]
pub(super) struct Ssh {
    name: String,
    program: PathBuf,
    /// A folder of ours alone, for the connection's socket.
    sockets: PathBuf,
}

impl Ssh {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// When there is no folder for the socket.
    pub(super) fn new(name: &str, program: &Path) -> io::Result<Self> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        // Short: a socket's name has 108 characters at most, of which ssh takes 57.
        let sockets = PathBuf::from(format!("/tmp/bwmon-{}-{now:x}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&sockets)?;
        Ok(Self { name: name.to_owned(), program: program.to_owned(), sockets })
    }

    /// The machine's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Has `sh` there run `script`; what it prints goes to `out` and `err`.
    ///
    /// # Errors
    /// When ssh cannot be started.
    pub(super) fn run(
        &self,
        script: &str,
        out: Stdio,
        err: Stdio,
        timeout: Duration,
        stop: &Stop,
    ) -> io::Result<(Ending, Duration)> {
        // All of it is read before any of it runs: a command must not eat the rest.
        let whole = format!("bwmon_lab() {{\n{script}\n}}\nbwmon_lab </dev/null\nexit $?\n");
        let mut input = memory()?;
        input.write_all(whole.as_bytes())?;
        input.rewind()?;
        let mut command = self.command();
        command.arg("--").arg(&self.name).arg("sh").stdin(input).stdout(out).stderr(err);
        process::run(&mut command, timeout, stop).map_err(|error| self.not_started(&error))
    }

    fn not_started(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot run {}: {error}", self.program.display()))
    }

    /// What `script` prints.
    ///
    /// # Errors
    /// When ssh fails, or the script does: with what it said.
    pub(super) fn ask(&self, script: &str) -> io::Result<String> {
        // A file in memory: the process that keeps the connection may hold a pipe open for long.
        let (mut out, mut err) = (memory()?, memory()?);
        let (to, errors) = (out.try_clone()?.into(), err.try_clone()?.into());
        // Not stopped by a signal: putting back has to ask too.
        let ending = self.run(script, to, errors, QUESTION, &Stop::default())?.0;
        if ending == Ending::Code(0) {
            return text(&mut out);
        }
        let said = text(&mut err)?;
        let what = match ending {
            Ending::TimedOut => "no answer in 30 s".to_owned(),
            _ if said.trim().is_empty() => format!("ended with {ending:?}"),
            _ => said.trim().to_owned(),
        };
        Err(io::Error::other(format!("{}: {what}", self.name)))
    }

    /// Copies the file `there` to `here`.
    ///
    /// # Errors
    /// As [`Ssh::ask`].
    pub(super) fn fetch(&self, there: &str, here: &Path) -> io::Result<()> {
        let mut err = memory()?;
        let script = format!("cat {}", quoted(there));
        let (to, errors) = (File::create(here)?.into(), err.try_clone()?.into());
        match self.run(&script, to, errors, 10 * QUESTION, &Stop::default())?.0 {
            Ending::Code(0) => Ok(()),
            _ => Err(io::Error::other(format!("{}: {}", self.name, text(&mut err)?.trim()))),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let socket = self.sockets.join("%C");
        command.args(["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-T"]);
        command.args(["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o"]);
        command.arg(format!("ControlPath={}", socket.display()));
        command
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let mut command = self.command();
        command.args(["-O", "exit", "--", &self.name]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let used = fs::read_dir(&self.sockets).is_ok_and(|mut entries| entries.next().is_some());
        if used {
            let _ = process::run(&mut command, QUESTION, &Stop::default());
        }
        let _ = fs::remove_dir_all(&self.sockets);
    }
}

fn memory() -> io::Result<File> {
    Ok(File::from(memfd_create("bwmon-lab", MemfdFlags::CLOEXEC)?))
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `word` as one word for `sh`, whatever is in it.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::process::Command;

    #[test]
    fn words_survive_a_shell_whatever_is_in_them() {
        for word in ["", "a b", "it's", "a\nb", "$HOME `id` \\ \" ' ''", "*", "-n", "ü€"] {
            let script = format!("printf %s {}", quoted(word));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}
