//! Which bundle governs when an agent starts, and ways back to an earlier one.

use super::state::{Id, Standing};

/// What came of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// No bundle is installed.
    None,
    /// This one governs.
    With(Id, Standing),
    /// The current one may not be tried again; the answer says what counts now.
    RolledBack(Rolled),
}

/// A way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rolled {
    /// What counted.
    pub from: Id,
    /// What counts now; `None` if no good bundle is left, so that the products of /usr/lib and the
    /// built-in ones do.
    pub to: Option<Id>,
    /// Why, in a line.
    pub why: String,
}
