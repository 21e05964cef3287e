//! The journal as a file.

use crate::journal::{EntryView, Header, JournalError};
use crate::ports::JournalSink;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// A journal being written.
#[derive(Debug)]
pub struct FileJournal {
    name: String,
    out: BufWriter<File>,
    flush_each: bool,
    line: Vec<u8>,
}

impl FileJournal {
    /// Creates the file `name` and writes the header.
    ///
    /// # Errors
    /// When it cannot be created or written.
    pub fn create(name: &str, header: &Header) -> Result<Self, JournalError> {
        let fail = |error| JournalError::Write { file: name.to_owned(), error };
        let file = File::create(name).map_err(fail)?;
        let mut journal = Self {
            name: name.to_owned(),
            out: BufWriter::with_capacity(64 * 1024, file),
            flush_each: false,
            line: Vec::new(),
        };
        serde_json::to_writer(&mut journal.line, header).map_err(|e| fail(io::Error::from(e)))?;
        journal.write_line()?;
        journal.finish()?;
        Ok(journal)
    }

    /// From now on every entry reaches the file at once, so that a killed agent leaves whole lines.
    #[must_use]
    pub fn flush_each(mut self) -> Self {
        self.flush_each = true;
        self
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&mut self) -> Result<(), JournalError> {
        self.out.flush().map_err(|error| self.fault(error))
    }

    fn write_line(&mut self) -> Result<(), JournalError> {
        self.line.push(b'\n');
        let written = self.out.write_all(&self.line);
        self.line.clear();
        written.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: io::Error) -> JournalError {
        JournalError::Write { file: self.name.clone(), error }
    }
}

impl JournalSink for FileJournal {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, entry).map_err(|e| self.fault(e.into()))?;
        self.write_line()?;
        if self.flush_each { self.finish() } else { Ok(()) }
    }
}

/// No file, no journal.
impl JournalSink for Option<FileJournal> {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        match self {
            Some(file) => file.append(entry),
            None => Ok(()),
        }
    }
}
