//! The one loop: live, in simulation and in replay.

use crate::board::Board;
use crate::command::{Command, Replacement};
use crate::diag::Diagnostic;
use crate::governor::{Governor, Tally};
use crate::journal::{EntryView, JournalError, Note, PolicyRecord};
use crate::policy::Policy;
use crate::policy::PolicySpec;
use crate::policy::canary::Canary;
use crate::ports::{
    Actuator, Clock, Control, CounterSource, JournalSink, NoControl, SourceError, Ticked,
};
use crate::sample::Sample;
use crate::units::Nanos;
use crate::vote::Applied;
use std::sync::atomic::{AtomicBool, Ordering};

/// The doors of one run.
pub struct Doors<'a, S, A, C, J> {
    /// Samples.
    pub source: &'a mut S,
    /// Votes.
    pub actuator: &'a mut A,
    /// Time.
    pub clock: &'a mut C,
    /// The story.
    pub journal: &'a mut J,
}

/// When to tick and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct Pace<'a> {
    /// Distance of the grid points.
    pub period: Nanos,
    /// Stop after so many samples, not counting those between two grid points; `None` for no bound.
    pub ticks: Option<u64>,
    /// Stop when this becomes true (a signal).
    pub stop: &'a AtomicBool,
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Samples walked.
    pub ticks: u64,
    /// Those of them that lay between two grid points, because a block interrupted.
    pub wakes: u64,
    /// Grid points that had passed before the loop came to them.
    pub missed: u64,
    /// How often the policy did not have its way.
    pub tally: Tally,
    /// Level changes that the machine took.
    pub transitions: u64,
    /// Votes that the machine refused.
    pub refused: u64,
    /// Entries that could not be written to the journal.
    pub journal_errors: u64,
    /// The first such error.
    pub journal_error: Option<String>,
}

/// Runs until the source ends, `pace` says so, or the source fails. The actuator is *not* released
/// here: whoever opened it does that, on this way out and on every other.
///
/// # Errors
/// When the source fails.
pub fn run<S, A, C, J>(
    governor: &mut Governor,
    doors: Doors<'_, S, A, C, J>,
    pace: Pace<'_>,
) -> Result<RunStats, SourceError>
where
    S: CounterSource,
    A: Actuator,
    C: Clock,
    J: JournalSink,
{
    run_under(governor, doors, pace, &mut NoControl)
}

/// The same, obeying at most one command before each tick.
///
/// # Errors
/// When the source fails.
pub fn run_under<S, A, C, J>(
    governor: &mut Governor,
    doors: Doors<'_, S, A, C, J>,
    pace: Pace<'_>,
    control: &mut dyn Control,
) -> Result<RunStats, SourceError>
where
    S: CounterSource,
    A: Actuator,
    C: Clock,
    J: JournalSink,
{
    let Doors { source, actuator, clock, journal } = doors;
    let mut stats = RunStats::default();
    let mut sample = Sample::default();
    let mut applied: Vec<Option<Applied>> = Vec::new();
    let start = clock.now();
    let mut point: u64 = 1;
    let mut number: u64 = 0;
    let over = |s: &RunStats| pace.ticks.is_some_and(|ticks| s.ticks - s.wakes >= ticks);
    while !over(&stats) && !pace.stop.load(Ordering::Relaxed) {
        clock.sleep_until(grid(start, pace.period, point));
        // Something woke the clock: this tick is one more, and the grid point is still to come.
        let woken = clock.now() < grid(start, pace.period, point);
        sample.tick = number.max(point - 1);
        number = sample.tick + 1;
        if let Some(command) = control.next() {
            match obey(governor, command) {
                Ok(note) => {
                    stats.written(journal.note(&note));
                    control.answered(Ok(&note));
                }
                Err(why) => control.answered(Err(&why)),
            }
        }
        match source.read(&mut sample) {
            Ok(()) => {}
            Err(SourceError::End) => break,
            Err(error) => return Err(error),
        }
        walk(governor, actuator, &sample, &mut applied, &mut stats);
        source.decided(governor);
        let entry = EntryView::new(governor.board(), &sample, governor.last(), &applied);
        stats.written(journal.append(&entry));
        for note in governor.take_notes() {
            stats.written(journal.note(&note));
            control.noted(&note);
        }
        stats.ticks += 1;
        if woken {
            stats.wakes += 1;
        } else {
            point = next_point(start, pace.period, point, clock.now(), &mut stats.missed);
        }
        let (sample, applied) = (&sample, applied.as_slice());
        control.ticked(&Ticked { governor, sample, applied, stats: &stats });
    }
    stats.tally = governor.tally().clone();
    Ok(stats)
}

impl RunStats {
    fn written(&mut self, written: Result<(), JournalError>) {
        if let Err(error) = written {
            self.journal_errors += 1;
            self.journal_error.get_or_insert_with(|| error.to_string());
        }
    }
}

/// Does what `command` says, and answers what is to be written down of it.
///
/// # Errors
/// A policy that cannot be made; nothing has changed then.
pub fn obey(governor: &mut Governor, command: Command) -> Result<Note, Diagnostic> {
    let make = |spec: PolicySpec, board: &Board| spec.build(board);
    obey_with(governor, command, make)
}

/// The same, with policies made by `make`.
///
/// # Errors
/// Those of `make`; nothing has changed then.
pub fn obey_with(
    governor: &mut Governor,
    command: Command,
    make: impl FnOnce(PolicySpec, &Board) -> Result<(Box<dyn Policy>, PolicyRecord), Diagnostic>,
) -> Result<Note, Diagnostic> {
    Ok(match command {
        Command::Replace(new) => {
            let Replacement { policy, canary, terms } = *new;
            let (made, policy) = make(policy, governor.board())?;
            let rails = terms.as_ref().map(|terms| terms.rails.clone());
            match canary {
                None => {
                    governor.replace(made);
                    if let Some(rails) = rails {
                        governor.set_rails(&rails);
                    }
                    Note::Policy { policy, terms }
                }
                Some((ms, rule)) => {
                    let canary = Canary::new(made, governor.board(), ms, rule.clone());
                    governor.start_canary(canary, rails);
                    Note::Canary { policy, ms, rule, terms }
                }
            }
        }
        Command::Pause(at) => {
            governor.set_pause(Some(at));
            Note::Pause(at)
        }
        Command::Resume => {
            governor.set_pause(None);
            Note::Resume
        }
        Command::Hold(hold) => {
            governor.hold(hold.clone());
            Note::Hold(hold)
        }
        Command::Release(id) => {
            governor.release_hold(id);
            Note::Release(id)
        }
    })
}

/// Walks the road for `sample` and gives every vote to the actuator.
pub fn walk<A: Actuator>(
    governor: &mut Governor,
    actuator: &mut A,
    sample: &Sample,
    applied: &mut Vec<Option<Applied>>,
    stats: &mut RunStats,
) {
    governor.tick(sample);
    applied.clear();
    for index in 0..governor.last().len() {
        let vote = governor.last().get(index).and_then(|tick| tick.vote);
        let answer = vote.map(|vote| {
            let answer = actuator.apply(&vote);
            if vote.change && answer.in_force() {
                stats.transitions += 1;
            }
            stats.refused += u64::from(matches!(answer, Applied::Refused { .. }));
            governor.answer(&vote, &answer, sample.window.end_ns);
            answer
        });
        applied.push(answer);
    }
}

fn grid(start: Nanos, period: Nanos, point: u64) -> Nanos {
    start.plus(Nanos(period.0.saturating_mul(point)))
}

/// The next grid point that lies ahead; those that have passed are counted, never made up.
fn next_point(start: Nanos, period: Nanos, point: u64, now: Nanos, missed: &mut u64) -> u64 {
    let next = point + 1;
    if period.0 == 0 || now <= grid(start, period, next) {
        return next;
    }
    let ahead = now.since(start).0.div_ceil(period.0).max(next);
    *missed += ahead - next;
    ahead
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
