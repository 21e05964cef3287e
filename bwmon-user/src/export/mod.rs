//! Journals for other tools: CSV for spreadsheets, Perfetto's trace format for its user interface.
//!
//! Tick by tick, so that a journal of any length can be written; what is unknown is left out, never 0.

mod csv;
mod perfetto;
mod story;
mod wire;

pub use csv::CsvExport;
pub use perfetto::PerfettoExport;
pub use story::{DomainStory, Story};
