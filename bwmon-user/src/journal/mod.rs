//! The journal: explanation, recording and test fixture at once. Format: docs/journal-format.md.

mod entry;
mod header;
mod in_force;
mod note;
mod read;

pub use entry::{Entry, EntryDomain, EntryView};
pub use header::{BundleRecord, Header, PartRecord, PolicyRecord, ProductRecord, SCHEMA};
pub use in_force::{Continues, InForce};
pub use note::{Lost, Note};
pub use read::{Line, Reader};

/// What can be wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It could not be written.
    #[error("cannot write the journal {file}: {error}")]
    Write {
        /// The file.
        file: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no journal of ours, or a broken one.
    #[error(transparent)]
    Broken(#[from] crate::diag::Diagnostic),
}
