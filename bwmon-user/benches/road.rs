//! One tick of the road, doors excluded, with the native rule and with `bwmon.rhai`; and the whole
//! simulator. `cargo xtask bench` prints the ratios of one run.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark may panic as a test may"
)]

use bwmon_user::board::{Board, builtin};
use bwmon_user::bwmon::ZoneMaxima;
use bwmon_user::decide::{Rails, Unvoted};
use bwmon_user::governor::Governor;
use bwmon_user::policy::PolicySpec;
use bwmon_user::policy::script::Source;
use bwmon_user::ports::NoJournal;
use bwmon_user::run::{Doors, Pace, RunStats, run};
use bwmon_user::sample::{ProbeFacts, Reading, Sample, Window};
use bwmon_user::sim::{Simulation, builtin_workload};
use bwmon_user::units::Nanos;
use bwmon_user::vote::Applied;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SCRIPT: &str = include_str!("../../policies/bwmon.rhai");

fn board() -> Arc<Board> {
    Arc::new(builtin("sdm845-seed").expect("built in").expect("parses"))
}

fn spec(name: &str) -> PolicySpec {
    match name {
        "native" => PolicySpec::Native,
        _ => PolicySpec::Script {
            source: Source { name: name.to_owned(), text: SCRIPT.to_owned() },
            set: Vec::new(),
        },
    }
}

fn governor(board: &Arc<Board>, policy: &str) -> Governor {
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let policy = spec(policy).build(board).expect("the shipped policy is good").0;
    Governor::new(board.clone(), policy, rails, &[])
}

fn sample(tick: u64) -> Sample {
    // Counts that walk over all levels, up and down.
    let count = [40, 60, 120, 200, 300, 400, 480, 30][(tick / 20 % 8) as usize];
    Sample {
        tick,
        window: Window { start_ns: Nanos(tick * 4_000_000), end_ns: Nanos((tick + 1) * 4_000_000) },
        monitors: vec![Reading::Polled {
            zone_max: ZoneMaxima([0, count, 0, 0]),
            elapsed_ns: Nanos(4_000_000),
        }],
        probes: ProbeFacts { others_kbps: vec![None], ..ProbeFacts::default() },
    }
}

fn road(c: &mut Criterion) {
    let samples: Vec<Sample> = (0..1_600).map(sample).collect();
    let mut group = c.benchmark_group("road_tick");
    group.throughput(Throughput::Elements(1));
    for policy in ["native", "bwmon"] {
        let mut governor = governor(&board(), policy);
        let mut next = 0;
        group.bench_function(policy, |b| {
            b.iter(|| {
                let sample = &samples[next % samples.len()];
                next += 1;
                governor.tick(black_box(sample));
                for index in 0..governor.last().len() {
                    if let Some(vote) = governor.last()[index].vote {
                        governor.answer(&vote, &Applied::Placed, sample.window.end_ns);
                    }
                }
            });
        });
    }
    group.finish();
}

fn simulator(c: &mut Criterion) {
    const TICKS: u64 = 10_000;
    let mut group = c.benchmark_group("sim_ticks");
    group.throughput(Throughput::Elements(TICKS));
    group.sample_size(20);
    for policy in ["native", "bwmon"] {
        let board = Arc::new(builtin("sdm845").expect("built in").expect("parses"));
        group.bench_function(policy, |b| {
            b.iter_batched(
                || {
                    let workload = builtin_workload("demo").expect("built in");
                    (governor(&board, policy), Simulation::new(&board, workload))
                },
                |(mut governor, mut sim)| simulate(&mut governor, &mut sim, TICKS),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn simulate(governor: &mut Governor, sim: &mut Simulation, ticks: u64) -> RunStats {
    let stop = AtomicBool::new(false);
    let doors = Doors {
        source: &mut sim.source,
        actuator: &mut sim.actuator,
        clock: &mut sim.clock,
        journal: &mut NoJournal,
    };
    let pace = Pace { period: Nanos(4_000_000), ticks: Some(ticks), stop: &stop };
    run(governor, doors, pace).expect("the simulator does not fail")
}

criterion_group!(benches, road, simulator);
criterion_main!(benches);
