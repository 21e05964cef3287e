//! Scripts that mean harm: refused when they are checked, or contained on the tick.
//!
//! Each file of `tests/data/hostile` begins with what is to become of it: `refused` (not loaded),
//! `contained` (it faults, and the native rule votes on that very tick), or `harmless` (it gets
//! nowhere, within its budget).

use bwmon_user::allocations::allocated_bytes;
use bwmon_user::board::{Board, builtin};
use bwmon_user::bwmon::ZoneMaxima;
use bwmon_user::decide::{Rails, Unvoted};
use bwmon_user::governor::{Governor, Origin};
use bwmon_user::observe::Observation;
use bwmon_user::policy::script::{MAX_OPERATIONS, ScriptPolicy, Source};
use bwmon_user::policy::{Mainline, Policy, PolicyFault, Proposal};
use bwmon_user::sample::{ProbeFacts, Reading, Sample, Window};
use bwmon_user::units::Nanos;
use bwmon_user::vote::Applied;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// Ticks that a script is let run: long enough to be set aside and asked again.
const TICKS: u64 = 400;
/// Bytes that one call may ask for in all, given back or not: 5000 operations, each of which may
/// copy the largest array (64 entries of 16 bytes), and as much again.
const MOST_BYTES: u64 = 2 * MAX_OPERATIONS * 64 * 16;

/// Notes the most that one call used.
struct Watched {
    policy: ScriptPolicy,
    most: Rc<Cell<(u64, u64)>>,
}

impl Policy for Watched {
    fn name(&self) -> &str {
        self.policy.name()
    }
    fn decide(&mut self, all: &[Observation], domain: usize) -> Result<Proposal, PolicyFault> {
        let before = allocated_bytes();
        let answer = self.policy.decide(all, domain);
        let (operations, bytes) = self.most.get();
        let used = allocated_bytes() - before;
        self.most.set((operations.max(self.policy.operations()), bytes.max(used)));
        answer
    }
    fn reset(&mut self, domain: usize) {
        self.policy.reset(domain);
    }
}

fn governor(board: &Arc<Board>, policy: Box<dyn Policy>) -> Governor {
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    Governor::new(board.clone(), policy, rails, &[])
}

fn sample(tick: u64) -> Sample {
    let count = [40, 60, 120, 200, 300, 400, 480, 30][(tick / 20 % 8) as usize];
    let elapsed_ns = Nanos(4 * Nanos::PER_MS);
    let window =
        Window { start_ns: Nanos(tick * elapsed_ns.0), end_ns: Nanos((tick + 1) * elapsed_ns.0) };
    let reading = Reading::Polled { zone_max: ZoneMaxima([0, count, 0, 0]), elapsed_ns };
    Sample { tick, window, monitors: vec![reading], probes: ProbeFacts::default() }
}

/// Walks one tick, lets the machine take every vote, and answers the level in force.
fn walk(governor: &mut Governor, sample: &Sample) -> Option<bwmon_user::board::Level> {
    governor.tick(sample);
    if let Some(vote) = governor.last()[0].vote {
        governor.answer(&vote, &Applied::Placed, sample.window.end_ns);
    }
    governor.level(0)
}

struct Seen {
    faults: u64,
    operations: u64,
    bytes: u64,
}

/// Runs `policy` beside the native rule.
fn seen(name: &str, board: &Arc<Board>, policy: ScriptPolicy) -> Seen {
    let most = Rc::new(Cell::new((0, 0)));
    let mut hostile = governor(board, Box::new(Watched { policy, most: most.clone() }));
    let mut native = governor(board, Box::new(Mainline::new(board)));
    let mut always = true;
    for tick in 0..TICKS {
        let sample = sample(tick);
        let (level, expected) = (walk(&mut hostile, &sample), walk(&mut native, &sample));
        assert!(level.is_some(), "{name}: tick {tick} left the path without a voter");
        let answered = &hostile.last()[0];
        always &= answered.origin != Origin::Policy;
        if answered.origin != Origin::Policy && always {
            assert_eq!(level, expected, "{name}: tick {tick}");
            assert_eq!(answered.proposal, native.last()[0].proposal, "{name}: tick {tick}");
        }
    }
    let (operations, bytes) = most.get();
    Seen { faults: hostile.tally().faults, operations, bytes }
}

#[test]
fn every_hostile_script_is_refused_or_contained() {
    let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
    let folder = crate::common::repository().join("tests/data/hostile");
    let (mut scripts, mut wrong) = (0, Vec::new());
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = text.trim_start_matches("// ").split(':').next().unwrap().to_owned();
        let source = Source { name: name.clone(), text };
        let became = match ScriptPolicy::new(source, &board, &[]) {
            Err(fault) => {
                assert!(!fault.message.is_empty(), "{name}");
                "refused"
            }
            Ok(policy) => {
                let seen = seen(&name, &board, policy);
                // What is refused is counted too: one operation, or one for each comparison that
                // a sort of the largest array still asks for.
                let most = MAX_OPERATIONS + 64 * 6;
                assert!(seen.operations <= most, "{name}: {}", seen.operations);
                assert!(seen.bytes <= MOST_BYTES, "{name}: {} bytes in one call", seen.bytes);
                if seen.faults > 0 { "contained" } else { "harmless" }
            }
        };
        if became != expected {
            wrong.push(format!("{name}: {became}, not {expected}"));
        }
        scripts += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(scripts >= 40, "{scripts}");
}
