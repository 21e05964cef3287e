//! The trace as a stream: blocks until the kernel has something to say.

use super::Line;
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// A reader of `trace_pipe`.
pub(crate) struct Pipe {
    file: std::fs::File,
    /// Bytes of a line that has not ended yet.
    rest: Vec<u8>,
    ready: VecDeque<Line>,
}

impl Pipe {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())
            .with_context(|| format!("open {}", path.display()))?;
        Ok(Self { file: file.into(), rest: Vec::new(), ready: VecDeque::new() })
    }

    /// The next event, waited for until `limit` has passed; `what` is for the error.
    pub(crate) fn next(&mut self, what: &str, limit: Duration) -> Result<Line> {
        let start = Instant::now();
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Ok(line);
            }
            if self.fill()? {
                continue;
            }
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                bail!("waited {:.1} s in vain for {what}", limit.as_secs_f64());
            };
            let left = Timespec::try_from(left).context("limit")?;
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error).context("poll trace_pipe"),
            }
        }
    }

    /// Reads what is there; false when there was nothing.
    fn fill(&mut self) -> Result<bool> {
        let mut chunk = [0; 8192];
        let count = match self.file.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error).context("read trace_pipe"),
        };
        self.rest.extend(chunk.iter().take(count));
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            self.ready.extend(Line::parse(String::from_utf8_lossy(&line).trim_end()));
        }
        Ok(count > 0)
    }
}
