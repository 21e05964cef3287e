//! Every name that a policy may use, in one place: `bwmon policy docs`, the tables of
//! docs/policy-guide.md, the editors' definitions and the suggestions in errors are made from it.

mod functions;
mod readings;
mod render;

pub use functions::FUNCTIONS;
pub use readings::PROPERTIES;
pub use render::{definitions, markdown, refreshed};

/// A value's type, as scripts name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number of 64 bits.
    Int,
    /// `true` or `false`.
    Bool,
    /// A text.
    Text,
    /// What `decide` answers.
    Proposal,
    /// `obs`.
    Observation,
    /// Nothing.
    Nothing,
}

impl Type {
    /// As in definition files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Bool => "bool",
            Self::Text => "String",
            Self::Proposal => "Proposal",
            Self::Observation => "Observation",
            Self::Nothing => "()",
        }
    }
}

/// A group of names, one table of the guide each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Properties of `obs`.
    Reading,
    /// Methods of `obs`.
    Asking,
    /// What `decide` answers.
    Proposal,
    /// Methods of a proposal.
    Refinement,
    /// Functions of the domain's OPP table.
    Table,
    /// Functions without a memory.
    Number,
    /// Functions with a named slot.
    Memory,
}

impl Group {
    /// All of them, in the order of the guide.
    pub const ALL: [Self; 7] = [
        Self::Reading,
        Self::Asking,
        Self::Proposal,
        Self::Refinement,
        Self::Table,
        Self::Number,
        Self::Memory,
    ];

    /// Its name in the guide's marks and in `policy docs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "readings",
            Self::Asking => "asking",
            Self::Proposal => "proposals",
            Self::Refinement => "refinements",
            Self::Table => "table",
            Self::Number => "numbers",
            Self::Memory => "memory",
        }
    }

    /// The words of this group.
    pub fn words(self) -> impl Iterator<Item = &'static Word> {
        PROPERTIES.iter().chain(FUNCTIONS).filter(move |word| word.group == self)
    }
}

/// One name.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The name itself.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// How it is written, with its arguments: `ewma("slot", x, pct)`.
    pub form: &'static str,
    /// Names and types of the arguments, without the object of a method.
    pub arguments: &'static [(&'static str, Type)],
    /// What it gives.
    pub gives: Type,
    /// When a reading is known; empty for everything else.
    pub known: &'static str,
    /// What it means.
    pub what: &'static str,
}

/// The word for readings that are always known.
const ALWAYS: &str = "always";
