//! The four doors between the road and a machine, a simulation or a recording.

use crate::command::Command;
use crate::diag::Diagnostic;
use crate::governor::Governor;
use crate::journal::{EntryView, JournalError, Note};
use crate::run::RunStats;
use crate::sample::Sample;
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use serde::Serialize;

/// Why no sample could be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The source has come to its end (simulation, recording). The loop ends well.
    #[error("no more samples")]
    End,
    /// The source failed for good. A single monitor that fails is a reading in the sample instead.
    #[error("cannot read samples: {0}")]
    Failed(String),
}

/// Where samples come from.
pub trait CounterSource {
    /// Fills `sample` with this tick's readings. It is filled in place so that a tick allocates
    /// nothing; its `tick` has been set by the loop.
    ///
    /// # Errors
    /// [`SourceError::End`] closes the loop, anything else ends it as failed.
    fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError>;

    /// What `governor` made of the last sample; blocks that wake the loop get their thresholds from
    /// it.
    fn decided(&mut self, _governor: &Governor) {}
}

/// Where votes go.
pub trait Actuator {
    /// Places `vote`, or, if it is no change, may look whether it still stands. What the machine
    /// answers is never an error: refusals, clamping and foreign writes are answers.
    fn apply(&mut self, vote: &Vote) -> Applied;

    /// Puts back what was there before the first vote, and says what became of each object. Called
    /// once, on every way out; empty where nothing was changed.
    fn release(&mut self) -> Vec<Outcome>;
}

/// What became of one object at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The object.
    pub object: String,
    /// Whether nothing is left to be done for it.
    pub done: bool,
    /// What was done or why not.
    pub what: String,
}

/// Time, and waiting for it.
pub trait Clock {
    /// Monotonic time.
    fn now(&self) -> Nanos;
    /// Waits until `moment`; returns at once if it has passed, and early if something wants to be
    /// looked at before.
    fn sleep_until(&mut self, moment: Nanos);
}

/// Where the story is written down.
pub trait JournalSink {
    /// Appends one tick's story.
    ///
    /// # Errors
    /// When it could not be written. The loop counts this and goes on governing.
    fn append(&mut self, entry: &EntryView<'_>) -> Result<(), JournalError>;

    /// Appends what happened between two ticks.
    ///
    /// # Errors
    /// When it could not be written. The loop counts this and goes on governing.
    fn note(&mut self, _note: &Note) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Where commands come from, and who hears what came of them.
pub trait Control {
    /// The next command, if there is one. Asked once before each tick.
    fn next(&mut self) -> Option<Command>;

    /// What came of the last command: what is written down of it, or why it could not be obeyed;
    /// nothing has changed then.
    fn answered(&mut self, answer: Result<&Note, &Diagnostic>);

    /// The governor noted something by itself.
    fn noted(&mut self, _note: &Note) {}

    /// A tick is done.
    fn ticked(&mut self, _ticked: &Ticked<'_>) {}
}

/// A tick that is done.
#[derive(Clone, Copy)]
pub struct Ticked<'a> {
    /// Who decided.
    pub governor: &'a Governor,
    /// On what.
    pub sample: &'a Sample,
    /// The machine's answers, one per domain.
    pub applied: &'a [Option<Applied>],
    /// The run so far.
    pub stats: &'a RunStats,
}

/// No commands.
#[derive(Debug, Default)]
pub struct NoControl;

impl Control for NoControl {
    fn next(&mut self) -> Option<Command> {
        None
    }
    fn answered(&mut self, _: Result<&Note, &Diagnostic>) {}
}

/// No journal.
#[derive(Debug, Default)]
pub struct NoJournal;

impl JournalSink for NoJournal {
    fn append(&mut self, _: &EntryView<'_>) -> Result<(), JournalError> {
        Ok(())
    }
}
