//! The journal as a file.

use crate::journal::{EntryView, Header, JournalError, Note};
use crate::ports::JournalSink;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// A journal being written.
#[derive(Debug)]
pub struct FileJournal {
    name: String,
    out: BufWriter<File>,
    line: Vec<u8>,
}

impl FileJournal {
    /// Creates the file `name`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(name: &str) -> Result<Self, JournalError> {
        let file = File::create(name)
            .map_err(|error| JournalError::Write { file: name.to_owned(), error })?;
        Ok(Self {
            name: name.to_owned(),
            out: BufWriter::with_capacity(64 * 1024, file),
            line: Vec::new(),
        })
    }

    /// Writes the first line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&mut self, header: &Header) -> Result<(), JournalError> {
        serde_json::to_writer(&mut self.line, header).map_err(|e| self.fault(e.into()))?;
        self.write_line()?;
        self.finish()
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
        self.write_line()
    }

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        self.line = note.line().map_err(|e| self.fault(e.into()))?.into_bytes();
        self.write_line()?;
        self.finish()
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

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        self.as_mut().map_or(Ok(()), |file| file.note(note))
    }
}
