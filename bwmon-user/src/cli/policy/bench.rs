//! `bwmon policy bench`: what one decision costs.

use crate::allocations::allocations;
use crate::board::Board;
use crate::cli::common::{self, PolicyArgs};
use crate::cli::output::{grouped, json, line, table};
use crate::cli::{Answer, output};
use crate::decide::{Rails, Unvoted};
use crate::governor::Governor;
use crate::observe::Observation;
use crate::policy::script::ScriptPolicy;
use crate::policy::{Mainline, Policy, PolicySpec, library};
use crate::ports::{Clock, CounterSource};
use crate::run::{RunStats, walk};
use crate::sample::Sample;
use crate::sim::{Setup, Simulation, builtin_workload};
use crate::units::Nanos;
use anyhow::bail;
use serde::Serialize;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Decisions timed as one for the median, so that reading the clock does not count.
const BATCH: usize = 32;
/// The traffic that is decided on, and the distance of its ticks.
const WORKLOAD: &str = "demo";
const PERIOD_US: u64 = 4_000;
/// Decisions before anything is timed.
const WARM_UP: usize = 2_000;

/// Arguments of `bwmon policy bench`.
#[derive(clap::Args)]
#[command(
    after_help = "A decision is one call of decide() for one domain, on the observations of \
the workload `demo` with the native rule governing. p50 is the median of batches of 32 decisions, \
p99 of single ones (with one reading of the clock taken off). The native rule is timed in turns \
with the policy, so the ratio holds on a busy machine too.\n\n\
Examples:\n\
\x20 bwmon policy bench                                   every shipped policy\n\
\x20 bwmon policy bench my.rhai --fail-over-ns 5000       exit code 1 if it is slower\n\
\x20 bwmon policy bench 'chain:peak | headroom(80)'"
)]
pub(in crate::cli) struct Args {
    /// Policies: .rhai files, shipped names, `native`, or chains [default: every shipped one]
    #[arg(value_name = "FILE|NAME")]
    policies: Vec<String>,
    /// The board
    #[arg(long, value_name = "BOARD|FILE", default_value = "sdm845")]
    board: String,
    /// Decisions that are timed for each policy
    #[arg(long, value_name = "N", default_value_t = 50_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    calls: u32,
    /// Settings that belong together, from the policy's head
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value)]
    set: Vec<(String, String)>,
    /// Answer no if a median is above this many nanoseconds
    #[arg(long, value_name = "NS")]
    fail_over_ns: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    policy: String,
    p50_ns: u64,
    p99_ns: u64,
    /// The most that one call used; `None` for policies without a script.
    operations: Option<u64>,
    /// The most that one call made.
    allocations: u64,
    native_p50_ns: u64,
    ratio_to_native: f64,
    faults: u64,
    over: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let names: Vec<String> = match args.policies.is_empty() {
        true => library::names().map(str::to_owned).collect(),
        false => args.policies.clone(),
    };
    if names.len() > 1 && (args.preset.is_some() || !args.set.is_empty()) {
        bail!("--set and --preset go with one policy");
    }
    let board = Arc::new(common::board(&args.board)?);
    let traffic = traffic(&board)?;
    if cfg!(debug_assertions) {
        output::say("warning: this is a debug build; its times say nothing about a release");
    }
    let mut rows = Vec::new();
    for name in names {
        rows.push(bench(args, name, &board, &traffic)?);
    }
    let good = rows.iter().all(|row| !row.over && row.faults == 0);
    if args.json {
        json(&rows)?;
    } else {
        print(&rows)?;
    }
    for row in rows.iter().filter(|row| row.faults > 0) {
        output::say(&format!(
            "error: {}: {} calls faulted; see policy check",
            row.policy, row.faults
        ));
    }
    Ok(if good { Answer::Yes } else { Answer::No })
}

fn print(rows: &[Row]) -> anyhow::Result<()> {
    let cells = |row: &Row| {
        vec![
            row.policy.clone(),
            grouped(row.p50_ns),
            grouped(row.p99_ns),
            row.operations.map_or("-".to_owned(), grouped),
            grouped(row.allocations),
            grouped(row.native_p50_ns),
            format!("{:.1}", row.ratio_to_native),
        ]
    };
    let heads =
        ["policy", "p50 ns", "p99 ns", "operations", "allocations", "native p50 ns", "ratio"];
    line(&table(&heads, &heads[1..], rows.iter().map(cells).collect()))
}

/// A policy as it is timed; operations are known for scripts.
enum Timed {
    Script(Box<ScriptPolicy>),
    Other(Box<dyn Policy>),
}

impl Timed {
    fn policy(&mut self) -> &mut dyn Policy {
        match self {
            Self::Script(policy) => policy.as_mut(),
            Self::Other(policy) => policy.as_mut(),
        }
    }

    fn operations(&self) -> Option<u64> {
        match self {
            Self::Script(policy) => Some(policy.operations()),
            Self::Other(_) => None,
        }
    }
}

fn bench(args: &Args, name: String, board: &Board, traffic: &Traffic) -> anyhow::Result<Row> {
    let chosen =
        PolicyArgs { policy: name.clone(), preset: args.preset.clone(), set: args.set.clone() };
    let mut timed = match chosen.spec()? {
        PolicySpec::Script { source, set } => {
            Timed::Script(Box::new(ScriptPolicy::new(source, board, &set)?))
        }
        other => Timed::Other(other.build(board)?.0),
    };
    let mut native = Mainline::new(board);
    let (mut faults, mut operations, mut most) = (0, None, 0);
    for call in traffic.calls(WARM_UP) {
        let before = allocations();
        let answer = timed.policy().decide(call.0, call.1);
        // What the answer holds is freed by the road; it counts as made.
        most = if call.2 < WARM_UP / 2 { 0 } else { most.max(allocations() - before) };
        faults += u64::from(answer.is_err());
        operations = operations.max(timed.operations());
        native.decide(call.0, call.1).ok();
    }
    let calls = args.calls as usize;
    let overhead = clock_overhead();
    let mut singles: Vec<u64> = Vec::with_capacity(calls);
    for (all, domain, _) in traffic.calls(calls) {
        let start = Instant::now();
        black_box(timed.policy().decide(black_box(all), domain).is_ok());
        singles.push(nanos(start).saturating_sub(overhead));
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let all: Vec<_> = traffic.calls(calls).collect();
    for batch in all.chunks_exact(BATCH) {
        ours.push(batch_ns(timed.policy(), batch, overhead));
        theirs.push(batch_ns(&mut native, batch, overhead));
    }
    let (p50, native_p50) = (median_of_one(&mut ours), median_of_one(&mut theirs));
    Ok(Row {
        policy: name,
        p50_ns: p50.round() as u64,
        p99_ns: percentile(&mut singles, 99),
        operations,
        allocations: most,
        native_p50_ns: native_p50.round() as u64,
        ratio_to_native: if native_p50 > 0.0 {
            (p50 / native_p50 * 10.0).round() / 10.0
        } else {
            0.0
        },
        faults,
        over: args.fail_over_ns.is_some_and(|most| p50 > most as f64),
    })
}

fn batch_ns(policy: &mut dyn Policy, batch: &[(&[Observation], usize, usize)], off: u64) -> u64 {
    let start = Instant::now();
    for (all, domain, _) in batch {
        black_box(policy.decide(black_box(all), *domain).is_ok());
    }
    nanos(start).saturating_sub(off)
}

/// The median of batches, for one decision.
fn median_of_one(batches: &mut [u64]) -> f64 {
    percentile(batches, 50) as f64 / BATCH as f64
}

fn percentile(values: &mut [u64], pct: usize) -> u64 {
    values.sort_unstable();
    values.get((values.len() * pct / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(0)
}

fn nanos(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn clock_overhead() -> u64 {
    let mut empty: Vec<u64> = (0..2_001).map(|_| nanos(Instant::now())).collect();
    percentile(&mut empty, 50)
}

/// Observations of a workload, tick by tick.
struct Traffic {
    ticks: Vec<Vec<Observation>>,
    domains: Vec<usize>,
}

impl Traffic {
    /// `n` calls, round and round: the observations, the domain, and the number of the call. Only
    /// domains that have a monitor: the others are a matter of one line.
    fn calls(&self, n: usize) -> impl Iterator<Item = (&[Observation], usize, usize)> {
        let domains = &self.domains;
        let once = self
            .ticks
            .iter()
            .flat_map(move |all| domains.iter().map(move |domain| (all.as_slice(), *domain)));
        once.cycle().take(n).enumerate().map(|(call, (all, domain))| (all, domain, call))
    }
}

/// One round of the workload, with the native rule governing.
fn traffic(board: &Arc<Board>) -> anyhow::Result<Traffic> {
    let domains: Vec<usize> = board
        .domains
        .iter()
        .enumerate()
        .filter_map(|(index, domain)| domain.monitor.map(|_| index))
        .collect();
    if domains.is_empty() {
        bail!("board {} has no monitor; nothing is decided on it", board.id);
    }
    let Some(workload) = builtin_workload(WORKLOAD) else { bail!("no workload {WORKLOAD}") };
    let rails = board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let mut governor = Governor::new(board.clone(), Box::new(Mainline::new(board)), rails, &[]);
    let length = workload.length().as_us().div_ceil(PERIOD_US);
    let mut sim = Simulation::new(board, workload, Setup::of(board)?);
    let (mut sample, mut applied) = (Sample::default(), Vec::new());
    let (mut stats, mut ticks) = (RunStats::default(), Vec::new());
    for tick in 0..length {
        sim.clock.sleep_until(Nanos((tick + 1) * PERIOD_US * Nanos::PER_US));
        sample.tick = tick;
        sim.source.read(&mut sample)?;
        walk(&mut governor, &mut sim.actuator, &sample, &mut applied, &mut stats);
        ticks.push(governor.last().iter().map(|tick| tick.observation).collect());
    }
    Ok(Traffic { ticks, domains })
}
