//! Running programs so that a failure names the command and shows what it said.

use anyhow::{Context, Result, bail};
use std::process::{Command, Output, Stdio};

/// How much of a failed program's messages is shown: its last lines.
const TAIL_LINES: usize = 12;

/// Two ways to run a prepared command to its end.
pub(crate) trait Run {
    /// Lets the program talk to the terminal (standard output goes to standard error, since a
    /// verb's own answer is alone on standard output).
    ///
    /// # Errors
    /// When it cannot be started or does not exit with 0.
    fn run(&mut self) -> Result<()>;

    /// Collects standard output; standard error is shown only inside an error.
    ///
    /// # Errors
    /// As [`Run::run`], or when the output is not UTF-8.
    fn run_for_output(&mut self) -> Result<String>;
}

impl Run for Command {
    fn run(&mut self) -> Result<()> {
        let status = self
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .status()
            .with_context(|| format!("cannot start {}", shown(self)))?;
        if !status.success() {
            bail!("{} failed: {status}", shown(self));
        }
        Ok(())
    }

    fn run_for_output(&mut self) -> Result<String> {
        let Output { status, stdout, stderr } = self
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", shown(self)))?;
        if !status.success() {
            bail!("{} failed: {status}\n{}", shown(self), tail(&stderr));
        }
        String::from_utf8(stdout).with_context(|| format!("{} did not answer text", shown(self)))
    }
}

/// Whether a program of this name can be started from the path.
pub(crate) fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES);
    lines.into_iter().skip(from).collect::<Vec<_>>().join("\n")
}
