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
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::decide::{Rails, Unvoted};
    use crate::policy::Mainline;
    use crate::ports::{NoJournal, Outcome};
    use crate::sample::{Missing, Reading};
    use crate::vote::Vote;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[test]
    fn the_next_grid_point_follows_when_the_loop_is_in_time() {
        let mut missed = 0;
        assert_eq!(next_point(Nanos(100), Nanos(10), 3, Nanos(134), &mut missed), 4);
        assert_eq!(missed, 0);
    }

    #[test]
    fn points_that_passed_are_skipped_and_counted() {
        // Start 100, period 10: point 4 is at 140. At 171 the next point ahead is 8 (180).
        let mut missed = 0;
        assert_eq!(next_point(Nanos(100), Nanos(10), 3, Nanos(171), &mut missed), 8);
        assert_eq!(missed, 4);
    }

    #[test]
    fn a_clock_that_jumped_back_does_not_repeat_points() {
        let mut missed = 0;
        assert_eq!(next_point(Nanos(100), Nanos(10), 3, Nanos(50), &mut missed), 4);
    }

    /// Time that jumps to each moment, or to a wake before it.
    struct Jumping {
        now: Nanos,
        wakes: Vec<Nanos>,
    }

    impl Clock for Jumping {
        fn now(&self) -> Nanos {
            self.now
        }
        fn sleep_until(&mut self, moment: Nanos) {
            self.now = match self.wakes.first() {
                Some(wake) if *wake < moment => self.wakes.remove(0),
                _ => moment,
            };
        }
    }

    /// Notes the number of each tick, and how often it was told of a decision.
    #[derive(Default)]
    struct Numbers {
        ticks: Vec<u64>,
        decided: usize,
    }

    impl CounterSource for Numbers {
        fn read(&mut self, sample: &mut Sample) -> Result<(), SourceError> {
            self.ticks.push(sample.tick);
            sample.monitors = vec![Reading::Missing(Missing::NoUpdate)];
            Ok(())
        }
        fn decided(&mut self, _: &Governor) {
            self.decided += 1;
        }
    }

    struct Nowhere;

    impl Actuator for Nowhere {
        fn apply(&mut self, _: &Vote) -> Applied {
            Applied::DryRun
        }
        fn release(&mut self) -> Vec<Outcome> {
            Vec::new()
        }
    }

    fn numbers(wakes: &[u64]) -> (Numbers, RunStats) {
        let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
        let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Nothing)];
        let policy = Box::new(Mainline::new(&board));
        let mut governor = Governor::new(board, policy, rails, &[]);
        let mut source = Numbers::default();
        let wakes = wakes.iter().map(|ns| Nanos(*ns)).collect();
        let doors = Doors {
            source: &mut source,
            actuator: &mut Nowhere,
            clock: &mut Jumping { now: Nanos(0), wakes },
            journal: &mut NoJournal,
        };
        let stop = AtomicBool::new(false);
        let pace = Pace { period: Nanos(10), ticks: Some(3), stop: &stop };
        let stats = run(&mut governor, doors, pace).unwrap();
        (source, stats)
    }

    #[test]
    fn a_wake_is_one_more_tick_and_the_grid_point_still_comes() {
        let (source, stats) = numbers(&[]);
        assert_eq!((source.ticks, stats.ticks, stats.wakes), (vec![0, 1, 2], 3, 0));
        // Grid points at 10, 20 and 30; wakes at 3 and 7, and at 25. Three grid points all the same.
        let (source, stats) = numbers(&[3, 7, 25]);
        assert_eq!(source.ticks, [0, 1, 2, 3, 4, 5]);
        assert_eq!((stats.ticks, stats.wakes, stats.missed), (6, 3, 0));
        assert_eq!(source.decided, 6);
    }

    /// A clock that is late: each sleep ends so much after its moment (a stalled machine, a debugger).
    struct Late {
        now: Nanos,
        delays: Vec<u64>,
        /// What was asked for, and when.
        asked: Vec<(Nanos, Nanos)>,
    }

    impl Clock for Late {
        fn now(&self) -> Nanos {
            self.now
        }
        fn sleep_until(&mut self, moment: Nanos) {
            self.asked.push((moment, self.now));
            self.now = Nanos(moment.0.max(self.now.0) + self.delays.pop().unwrap_or(0));
        }
    }

    proptest! {
        #[test]
        fn jumps_of_the_clock_are_missed_points_and_never_a_burst(
            start in 0_u64..1 << 60,
            delays in prop::collection::vec(prop_oneof![0_u64..20, 0..86_400 * Nanos::PER_S], 1..30),
        ) {
            let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
            let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Nothing)];
            let policy = Box::new(Mainline::new(&board));
            let mut governor = Governor::new(board, policy, rails, &[]);
            let mut source = Numbers::default();
            let ticks = delays.len() as u64;
            let mut clock = Late { now: Nanos(start), delays, asked: Vec::new() };
            let doors = Doors {
                source: &mut source,
                actuator: &mut Nowhere,
                clock: &mut clock,
                journal: &mut NoJournal,
            };
            let stop = AtomicBool::new(false);
            let pace = Pace { period: Nanos(10), ticks: Some(ticks), stop: &stop };
            let stats = run(&mut governor, doors, pace).unwrap();
            prop_assert_eq!((stats.ticks, stats.wakes), (ticks, 0));
            // Every sleep is to the next grid point, and to no moment before it.
            for (moment, now) in &clock.asked {
                prop_assert_eq!((moment.0 - start) % 10, 0);
                prop_assert!(moment >= now && moment.0 - now.0 <= 10, "{:?} at {:?}", moment, now);
            }
            // Points on the way are either ticks or missed, each once.
            let (last, _) = clock.asked[clock.asked.len() - 1];
            prop_assert!(source.ticks.is_sorted_by(|a, b| a < b));
            let points = (last.0 - start) / 10;
            prop_assert_eq!(source.ticks[source.ticks.len() - 1] + 1, points);
            // A point that is now is still ahead.
            let after = (clock.now.0 - start).div_ceil(10).saturating_sub(points + 1);
            prop_assert_eq!(stats.missed, points - ticks + after);
        }
    }
}
