use super::*;
use crate::board::{Board, builtin};
use crate::bwmon::ZoneMaxima;
use crate::decide::Unvoted;
use crate::governor::{Governor, Origin};
use crate::journal::Note;
use crate::policy::library;
use crate::policy::script::{ScriptPolicy, Source};
use crate::sample::{ProbeFacts, Reading, Sample, Window};
use crate::vote::Applied;
use proptest::prelude::*;
use std::sync::Arc;

fn board() -> Arc<Board> {
    Arc::new(builtin("sdm845-seed").unwrap().unwrap())
}

fn script(text: &str) -> Box<dyn Policy> {
    let source = Source { name: "p.rhai".into(), text: text.into() };
    Box::new(ScriptPolicy::new(source, &board(), &[]).unwrap_or_else(|fault| panic!("{fault}")))
}

fn shipped(name: &str) -> Box<dyn Policy> {
    script(library::shipped(name).unwrap().text)
}

fn governor(policy: Box<dyn Policy>) -> Governor {
    let board = board();
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    Governor::new(board, policy, rails, &[])
}

/// A tick of 4 ms with the count of its only window; the vote is taken.
fn step(governor: &mut Governor, tick: u64, count: u16) -> (Option<Level>, Origin) {
    let at = |n: u64| Nanos(n * 4 * Nanos::PER_MS);
    let reading = Reading::Polled { zone_max: ZoneMaxima([0, count, 0, 0]), elapsed_ns: at(1) };
    let sample = Sample {
        tick,
        window: Window { start_ns: at(tick), end_ns: at(tick + 1) },
        monitors: vec![reading],
        probes: ProbeFacts::default(),
    };
    let done = governor.tick(&sample)[0].clone();
    if let Some(vote) = done.vote {
        governor.answer(&vote, &Applied::Placed, sample.window.end_ns);
    }
    (done.decision.level, done.origin)
}

fn end(notes: Vec<Note>) -> Option<CanaryEnd> {
    notes.into_iter().find_map(|note| match note {
        Note::CanaryEnd(end) => Some(end),
        _ => None,
    })
}

/// Square traffic for `ticks` ticks; how the canary ended, and the votes that were placed.
fn run(canary: &str, rule: &str, ticks: u64) -> (Option<CanaryEnd>, Vec<Option<Level>>, Governor) {
    let mut governor = governor(shipped("bwmon"));
    let mut ended = None;
    let mut levels = Vec::new();
    for tick in 0..ticks {
        if tick == 10 {
            let rule = rule.parse().unwrap();
            governor.start_canary(Canary::new(script(canary), &board(), 400, rule), None);
        }
        let count = if tick / 25 % 2 == 0 { 400 } else { 40 };
        levels.push(step(&mut governor, tick, count).0);
        if let Some(end) = end(governor.take_notes()) {
            assert!(ended.replace((tick, end)).is_none());
        }
    }
    // 400 ms are 100 ticks after the first one of tick 10.
    let ended = ended.map(|(tick, end)| {
        assert_eq!(tick, 110);
        end
    });
    (ended, levels, governor)
}

const ALWAYS_TOP: &str = "fn decide(obs) { opp_max() }";
const ALWAYS_LOW: &str = "fn decide(obs) { opp_min() }";

#[test]
fn while_it_runs_the_old_policys_votes_are_placed() {
    let (_, with, _) = run(ALWAYS_LOW, "faults<=0", 100);
    let mut alone = governor(shipped("bwmon"));
    for (tick, level) in with.into_iter().enumerate() {
        let count = if tick / 25 % 2 == 0 { 400 } else { 40 };
        assert_eq!(step(&mut alone, tick as u64, count).0, level, "tick {tick}");
    }
}

#[test]
fn one_that_starves_the_machine_is_dropped() {
    let (ended, levels, _) = run(ALWAYS_LOW, &Rule::default().to_string(), 200);
    let ended = ended.unwrap();
    assert!(!ended.promoted);
    // Half of the 101 ticks are busy, and 400 counts are above the lowest level; the first window of
    // each burst is below demand under bwmon too.
    assert!(ended.failed.unwrap().starts_with("below_demand_ms"));
    assert!(ended.new.below_demand_us > 10 * ended.old.below_demand_us.max(1));
    // (400 + 1) * 64 * 250 = 6416000 kBps: level 7 (7216000) under the old rule.
    assert_eq!(levels[151], Some(Level(7)));
}

#[test]
fn one_that_meets_the_rule_takes_over_with_what_it_learned() {
    let counts = "fn init(i) { #{ n: 0 } }\n\
                  fn decide(obs) { this.n += 1; if this.n > 100 { opp(3) } else { opp_max() } }";
    let (ended, levels, _) = run(counts, "faults<=0, below_demand_ms<=+0", 120);
    let ended = ended.unwrap();
    assert!(ended.promoted && ended.failed.is_none(), "{ended:?}");
    // It had been asked 101 times in shadow, so it is past its hundred at once.
    assert_eq!(levels[111], Some(Level(3)));
    assert_ne!(levels[110], Some(Level(3)));
}

#[test]
fn a_canary_sees_its_own_level_as_the_one_in_force() {
    // It climbs by one level at a time from where the machine is: only its own level can tell it.
    let climbs = "fn decide(obs) { opp(if obs.level > 0 { obs.level - 1 } else { 0 }) }";
    let (ended, ..) = run(climbs, "faults<=0, transitions<=7", 120);
    let ended = ended.unwrap();
    assert_eq!((ended.new.transitions, ended.promoted), (7, true), "{ended:?}");
}

#[test]
fn a_canary_that_faults_is_dropped_and_costs_the_governor_nothing() {
    let (ended, _, governor) = run("fn decide(obs) { throw \"x\"; }", "faults<=0", 120);
    let ended = ended.unwrap();
    assert!(!ended.promoted && ended.new.faults == 101, "{ended:?}");
    assert_eq!((governor.tally().faults, governor.tally().fallbacks), (0, 0));
}

#[test]
fn a_replaced_policy_is_forgiven_and_keeps_the_level() {
    let mut governor = governor(script("fn decide(obs) { throw \"x\"; }"));
    let mut tick = 0;
    let mut notes = Vec::new();
    while !notes.iter().any(|note| matches!(note, Note::Demoted { .. })) {
        step(&mut governor, tick, 400);
        notes = governor.take_notes();
        tick += 1;
        assert!(tick < 10_000);
    }
    assert_eq!(step(&mut governor, tick, 400), (Some(Level(7)), Origin::Demoted));
    assert_eq!(governor.tally().demoted, 1);
    governor.replace(script("fn decide(obs) { hold() }"));
    assert_eq!(step(&mut governor, tick + 1, 40), (Some(Level(7)), Origin::Policy));
    assert_eq!(governor.tally().demoted, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn no_order_of_swaps_canaries_and_faults_leaves_a_tick_without_a_vote(
        steps in prop::collection::vec((0usize..12, 0u16..500), 1..120),
    ) {
        let texts = [ALWAYS_TOP, ALWAYS_LOW, "fn decide(obs) { throw 1; }", "fn decide(obs) { hold() }"];
        let mut governor = governor(shipped("bwmon"));
        for (tick, (kind, count)) in steps.into_iter().enumerate() {
            match kind {
                0..4 => governor.replace(script(texts[kind])),
                4..8 => {
                    let rule = "faults<=3".parse().unwrap();
                    governor.start_canary(Canary::new(script(texts[kind - 4]), &board(), 20, rule), None);
                }
                _ => {}
            }
            let (level, _) = step(&mut governor, tick as u64, count);
            prop_assert!(level.is_some(), "tick {}", tick);
        }
    }
}
