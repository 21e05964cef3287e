//! `bwmon policy`: one file per verb.

mod bench;
mod check;
mod covered;
mod docs;
mod explain;
mod findings;
mod list;
mod new;
mod product;
mod show;
mod test;
mod use_policy;
mod which;

use super::Answer;

/// What can be done with policies.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Write a commented policy and its spec to start from
    New(new::Args),
    /// Look through a policy, call it from every level with every kind of reading, and let it
    /// govern boards on worked-out demands; exit code 1 if something is wrong
    Check(check::Args),
    /// Run the spec beside a policy: scenarios and what must hold; exit code 1 if something does not
    Test(test::Args),
    /// What one decision costs, and how that compares with the native rule; exit code 1 if it is
    /// over a limit or faults
    Bench(bench::Args),
    /// Why this level: a tick of a journal, or readings that you give; the script's lines with the
    /// values of its variables along the way
    Explain(explain::Args),
    /// The shipped policies, or those of a folder; with --product, what a product comes to, value by
    /// value
    List(list::Args),
    /// What a policy is for, its tunables and presets
    Show(show::Args),
    /// The product for this machine, and why; exit code 1 if none fits
    Which(which::Args),
    /// Let another policy decide in the running agent
    Use(use_policy::Args),
    /// Print every name that a policy may use, with its meaning
    Docs(docs::Args),
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::New(args) => new::main(&args),
        Verb::Check(args) => check::main(&args),
        Verb::Test(args) => test::main(&args),
        Verb::Bench(args) => bench::main(&args),
        Verb::Explain(args) => explain::main(&args),
        Verb::List(args) => list::main(&args),
        Verb::Show(args) => show::main(&args),
        Verb::Which(args) => which::main(&args),
        Verb::Use(args) => use_policy::main(&args),
        Verb::Docs(args) => docs::main(&args),
    }
}
