use super::*;
use crate::board::{DevfreqKnob, DevfreqPath, builtin};
use crate::bwmon::ZoneMaxima;
use crate::decide::{Reason, Unvoted};
use crate::diag::Diagnostic;
use crate::policy::FaultKind;
use crate::sample::{ProbeFacts, Reading, Window};
use crate::units::Hz;

/// Answers from a list, one per tick; faults at its end.
struct Listed(Vec<Ask>, usize);

impl Policy for Listed {
    fn name(&self) -> &str {
        "listed"
    }
    fn decide(&mut self, _: &[Observation], _: usize) -> Result<Proposal, PolicyFault> {
        let ask = self.0.get(self.1).copied();
        self.1 += 1;
        ask.map(|ask| Proposal::new(ask, "listed")).ok_or_else(|| {
            PolicyFault::new(FaultKind::Error, Diagnostic::new("listed", "end of list"))
        })
    }
    fn reset(&mut self, _: usize) {}
}

fn governor(asks: Vec<Ask>) -> Governor {
    let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
    let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Top)];
    Governor::new(board, Box::new(Listed(asks, 0)), rails, &[])
}

fn sample(tick: u64, count: u16) -> Sample {
    Sample {
        tick,
        window: Window { start_ns: Nanos(tick * 4_000_000), end_ns: Nanos((tick + 1) * 4_000_000) },
        monitors: vec![Reading::Polled {
            zone_max: ZoneMaxima([0, count, 0, 0]),
            elapsed_ns: Nanos(4_000_000),
        }],
        probes: ProbeFacts::default(),
    }
}

fn step(governor: &mut Governor, tick: u64, count: u16) -> DomainTick {
    let sample = sample(tick, count);
    let done = governor.tick(&sample)[0].clone();
    if let Some(vote) = done.vote {
        governor.answer(&vote, &Applied::Placed, sample.window.end_ns);
    }
    done
}

#[test]
fn a_wish_becomes_a_vote_and_the_same_wish_no_change() {
    let mut governor = governor(vec![Ask::Opp(Level(3)), Ask::Opp(Level(3))]);
    let first = step(&mut governor, 0, 5).vote.unwrap();
    assert_eq!((first.level, first.peak_kbps.0, first.change), (Level(3), 3_072_000, true));
    assert!(!step(&mut governor, 1, 5).vote.unwrap().change);
}

#[test]
fn a_fault_is_answered_by_the_native_rule_on_that_very_tick() {
    let mut governor = governor(vec![]);
    // Count 200: 3216000 kBps, so the native rule asks for level 4 (4068000).
    let tick = step(&mut governor, 0, 200);
    assert!(matches!(tick.origin, Origin::Fault(_)));
    assert_eq!(tick.decision, Decision { level: Some(Level(4)), reason: Reason::Policy });
}

#[test]
fn three_faults_set_the_policy_aside_and_the_native_rule_governs() {
    let mut governor = governor(vec![]);
    let origins: Vec<Origin> = (0..4).map(|n| step(&mut governor, n, 200).origin).collect();
    assert_eq!(origins[3], Origin::Aside);
    let tally = governor.tally();
    assert_eq!((tally.faults, tally.fallbacks), (3, 4));
    assert_eq!(tally.first_fault.as_deref(), Some("end of list (listed)"));
}

#[test]
fn a_level_beyond_the_table_is_a_fault_with_the_range() {
    let mut governor = governor(vec![Ask::Opp(Level(8))]);
    let Origin::Fault(fault) = step(&mut governor, 0, 200).origin else { panic!("a fault") };
    assert_eq!(fault.kind, FaultKind::UnknownLevel);
    assert_eq!(fault.diagnostic.help.as_deref(), Some("levels go from 0 to 7"));
}

#[test]
fn a_refused_vote_is_tried_again_on_the_next_tick() {
    let mut governor = governor(vec![Ask::Max, Ask::Max]);
    let vote = governor.tick(&sample(0, 5))[0].vote.unwrap();
    governor.answer(&vote, &Applied::Refused { why: "EBUSY".into() }, Nanos(4_000_000));
    assert_eq!(governor.level(0), None);
    assert!(governor.tick(&sample(1, 5))[0].vote.unwrap().change);
}

#[test]
fn a_clamped_vote_is_kept_and_policies_see_what_was_read_back() {
    let mut board = builtin("sdm845-seed").unwrap().unwrap();
    let freq_hz = (1..=8).map(|n| Hz(n * 100)).collect();
    let (device, through) = ("noc".into(), DevfreqKnob::Userspace);
    board.domains[0].devfreq = Some(DevfreqPath { device, freq_hz, through });
    let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Top)];
    let mut asks = vec![Ask::Hold; 6];
    asks[0] = Ask::Opp(Level(6));
    let mut governor = Governor::new(Arc::new(board), Box::new(Listed(asks, 0)), rails, &[]);
    // A limit at 300 Hz, then one between two levels, then none.
    let answers = [
        (Applied::Clamped { found: 300 }, Some(Level(2))),
        (Applied::Clamped { found: 599 }, Some(Level(4))),
        (Applied::InForce, Some(Level(6))),
    ];
    for (tick, (answer, seen)) in (0..).zip(answers) {
        let vote = governor.tick(&sample(tick, 5))[0].vote.unwrap();
        assert_eq!((vote.level, vote.change), (Level(6), tick == 0));
        governor.answer(&vote, &answer, Nanos(tick));
        let next = governor.tick(&sample(tick, 5))[0].observation;
        assert_eq!(next.level, seen, "{answer:?}");
        if tick == 0 {
            assert_eq!(next.since_change_us, Some(4_000), "changed once, by our vote");
        }
    }
}

#[test]
fn a_foreign_write_makes_the_domain_manual() {
    let mut governor = governor(vec![Ask::Max, Ask::Min]);
    let vote = governor.tick(&sample(0, 5))[0].vote.unwrap();
    governor.answer(&vote, &Applied::Foreign { what: "governor".into() }, Nanos(4_000_000));
    let tick = &governor.tick(&sample(1, 5))[0];
    assert_eq!((tick.decision.reason, tick.vote), (Reason::Manual, None));
}

/// Keeps what it is told.
struct Told(std::rc::Rc<std::cell::RefCell<Vec<PolicyEvent>>>);

impl Policy for Told {
    fn name(&self) -> &str {
        "told"
    }
    fn decide(&mut self, _: &[Observation], _: usize) -> Result<Proposal, PolicyFault> {
        Ok(Proposal::new(Ask::Hold, ""))
    }
    fn reset(&mut self, _: usize) {}
    fn event(&mut self, _: usize, event: &PolicyEvent) -> Result<(), PolicyFault> {
        self.0.borrow_mut().push(event.clone());
        Ok(())
    }
}

#[test]
fn a_policy_hears_of_a_sleep_once_before_the_tick_after_it() {
    let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
    let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Top)];
    let heard = std::rc::Rc::default();
    let policy = Box::new(Told(std::rc::Rc::clone(&heard)));
    let mut governor = Governor::new(board, policy, rails, &[]);
    for (tick, slept_ms) in [(0, 0), (1, 1_500), (2, 0), (3, 0)] {
        let mut sample = sample(tick, 5);
        sample.probes.slept_ns = Nanos(slept_ms * Nanos::PER_MS);
        governor.tick(&sample);
    }
    assert!(matches!(heard.borrow()[..], [PolicyEvent::Resumed { slept_ms: 1_500 }]));
}
