//! Experiments: comparing governors so that the answer can be believed.
//!
//! Collecting and judging are apart: an [`Agenda`] becomes a plan, runs become [`Line`]s, and lines
//! are judged whenever somebody asks, years later too. Nothing here does any IO; `lab` does.

mod agenda;
mod compare;
mod judge;
mod judged;
pub mod library;
mod line;
mod meter;
mod parse;
mod plan;
mod raw;
pub mod search;
#[cfg(test)]
pub(crate) mod testing;

pub use agenda::{
    Agenda, Better, Command, Compare, FixedLevel, From, JournalMeasure, Judging, Limits, Measure,
    ModelMeasure, Place, Rig, Subject, SubjectKind, Workload, WorkloadKind,
};
pub use compare::{Change, Comparison, Experiment, compare};
pub use judge::judge;
pub use judged::{Effect, Judged, JudgedCell, MeasureInfo, Runs, Said, Verdict};
pub use line::{Line, Status};
pub use meter::{Meter, Ticked};
pub use parse::parse;
pub use plan::{Block, Shard, plan};
