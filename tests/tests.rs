//! Tests through the built binary and across crates: one test binary, a sentence for each module.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may panic, and these touch files and start processes"
)]

// Running the binary, folders, fake trees.
mod common;

// `bwmon sim` and `bwmon replay`: shapes, determinism, verification, broken journals.
mod sim_and_replay;

// The machine model: the seed's table, scenarios, charts.
mod model;

// `bwmon policy check` and bad policies at every door that takes one.
mod policies;

// `bwmon policy check`: lints as text, JSON and annotations.
mod lint;

// `bwmon policy test`: specs beside policies, shipped ones, and those that are wrong.
mod policy_spec;

// `bwmon policy explain`, `new`, `list`, `show` and the coverage of `test`.
mod policy_tools;

// `bwmon policy explain` where it could tell what is not so: reloads, canaries, faults, guard rails.
mod explain;

// Scripts that mean harm: refused when they are checked, or contained on the tick.
mod hostile;

// The figures of docs/policies.md are what the simulator says.
mod shipped_table;

// Products: choosing one, and policies and limits per domain.
mod products;

// Products beside reload, another policy in the middle, explanations.
mod products_together;

// The examples of docs/products.md.
mod products_guide;

// `bwmon bundle`: a bundle's whole life, and bundles that mean harm.
mod bundle;
mod bundle_refused;
mod bundle_rig;
mod bundle_trial;

// `bwmon boards` and bad board files.
mod boards;

// `bwmon boards show`, `check` and `probe`, and `run` on the board of a device tree.
mod board_probe;

// `bwmon doctor` on a fake machine: ways to vote, votes in force, floors, bandwidth.
mod doctor;

// `bwmon calibrate`: on the simulator, where the answer is known, and refused live.
mod calibrate;

// `bwmon run` and `restore` on a fake machine: votes, faults, kill -9, two agents.
mod live_tree;

// `bwmon run --interrupts` where no block can interrupt.
mod interrupts;

// What goes wrong on a machine in the middle of a run, and kill -9 at random points.
mod faults;

// A policy that changes while it runs: reload, canary, demotion, and journals that tell it.
mod reload;

// A running agent and its clients: `status`, `pause`, `hold`, `policy use`, `journal tail`.
mod control;
mod served;

// What a running agent lets see: `bwmon top` on a terminal and without one, metrics.
mod seeing;
mod terminal;

// The agent as a service: what the manager hears, configuration files, what stays at the end.
mod service;

// What lasts: memory, files and journals of an agent that has run for a while.
mod lasting;

// `bwmon experiment` on the model: runs, shards, resume, reports, comparisons, search.
mod experiment;
mod report_picture;

// `bwmon export` of journals, completions, manual pages.
mod export;

// Help, exit codes, broken pipes, suggestions.
mod command_line;

// Experiments on a machine: a fake tree, real commands, agents of the built binary, a fake ssh.
mod machine_rig;
mod machine_rig_trouble;

// Every command line in README.md and docs/ is run.
mod documented;
mod documented_scene;

// What the project asks of its own tree: lints inherited, purity, file sizes.
mod workspace;
