//! A journal walked up to one of its ticks, for an explanation of it.

use super::{Recorded, checked, command, governor};
use crate::diag::Diagnostic;
use crate::governor::Governor;
use crate::journal::{EntryView, Header, JournalError, Line, Note, PolicyRecord, Reader};
use crate::policy::{Policy, PolicySpec};
use crate::run::{RunStats, obey_with, walk};
use crate::sample::Sample;
use crate::vote::Applied;
use std::io::BufRead;

/// The tick that was looked for: everything as it was when it was decided.
pub struct Reached {
    /// The governor, whose last tick it is.
    pub governor: Governor,
    /// Its sample.
    pub sample: Sample,
    /// The machine's answers, per domain.
    pub applied: Vec<Option<Applied>>,
    /// Which policy decided, counted from 0 in the order in which they were made: the header's, then
    /// those that were put in its place or ran beside it.
    pub deciding: usize,
    /// The tick that brought the level in force before this one, per domain; `None` where it was in
    /// force from the start, or none is.
    pub since: Vec<Option<u64>>,
    /// Whether the journal has the same story of it to the byte.
    pub as_recorded: bool,
}

/// Walks `journal` to the first tick for which `wanted` says yes; `wanted` is asked before the tick
/// is walked. `make` makes its policies. `None` if there is no such tick; then the last sample is in
/// `last`.
///
/// # Errors
/// When the journal is broken, or a policy of it cannot be made.
pub fn until<R: BufRead>(
    mut journal: Reader<R>,
    header: &Header,
    mut make: impl FnMut(PolicySpec) -> Result<Box<dyn Policy>, Diagnostic>,
    mut wanted: impl FnMut(&Sample) -> bool,
    last: &mut Option<Sample>,
) -> Result<Option<Reached>, JournalError> {
    checked(journal.file(), header)?;
    let mut governor = governor(header, make(PolicySpec::from_record(&header.policy))?);
    let mut answers = Recorded::default();
    let (mut applied, mut stats) = (Vec::new(), RunStats::default());
    let mut since = vec![None; header.board.domains.len()];
    let (mut made, mut deciding, mut canary) = (1, 0, None);
    let file = journal.file().to_owned();
    while let Some((line, recorded)) = journal.read()? {
        let entry = match line {
            Line::Entry(entry) => *entry,
            Line::Note(note) => {
                let Some(command) = command(&file, header, &note)? else { continue };
                let made_here = |spec, _: &_| Ok((make(spec)?, PolicyRecord::default()));
                match obey_with(&mut governor, command, made_here)? {
                    Note::Policy { .. } => (deciding, canary, made) = (made, None, made + 1),
                    Note::Canary { .. } => (canary, made) = (Some(made), made + 1),
                    _ => {}
                }
                continue;
            }
        };
        let found = wanted(&entry.sample);
        let recorded = found.then(|| recorded.to_owned());
        answers.take(entry.domains);
        walk(&mut governor, &mut answers, &entry.sample, &mut applied, &mut stats);
        if let Some(recorded) = recorded {
            let view = EntryView::new(governor.board(), &entry.sample, governor.last(), &applied);
            let as_recorded = view.line().is_ok_and(|again| again == recorded);
            let sample = entry.sample;
            return Ok(Some(Reached { governor, sample, applied, deciding, since, as_recorded }));
        }
        for (since, (tick, answer)) in since.iter_mut().zip(governor.last().iter().zip(&applied)) {
            let taken = answer.as_ref().is_some_and(Applied::in_force);
            if taken && tick.vote.is_some_and(|vote| vote.change) {
                *since = Some(entry.sample.tick);
            }
        }
        for note in governor.take_notes() {
            if let Note::CanaryEnd(end) = note
                && let Some(promoted) = canary.take().filter(|_| end.promoted)
            {
                deciding = promoted;
            }
        }
        *last = Some(entry.sample);
    }
    Ok(None)
}
