//! `bwmon policy`: one file per verb.

mod bench;
mod check;
mod docs;
mod list;
mod product;
mod which;

use super::Answer;

/// What can be done with policies.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Compile a policy and call it from every level with every kind of reading; exit code 1 if
    /// it has a fault
    Check(check::Args),
    /// What one decision costs, and how that compares with the native rule; exit code 1 if it is
    /// over a limit or faults
    Bench(bench::Args),
    /// The built-in policies; with --product, what a product comes to, value by value
    List(list::Args),
    /// The product for this machine, and why; exit code 1 if none fits
    Which(which::Args),
    /// Print every name that a policy may use, with its meaning
    Docs(docs::Args),
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Check(args) => check::main(&args),
        Verb::Bench(args) => bench::main(&args),
        Verb::List(args) => list::main(&args),
        Verb::Which(args) => which::main(&args),
        Verb::Docs(args) => docs::main(&args),
    }
}
