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
