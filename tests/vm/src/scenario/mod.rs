//! What is shown on the machine. Each scenario leaves the machine as it found it.

mod agreeing;
mod governing;
mod holding;
mod journal;
mod killed;
mod masking;
mod offered;
mod recorded;
mod rules;
mod voting;
mod waking;
mod watching;
mod yielding;

use crate::cmdline::Options;
use crate::machine;
use crate::verdict::{Figures, Outcome, Verdict};
use anyhow::Result;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

type Scenario = fn() -> Result<Figures>;

/// Every scenario by its name on the command line.
const ALL: [(&str, Scenario); 10] = [
    ("watching", watching::run),
    ("agreeing", agreeing::run),
    ("governing", governing::run),
    ("killed", killed::run),
    ("yielding", yielding::run),
    ("offered", offered::run),
    ("voting", voting::run),
    ("holding", holding::run),
    ("waking", waking::run),
    ("masking", masking::run),
];

/// Runs what was asked for, one after the other, also after a failure.
pub(crate) fn run_all(options: &Options) -> Verdict {
    let outcomes = options.scenarios.iter().map(|name| run_one(name)).collect();
    let complaint = machine::must_be_untainted().err().map(|error| format!("{error:#}"));
    Verdict::of(outcomes, complaint)
}

fn run_one(name: &str) -> Outcome {
    println!("bwmon-vm: {name}: start");
    let start = Instant::now();
    let result = match ALL.iter().find(|(known, _)| *known == name) {
        None => Err("there is no such scenario".to_owned()),
        Some((_, scenario)) => catch_unwind(AssertUnwindSafe(scenario))
            .map_err(|panic| crate::verdict::panic_text(panic.as_ref()))
            .and_then(|answer| answer.map_err(|error| format!("{error:#}"))),
    };
    let ms = start.elapsed().as_millis();
    println!("bwmon-vm: {name}: {} after {ms} ms", if result.is_ok() { "ok" } else { "FAILED" });
    Outcome { name: name.to_owned(), ms, result }
}
