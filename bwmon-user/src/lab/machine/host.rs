//! The machine that runs happen on, here or behind ssh: its files and its commands.

use super::process::{self, Ending};
use super::snapshot::{MOST, Snapshot};
use super::ssh::{Ssh, quoted};
use super::stop::Stop;
use crate::live::Root;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What ssh and the other side may take beyond the command's own time.
const SLACK: Duration = Duration::from_secs(30);

/// Where runs happen.
#[derive(Debug)]
pub(super) struct Host {
    root: Root,
    reach: Reach,
}

#[derive(Debug)]
enum Reach {
    Here,
    There {
        ssh: Ssh,
        /// A folder of ours on the other side, once it was made.
        folder: Option<String>,
    },
}

/// A command to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    /// Program and arguments.
    pub(super) argv: &'a [String],
    /// Where it runs, on this machine. On another one it runs where ssh leaves it.
    pub(super) cwd: &'a Path,
    /// For its output; with the endings `out` and `err`.
    pub(super) output: &'a Path,
    /// After which it is killed.
    pub(super) timeout: Duration,
}

/// A command that has run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// How it ended.
    pub(super) ending: Ending,
    /// How long it took, if that could be measured where it ran.
    pub(super) took: Option<Duration>,
}

impl Host {
    /// This machine, or a tree of files that stands for it.
    pub(super) fn here(root: Root) -> Self {
        Self { root, reach: Reach::Here }
    }

    /// The machine that ssh knows by `name`.
    ///
    /// # Errors
    /// When nothing can be prepared for it on this side.
    pub(super) fn there(root: Root, name: &str, program: &Path) -> io::Result<Self> {
        let ssh = Ssh::new(name, program)?;
        Ok(Self { root, reach: Reach::There { ssh, folder: None } })
    }

    /// The other machine, if it is one.
    pub(super) fn ssh(&self) -> Option<&Ssh> {
        match &self.reach {
            Reach::Here => None,
            Reach::There { ssh, .. } => Some(ssh),
        }
    }

    /// Where the machine's files are.
    pub(super) fn root(&self) -> &Root {
        &self.root
    }

    /// A folder of ours on the other machine; `None` on this one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn folder(&mut self) -> io::Result<Option<String>> {
        let Reach::There { ssh, folder } = &mut self.reach else { return Ok(None) };
        if folder.is_none() {
            let said = ssh.ask(r#"mktemp -d "${TMPDIR:-/tmp}/bwmon-lab.XXXXXX""#)?;
            *folder = Some(said.trim().to_owned());
        }
        Ok(folder.clone())
    }

    /// Removes what we left on the other machine.
    pub(super) fn tidy(&mut self) {
        if let Reach::There { ssh, folder } = &mut self.reach
            && let Some(folder) = folder.take()
        {
            let _ = ssh.ask(&format!("rm -rf {}", quoted(&folder)));
        }
    }

    /// Small files that fit `patterns`.
    ///
    /// # Errors
    /// When the machine does not answer; a file that cannot be read is left out.
    pub(super) fn read(&self, patterns: &[&str]) -> io::Result<Snapshot> {
        let Reach::There { ssh, .. } = &self.reach else {
            return Ok(Snapshot::here(&self.root, patterns));
        };
        let globs: Vec<String> = patterns.iter().map(|pattern| self.glob(pattern)).collect();
        let script = format!(
            "for f in {}; do if [ -f \"$f\" ] && [ -r \"$f\" ]; then printf '%s\\036' \"$f\"; \
             head -c {MOST} \"$f\" 2>/dev/null; printf '\\035'; fi; done",
            globs.join(" ")
        );
        let said = ssh.ask(&script)?;
        let root = self.name_of("");
        let pairs = said.split('\u{1d}').filter_map(|part| part.split_once('\u{1e}'));
        let known = pairs.filter_map(|(path, text)| {
            let path = path.strip_prefix(root.trim_end_matches('/'))?;
            Some((path.to_owned(), text.to_owned()))
        });
        Ok(Snapshot(known.collect()))
    }

    /// The text of a one-line file; `None` where it cannot be read.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub(super) fn line(&self, path: &str) -> io::Result<Option<String>> {
        Ok(self.read(&[path])?.text(path).map(str::to_owned))
    }

    /// Writes `text` into the file `path` in one `write`, as sysfs wants it.
    ///
    /// # Errors
    /// As the system says.
    pub(super) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        if let Reach::There { ssh, .. } = &self.reach {
            let file = quoted(&self.name_of(path));
            let script = format!("[ -e {file} ] && printf %s {} > {file}", quoted(text));
            return ssh.ask(&script).map(drop);
        }
        let path = self.root.path(path);
        let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
        file.write_all(text.as_bytes())
    }

    /// Whether the file `path` may be written.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub(super) fn writable(&self, path: &str) -> io::Result<bool> {
        if let Reach::There { ssh, .. } = &self.reach {
            let script = format!("if [ -w {} ]; then echo yes; fi", quoted(&self.name_of(path)));
            return Ok(ssh.ask(&script)?.trim() == "yes");
        }
        Ok(rustix::fs::access(self.root.path(path), rustix::fs::Access::WRITE_OK).is_ok())
    }

    /// Whether `program` could be started in `cwd`.
    ///
    /// # Errors
    /// When the machine does not answer.
    pub(super) fn has(&self, program: &str, cwd: &Path) -> io::Result<bool> {
        if let Reach::There { ssh, .. } = &self.reach {
            let found = format!("if command -v {} >/dev/null; then echo yes; fi", quoted(program));
            return Ok(ssh.ask(&found)?.trim() == "yes");
        }
        let mut command = Command::new("sh");
        command.args(["-c", r#"command -v -- "$1" >/dev/null"#, "sh", program]).current_dir(cwd);
        Ok(command.stdin(Stdio::null()).status()?.success())
    }

    /// Runs a command to its end, its timeout, or until we are to stop; nothing that it started in
    /// its process group is left.
    ///
    /// # Errors
    /// When it cannot be started or the machine does not answer.
    pub(super) fn run(&mut self, call: &Call<'_>, stop: &Stop) -> io::Result<Ran> {
        let out = File::create(call.output.with_extension("out"))?;
        let err = File::create(call.output.with_extension("err"))?;
        if let Some(folder) = self.folder()?
            && let Some(ssh) = self.ssh()
        {
            return run_there(ssh, &folder, call, (out, err), stop);
        }
        let (program, arguments) =
            call.argv.split_first().ok_or_else(|| io::Error::other("an empty command"))?;
        // A program with a slash is looked for where the command runs.
        let mut command = match program.contains('/') {
            true => Command::new(call.cwd.join(program)),
            false => Command::new(program),
        };
        command.args(arguments).current_dir(call.cwd);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        let (ending, took) = process::run(&mut command, call.timeout, stop)?;
        Ok(Ran { ending, took: Some(took) })
    }

    /// The path of a file of the machine, as the other side knows it.
    pub(super) fn name_of(&self, path: &str) -> String {
        self.root.path(path).to_string_lossy().into_owned()
    }

    fn glob(&self, pattern: &str) -> String {
        let parts = self.name_of(pattern);
        parts.split('*').map(quoted).collect::<Vec<_>>().join("*")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.tidy();
    }
}

/// The command's own time and code are taken on the other side, where no network is between.
fn run_there(
    ssh: &Ssh,
    folder: &str,
    call: &Call<'_>,
    (out, err): (File, File),
    stop: &Stop,
) -> io::Result<Ran> {
    let words: Vec<String> = call.argv.iter().map(|word| quoted(word)).collect();
    let (folder, seconds) = (quoted(folder), call.timeout.as_secs_f64().ceil());
    let script = format!(
        "moment() {{ read -r up rest < /proc/uptime; echo \"$up $(date +%s%N 2>/dev/null)\"; }}\n\
         rm -f {folder}/end {folder}/pid; begin=$(moment)\n\
         timeout -k 5 {seconds} {} </dev/null &\n\
         echo $! > {folder}/pid; wait $!; code=$?\n\
         end=$(moment); echo \"$code $begin $end\" > {folder}/end",
        words.join(" ")
    );
    let (ending, _) = ssh.run(&script, out.into(), err.into(), call.timeout + SLACK, stop)?;
    if matches!(ending, Ending::Stopped | Ending::TimedOut) {
        // `timeout` hands it on to the command and what that started, if it was started.
        let started =
            format!("n=0; until [ -s {folder}/pid ] || [ $n -ge 3 ]; do n=$((n+1)); sleep 1; done");
        let _ = ssh.ask(&format!("{started}; kill -TERM $(cat {folder}/pid)"));
        return Ok(Ran { ending, took: None });
    }
    let said = ssh.ask(&format!("cat {folder}/end"))?;
    let mut words = said.split_whitespace();
    let code = words.next().and_then(|word| word.parse().ok());
    let code: i32 = code.ok_or_else(|| io::Error::other(format!("{}: {said}", ssh.name())))?;
    let took = took(&words.collect::<Vec<_>>());
    let over = took.is_none_or(|took| took >= call.timeout);
    let ending = match code {
        124 | 137 if over => Ending::TimedOut,
        _ if code > 128 => Ending::Signal(code - 128),
        _ => Ending::Code(code),
    };
    Ok(Ran { ending, took })
}

/// The time between two moments, each the uptime (to 10 ms) and, where `date` can, the clock in
/// nanoseconds, which counts unless it was set between.
fn took(words: &[&str]) -> Option<Duration> {
    let seconds = |begin: &str, end: &str| {
        let time = end.parse::<f64>().ok()? - begin.parse::<f64>().ok()?;
        (time >= 0.0).then_some(time)
    };
    let rough = match words {
        [begin, _, end, _] | [begin, end] => seconds(begin, end)?,
        _ => return None,
    };
    let fine = match words {
        [_, begin, _, end] => end.parse::<u64>().ok().zip(begin.parse::<u64>().ok()),
        _ => None,
    };
    let fine = fine.and_then(|(end, begin)| Some(end.checked_sub(begin)? as f64 / 1e9));
    let took = fine.filter(|fine| (fine - rough).abs() < 0.05).unwrap_or(rough);
    Some(Duration::from_secs_f64(took))
}

/// Where a process' output is.
pub(super) fn outputs(output: &Path) -> [PathBuf; 2] {
    [output.with_extension("out"), output.with_extension("err")]
}

#[cfg(test)]
mod tests {
    use super::took;
    use std::time::Duration;

    #[test]
    fn the_clock_counts_unless_it_was_set_or_is_not_fine() {
        let ms = |words: &[&str]| took(words).map(|took| took.as_millis());
        assert_eq!(ms(&["5.00", "1000000000000", "6.24", "1001234000000"]), Some(1234));
        // The clock was set back, and forth.
        assert_eq!(ms(&["5.00", "1000000000000", "6.24", "900000000000"]), Some(1240));
        assert_eq!(ms(&["5.00", "1000000000000", "6.24", "9001234000000"]), Some(1240));
        // A `date` without nanoseconds.
        assert_eq!(ms(&["5.00", "17%N", "6.24", "18%N"]), Some(1240));
        assert_eq!(ms(&["5.00", "6.24"]), Some(1240));
        assert_eq!(took(&["x"]), None);
        assert_eq!(took(&["5.00", "4.00"]), None::<Duration>);
    }
}
