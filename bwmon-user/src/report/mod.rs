//! Reports: what an experiment says, for a terminal ([`text()`]), a mailing list ([`markdown()`]),
//! scripts ([`csv()`], [`runs_csv()`]) and a browser ([`html()`]). JSON is [`Judged`] itself.
//!
//! Values in, a string out. People read numbers rounded to four digits; scripts read them exactly.
//! What is not known is said to be unknown (an empty field in CSV), never 0.
//!
//! [`Judged`]: crate::experiment::Judged

mod csv;
mod html;
mod markdown;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod text;
mod view;
mod words;

#[cfg(test)]
mod samples;

pub use csv::{csv, runs_csv};
pub use html::{Trace, TracePoint, html};
pub use markdown::markdown;
#[cfg(feature = "parquet")]
pub use parquet::parquet;
pub use text::text;
