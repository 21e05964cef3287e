//! One boot: from power on to the verdict, a crash or a stall.

use super::verdict::Verdict;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A console that says nothing for this long is stuck (a scenario reports its progress).
const STALL: Duration = Duration::from_secs(45);
/// No boot takes this long.
const DEADLINE: Duration = Duration::from_secs(300);
/// How long the machine may take to power off once it has given its verdict.
const POWER_OFF: Duration = Duration::from_secs(10);
/// How many of the last console lines a failure shows.
const TAIL_LINES: usize = 40;

/// What the kernel says when it is beyond help.
const CRASHES: [&str; 4] = ["Kernel panic", "Oops", "Internal error:", "Unable to handle kernel"];

/// The parts of the machine that do not change between boots.
pub(crate) struct Machine {
    pub(crate) kernel: PathBuf,
    pub(crate) initramfs: PathBuf,
    pub(crate) dtb: PathBuf,
}

/// How a boot ended.
pub(crate) enum End {
    /// With a verdict.
    Verdict(Verdict),
    /// Without one.
    Broken {
        /// Why.
        why: String,
        /// The last lines of the console.
        tail: Vec<String>,
    },
}

/// QEMU with the machine's hardware and nothing to boot; `option` is added to `-M`.
pub(crate) fn command(option: &str) -> Command {
    let mut qemu = Command::new("qemu-system-aarch64");
    qemu.arg("-M").arg(format!("virt,gic-version=2{option}"));
    qemu.args(["-cpu", "cortex-a72", "-smp", "2", "-m", "1024"]);
    // No network card: its option ROM is in a package that nothing else here needs.
    qemu.args(["-net", "none", "-display", "none", "-monitor", "none", "-serial", "stdio"]);
    qemu.arg("-no-reboot");
    qemu
}

impl Machine {
    /// Boots with these words added to the kernel command line, until the verdict.
    ///
    /// # Errors
    /// When QEMU cannot be started or the log cannot be written; a bad end is not an error.
    pub(crate) fn boot(&self, cmdline: &str, log: &Path, verbose: bool) -> Result<End> {
        let log = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut qemu = command("");
        qemu.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(&self.initramfs);
        qemu.arg("-dtb").arg(&self.dtb).arg("-append");
        // A panicking guest reboots, which ends the emulator (-no-reboot).
        qemu.arg(format!("console=ttyAMA0 rdinit=/init panic=-1 oops=panic {cmdline}"));
        let child = qemu.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut running = Running(child.context("cannot start qemu-system-aarch64")?);
        let output = running.0.stdout.take().context("QEMU has no console")?;
        let mut console =
            Console { lines: spawn_reader(output), log, verbose, tail: VecDeque::new() };
        let end = console.watch()?;
        if matches!(end, End::Verdict(_)) {
            console.drain()?;
        }
        Ok(end)
    }
}

/// An emulator that does not outlive its guard.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        if let Err(error) = ended {
            eprintln!("vm: cannot end QEMU: {error}");
        }
    }
}

/// The console's lines; the channel closes when the emulator ends.
fn spawn_reader(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

struct Console {
    lines: Receiver<String>,
    log: File,
    verbose: bool,
    tail: VecDeque<String>,
}

impl Console {
    /// Follows the console until the boot has an end.
    fn watch(&mut self) -> Result<End> {
        let start = Instant::now();
        let mut crash = None;
        loop {
            if start.elapsed() > DEADLINE {
                return Ok(self.broken(format!("no verdict within {} s", DEADLINE.as_secs())));
            }
            let line = match self.lines.recv_timeout(STALL) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(self.broken(format!("no output for {} s", STALL.as_secs())));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let why = crash.unwrap_or_else(|| "it ended without a verdict".to_owned());
                    return Ok(self.broken(why));
                }
            };
            self.note(&line)?;
            match Verdict::parse(&line) {
                Some(Ok(verdict)) => return Ok(End::Verdict(verdict)),
                Some(Err(error)) => return Ok(self.broken(format!("{error:#}"))),
                None => {}
            }
            // The backtrace that follows is worth having: the machine ends by itself (panic=-1).
            if crash.is_none() && CRASHES.iter().any(|words| line.contains(words)) {
                crash = Some(line);
            }
        }
    }

    /// Lets the machine power off after its verdict.
    fn drain(&mut self) -> Result<()> {
        let start = Instant::now();
        while let Some(left) = POWER_OFF.checked_sub(start.elapsed()) {
            match self.lines.recv_timeout(left) {
                Ok(line) => self.note(&line)?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn note(&mut self, line: &str) -> Result<()> {
        writeln!(self.log, "{line}").context("cannot write the console log")?;
        if self.verbose {
            eprintln!("vm| {line}");
        }
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(line.to_owned());
        Ok(())
    }

    fn broken(&mut self, why: String) -> End {
        End::Broken { why, tail: self.tail.drain(..).collect() }
    }
}
