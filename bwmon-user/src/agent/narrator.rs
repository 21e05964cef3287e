//! Telling the operator what changes while the agent runs: once per change, never in a flood.

use crate::journal::{EntryView, Header, JournalError};
use crate::live::FileJournal;
use crate::ports::JournalSink;
use crate::vote::Applied;

/// Writes the journal, and says what an operator should not have to look for in it.
pub(super) struct Narrator<'a, F> {
    file: Option<FileJournal>,
    say: &'a F,
    /// The last thing said about each domain.
    said: Vec<Option<String>>,
    journal_failed: bool,
}

impl<'a, F: Fn(&str)> Narrator<'a, F> {
    pub(super) fn new(file: Option<FileJournal>, say: &'a F) -> Self {
        Self { file, say, said: Vec::new(), journal_failed: false }
    }

    pub(super) fn begin(&mut self, header: &Header) -> Result<(), JournalError> {
        self.said = vec![None; header.board.domains.len()];
        match &mut self.file {
            Some(file) => file.begin(header),
            None => Ok(()),
        }
    }

    fn tell(&mut self, entry: &EntryView<'_>) {
        for ((name, _, applied), said) in entry.domains().zip(&mut self.said) {
            let news = match applied {
                Some(Applied::Foreign { what }) => {
                    format!("domain {name} is manual from now on: {what}")
                }
                Some(Applied::Gone { what }) => format!("domain {name} is gone: {what} vanished"),
                Some(Applied::Refused { why }) => format!("domain {name}: vote refused: {why}"),
                // Taken again after a refusal: the next refusal is news.
                Some(answer) if answer.in_force() => {
                    *said = None;
                    continue;
                }
                _ => continue,
            };
            if said.as_deref() != Some(news.as_str()) {
                (self.say)(&news);
                *said = Some(news);
            }
        }
    }
}

impl<F: Fn(&str)> JournalSink for Narrator<'_, F> {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        self.tell(entry);
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.append(entry);
        if let Err(error) = &written
            && !self.journal_failed
        {
            self.journal_failed = true;
            (self.say)(&format!("{error}; governing goes on without it"));
        }
        written
    }
}
