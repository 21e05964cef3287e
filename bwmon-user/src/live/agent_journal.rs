//! The running agent's journal: every line reaches its file at once and whole, files are changed when
//! they are full, and lines that could not be written leave a mark.

use crate::journal::{EntryView, Header, InForce, JournalError, Lost, Note};
use crate::policy::script::digest;
use crate::ports::JournalSink;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Older files that are kept, where nothing else is said.
pub const DEFAULT_KEEP: u64 = 4;

/// Where the journal goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalPlan {
    /// The file.
    pub file: String,
    /// Bytes after which a new file begins; `None` for one file without end.
    pub max_bytes: Option<u64>,
    /// Older files that are kept as FILE.1, FILE.2 and so on; `None` for none: then a journal that is
    /// there is overwritten.
    pub keep: Option<u64>,
}

/// What is written to: a file, or in tests one whose disk fills up.
trait Sink: std::fmt::Debug {
    /// Appends all of `line`, or nothing.
    fn append(&mut self, line: &[u8]) -> io::Result<()>;
}

#[derive(Debug)]
struct Whole {
    file: File,
    /// Bytes of whole lines.
    length: u64,
}

impl Sink for Whole {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let written = self.file.write_all(line);
        if written.is_err() {
            // A part of the line may be there; a full disk lets a file shrink.
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
        } else {
            self.length += line.len() as u64;
        }
        written
    }
}

/// The journal.
#[derive(Debug)]
pub struct AgentJournal {
    plan: JournalPlan,
    out: Box<dyn Sink + Send>,
    /// Bytes in this file.
    length: u64,
    /// The header of this file is still to be written.
    header_due: bool,
    /// Where the next change of files is tried.
    full_at: Option<u64>,
    part: u64,
    of: String,
    in_force: Option<InForce>,
    lost: Lost,
    line: Vec<u8>,
}

impl AgentJournal {
    /// Creates the file. One that is there becomes FILE.1 where older files are kept, and is
    /// overwritten where not.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(plan: &JournalPlan) -> Result<Self, JournalError> {
        let fail = |error| JournalError::Write { file: plan.file.clone(), error };
        let taken = fs::metadata(&plan.file).is_ok_and(|meta| meta.is_file() && meta.len() > 0);
        if let Some(keep) = plan.keep.filter(|_| taken) {
            shift(&plan.file, keep).map_err(fail)?;
        }
        let file = File::create(&plan.file).map_err(fail)?;
        Ok(Self::on(plan.clone(), Box::new(Whole { file, length: 0 })))
    }

    fn on(plan: JournalPlan, out: Box<dyn Sink + Send>) -> Self {
        Self {
            full_at: plan.max_bytes,
            plan,
            out,
            length: 0,
            header_due: false,
            part: 0,
            of: String::new(),
            in_force: None,
            lost: Lost::default(),
            // Lines have their size after a few ticks; this much needs no page later.
            line: Vec::with_capacity(16 * 1024),
        }
    }

    /// Writes the first line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&mut self, header: &Header) -> Result<(), JournalError> {
        self.in_force = Some(InForce::new(header.clone()));
        let text = serde_json::to_string(header).map_err(|e| self.fault(e.into()))?;
        self.of = digest(&text);
        self.line = text.into_bytes();
        self.put()
    }

    /// Lines that are missing and still without a mark.
    pub fn lost(&self) -> Lost {
        self.lost
    }

    /// Writes the line that is in `self.line`, after what is due before it.
    fn put(&mut self) -> Result<(), JournalError> {
        self.line.push(b'\n');
        let line = std::mem::take(&mut self.line);
        let written = self.put_after_what_is_due(&line);
        self.line = line;
        self.line.clear();
        written.map_err(|error| self.fault(error))
    }

    fn put_after_what_is_due(&mut self, line: &[u8]) -> io::Result<()> {
        let grown = self.length + line.len() as u64;
        if !self.header_due && self.length > 0 && self.full_at.is_some_and(|full| grown > full) {
            self.change_files()?;
        }
        if self.header_due {
            let header = self.in_force.as_ref().map(|now| now.header(self.part, &self.of));
            let mut text = serde_json::to_vec(&header)?;
            text.push(b'\n');
            self.give(&text)?;
            self.header_due = false;
        }
        if self.lost != Lost::default() {
            let mut text = Note::Lost(self.lost).line()?.into_bytes();
            text.push(b'\n');
            self.give(&text)?;
            self.lost = Lost::default();
        }
        self.give(line)
    }

    fn give(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.append(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// FILE becomes FILE.1, and a new FILE is begun.
    fn change_files(&mut self) -> io::Result<()> {
        let keep = self.plan.keep.unwrap_or(DEFAULT_KEEP);
        let begun = shift(&self.plan.file, keep)
            .and_then(|()| OpenOptions::new().write(true).create_new(true).open(&self.plan.file));
        match begun {
            Ok(file) => {
                self.out = Box::new(Whole { file, length: 0 });
                self.length = 0;
                self.part += 1;
                self.header_due = true;
                self.full_at = self.plan.max_bytes;
                Ok(())
            }
            Err(error) => {
                // This file goes on; the next try is when it has grown by a sixteenth more.
                let step = self.plan.max_bytes.unwrap_or(0) / 16;
                self.full_at = self.full_at.map(|full| full.max(self.length) + step);
                Err(error)
            }
        }
    }

    fn fault(&self, error: io::Error) -> JournalError {
        JournalError::Write { file: self.plan.file.clone(), error }
    }
}

impl JournalSink for AgentJournal {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, entry).map_err(|e| self.fault(e.into()))?;
        let written = self.put();
        if written.is_err() {
            let tick = Some(entry.sample().tick);
            self.lost.entries += 1;
            self.lost.from_tick = self.lost.from_tick.or(tick);
            self.lost.to_tick = tick;
        }
        // After it: a new file that this line begins goes on from before it.
        if let Some(now) = &mut self.in_force {
            now.entry(entry);
        }
        written
    }

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        self.line = note.line().map_err(|e| self.fault(e.into()))?.into_bytes();
        let written = self.put();
        self.lost.notes += u64::from(written.is_err());
        if let Some(now) = &mut self.in_force {
            now.note(note);
        }
        written
    }
}

/// The name of the older file number `number`.
pub(super) fn older(file: &str, number: u64) -> PathBuf {
    PathBuf::from(format!("{file}.{number}"))
}

/// Makes `file` FILE.1, FILE.1 FILE.2, and so on; what would be more than `keep` goes.
fn shift(file: &str, keep: u64) -> io::Result<()> {
    // Only as many as there are without a gap: nobody else's FILE.9 is touched.
    let there = (1..=keep).take_while(|n| older(file, *n).exists()).count() as u64;
    if there == keep {
        fs::remove_file(older(file, keep))?;
    }
    for number in (1..=there.min(keep - 1)).rev() {
        fs::rename(older(file, number), older(file, number + 1))?;
    }
    fs::rename(file, older(file, 1))
}

#[cfg(test)]
#[path = "agent_journal_tests.rs"]
mod tests;
