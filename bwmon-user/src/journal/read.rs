//! Reading a journal line by line; a broken one is shown with its line.

use super::{Entry, Header, JournalError, Note, SCHEMA};
use crate::diag::{Diagnostic, Place};
use std::io::{BufRead, Read};

/// Bytes of a line that are read; a real one is a few kB long.
const MOST: u64 = 4 * 1024 * 1024;

/// Characters of a broken line that are shown.
const SHOWN: usize = 120;

/// A line after the header.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A tick.
    Entry(Box<Entry>),
    /// Something between two ticks.
    Note(Box<Note>),
}

/// A journal being read.
pub struct Reader<R> {
    file: String,
    input: R,
    line: usize,
    text: String,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header from `input`; `file` is its name in errors.
    ///
    /// # Errors
    /// When it cannot be read, or is no journal that this program knows.
    pub fn open(file: &str, input: R) -> Result<(Self, Header), JournalError> {
        let mut reader = Self { file: file.to_owned(), input, line: 0, text: String::new() };
        if !reader.next_line()? {
            return Err(Diagnostic::new(file, "the journal is empty").into());
        }
        #[derive(serde::Deserialize)]
        struct Version {
            schema: u32,
        }
        let version: Version = serde_json::from_str(&reader.text).map_err(|_| {
            reader
                .fault(1, "this is no bwmon journal: its first line has no \"schema\"")
                .help("journals are written by `bwmon run --journal` and `bwmon sim --journal`")
        })?;
        if version.schema != SCHEMA {
            let message = format!("journal schema {} is not known", version.schema);
            let help = format!("this bwmon reads schema {SCHEMA}; use the bwmon that wrote it");
            return Err(reader.fault(1, message).help(help).into());
        }
        let header = serde_json::from_str(&reader.text).map_err(|error| {
            reader.fault(error.column(), format!("the journal's header is broken: {error}"))
        })?;
        Ok((reader, header))
    }

    /// The next line with its text, or `None` at the end.
    ///
    /// # Errors
    /// When the line cannot be read or is broken or cut off.
    pub fn read(&mut self) -> Result<Option<(Line, &str)>, JournalError> {
        #[derive(serde::Deserialize)]
        struct Noted {
            note: Note,
        }
        if !self.next_line()? {
            return Ok(None);
        }
        let line = if self.text.starts_with(r#"{"note":"#) {
            serde_json::from_str(&self.text).map(|noted: Noted| Line::Note(Box::new(noted.note)))
        } else {
            serde_json::from_str(&self.text).map(|entry| Line::Entry(Box::new(entry)))
        };
        match line {
            Ok(line) => Ok(Some((line, self.text.as_str()))),
            Err(error) => {
                let fault = if error.is_eof() {
                    self.fault(error.column(), "the line is cut off: the journal is truncated")
                        .help("the lines before it are whole; cut this one off to replay them")
                } else {
                    self.fault(error.column(), format!("this is no journal entry: {error}"))
                };
                Err(fault.into())
            }
        }
    }

    /// The next entry with its text, or `None` at the end; what is noted between is passed over.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, JournalError> {
        loop {
            match self.read()? {
                None => return Ok(None),
                Some((Line::Entry(entry), _)) => return Ok(Some(*entry)),
                Some((Line::Note(_), _)) => {}
            }
        }
    }

    /// The journal's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line number of the last entry, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    fn next_line(&mut self) -> Result<bool, JournalError> {
        self.text.clear();
        self.line += 1;
        let line = self.line;
        let read = (&mut self.input).take(MOST).read_line(&mut self.text).map_err(|error| {
            JournalError::Broken(Diagnostic::new(
                &self.file,
                format!("line {line} of the journal cannot be read: {error}"),
            ))
        })?;
        if read as u64 == MOST {
            return Err(self.fault(1, format!("the line is longer than {MOST} bytes")).into());
        }
        let kept = self.text.trim_end_matches(['\n', '\r']).len();
        self.text.truncate(kept);
        Ok(read > 0)
    }

    fn fault(&self, column: usize, message: impl Into<String>) -> Diagnostic {
        let column = column.clamp(1, SHOWN);
        let text: String = self.text.chars().take(SHOWN).collect();
        Diagnostic::new(&self.file, message).at(Place { line: self.line, column, text })
    }
}
