//! bwmon: an eBPF-assisted, adaptive memory-bandwidth governor whose decisions are scripts.
//!
//! A sample becomes an observation, a policy proposes, guard rails decide, a vote is placed, the
//! answer is written down. The same road is walked live, in simulation and in replay; only the
//! doors differ.

// Quantities with their unit in the type.
pub mod units;

// How many allocations this thread made: what `policy bench` counts.
pub mod allocations;

// Numbers drawn from seeds, the same everywhere and for ever.
pub mod random;

// One error for one place in an operator's text.
pub mod diag;

// Tables of plain text, and numbers to read in them.
pub mod text_table;

// The board: monitors, domains, OPP tables; board files; the built-in boards.
pub mod board;

// The hardware block: layouts, count mathematics, the driver over `trait Registers`.
pub mod bwmon;

// What the probes report.
pub mod event;

// Raw readings of one tick.
pub mod sample;

// Who last changed what is voted through, as the probes saw it.
pub mod writers;

// Sample to observation.
pub mod observe;

// Observation to proposal: scripts and the native rule.
pub mod policy;

// Proposal to decision: the guard rails.
pub mod decide;

// Decision to vote, and the machine's answer.
pub mod vote;

// Which policy, tunables and limits a machine gets: product files and what they are matched with.
pub mod product;

// Products, policies, specs and traces in one signed file: its form, and whether it holds.
pub mod bundle;

// The road walked once.
pub mod governor;

// When an interrupt-driven block is to wake the loop.
pub mod thresholds;

// The story: entries, header, reading them back.
pub mod journal;

// A journal for other tools: CSV, and Perfetto's trace format.
pub mod export;

// What the loop is asked to do between two ticks.
pub mod command;

// The four doors.
pub mod ports;

// What the agent says about itself.
pub mod status;

// The words between the agent and its clients.
pub mod control;

// The one loop.
pub mod run;

// The count unit of a monitor, found by known traffic.
pub mod calibrate;

// What an experiment says, and how sure that is: comparison of runs by ranks.
pub mod stats;

// The simulator behind the doors: block, plant, workloads, virtual clock.
pub mod sim;

// What must hold for a policy, as data beside its script, and whether it does.
pub mod spec;

// Experiments: agendas, plans, results, and what they say.
pub mod experiment;

// What an experiment's judged results look like: text, Markdown, CSV and one page of HTML; pure.
pub mod report;

// A journal behind the doors.
pub mod replay;

// Bandwidth and votes over time, as text and as SVG: pictures for people, made of plain values.
pub mod chart;

// Probe events folded into what the road uses.
pub mod facts;

// The machine behind the doors: registers, vote paths, probes, restore file.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the doors touch the machine: files, clock, processes"
)]
pub mod live;

// Metrics for a monitoring system, from one dictionary; pure.
pub mod metrics;

// The picture of `bwmon top`, on any terminal or none; pure.
pub mod screen;

// The agent's configuration file.
pub mod config;

// The running agent: signals, the event queue, the governing thread.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the agent owns threads and signals"
)]
pub mod agent;

// Where experiments are done: runs, and the folder of their results.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the lab runs commands, owns threads and keeps results in files"
)]
pub mod lab;

// The command line: one file per verb.
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the command line reads files, the environment and the clock"
)]
pub mod cli;

/// Version and commit, as in `--version` and in journals.
pub fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("BWMON_COMMIT"), ")")
}
