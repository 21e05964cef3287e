//! `bwmon policy`: one file per verb.

mod bench;
mod check;
mod docs;
mod findings;

use super::Answer;

/// What can be done with policies.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Look through a policy, call it from every level with every kind of reading, and let it
    /// govern boards on worked-out demands; exit code 1 if something is wrong
    Check(check::Args),
    /// What one decision costs, and how that compares with the native rule; exit code 1 if it is
    /// over a limit or faults
    Bench(bench::Args),
    /// Print every name that a policy may use, with its meaning
    Docs(docs::Args),
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Check(args) => check::main(&args),
        Verb::Bench(args) => bench::main(&args),
        Verb::Docs(args) => docs::main(&args),
    }
}
