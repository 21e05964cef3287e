//! The guest's console: from power on to the verdict, a crash or a stall.

use super::verdict::Verdict;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A console that says nothing for this long is stuck (a scenario reports its progress).
const STALL: Duration = Duration::from_secs(60);
/// No boot takes this long.
const DEADLINE: Duration = Duration::from_secs(300);
/// How long the machine may take to power off once it has given its verdict.
const POWER_OFF: Duration = Duration::from_secs(10);
/// How many of the last console lines a failure shows.
const TAIL_LINES: usize = 40;

/// What the kernel says when it is beyond help.
const CRASHES: [&str; 4] = ["Kernel panic", "Oops", "Internal error:", "Unable to handle kernel"];

/// How a boot ended.
#[derive(Debug)]
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

/// The console's lines; the channel closes when the emulator ends.
pub(crate) fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
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

/// Follows one boot.
pub(crate) struct Console<W> {
    lines: Receiver<String>,
    log: W,
    verbose: bool,
    tail: VecDeque<String>,
    stall: Duration,
}

impl<W: Write> Console<W> {
    /// Every line goes to `log`, with `verbose` to standard error too.
    pub(crate) fn new(lines: Receiver<String>, log: W, verbose: bool) -> Self {
        Self { lines, log, verbose, tail: VecDeque::new(), stall: STALL }
    }

    /// Follows the console until the boot has an end.
    ///
    /// # Errors
    /// When the log cannot be written; a bad end is not an error.
    pub(crate) fn watch(&mut self) -> Result<End> {
        let start = Instant::now();
        let mut crash = None;
        loop {
            if start.elapsed() > DEADLINE {
                return Ok(self.broken(format!("no verdict within {} s", DEADLINE.as_secs())));
            }
            let line = match self.lines.recv_timeout(self.stall) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(self.broken(format!("no output for {} s", self.stall.as_secs())));
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
    ///
    /// # Errors
    /// When the log cannot be written.
    pub(crate) fn drain(&mut self) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches a console that says `lines` and then ends, or, with `silent`, says nothing more.
    fn watch(lines: &[&str], silent: bool) -> (End, String) {
        let (sender, receiver) = channel();
        for line in lines {
            sender.send((*line).to_owned()).unwrap();
        }
        let kept = silent.then_some(sender);
        let mut log = Vec::new();
        let mut console = Console::new(receiver, &mut log, false);
        console.stall = Duration::from_millis(20);
        let end = console.watch().unwrap();
        drop(kept);
        (end, String::from_utf8(log).unwrap())
    }

    fn broken(lines: &[&str], silent: bool) -> (String, Vec<String>) {
        match watch(lines, silent).0 {
            End::Broken { why, tail } => (why, tail),
            End::Verdict(verdict) => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn a_verdict_ends_it_and_everything_is_logged() {
        let verdict = r#"BWMON-VM-VERDICT: pass {"scenarios":[]}"#;
        let (end, log) = watch(&["booting", verdict, "never read"], true);
        assert!(matches!(end, End::Verdict(Verdict { pass: true, .. })), "{end:?}");
        assert_eq!(log, format!("booting\n{verdict}\n"));
    }

    #[test]
    fn a_panic_is_the_reason_and_its_backtrace_is_shown() {
        let lines = ["[ 1.0] Kernel panic - not syncing: no init", "[ 1.1] Call trace:"];
        let (why, tail) = broken(&lines, false);
        assert_eq!(why, lines[0]);
        assert_eq!(tail, lines);
    }

    #[test]
    fn silence_and_an_end_without_a_verdict_are_failures() {
        assert!(broken(&["booting"], true).0.contains("no output"));
        assert!(broken(&["booting"], false).0.contains("without a verdict"));
    }

    #[test]
    fn a_garbled_verdict_is_a_failure() {
        assert!(broken(&["BWMON-VM-VERDICT: pass {"], true).0.contains("garbled"));
    }

    #[test]
    fn a_failure_shows_the_last_40_lines() {
        let lines: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (_, tail) = broken(&lines, false);
        assert_eq!((tail.len(), tail[0].as_str()), (40, "10"));
    }
}
