//! The journal, with those who follow it.

use super::hub::Hub;
use crate::journal::{EntryView, JournalError, Note};
use crate::ports::JournalSink;

/// `inner`, and every line of it to the followers.
pub(super) struct Tail<J> {
    pub(super) hub: Hub,
    pub(super) inner: J,
}

impl<J: JournalSink> JournalSink for Tail<J> {
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError> {
        self.hub.tell(|| entry.line().ok());
        self.inner.append(entry)
    }

    fn note(&mut self, note: &Note) -> Result<(), JournalError> {
        self.hub.tell(|| note.line().ok());
        self.inner.note(note)
    }
}
