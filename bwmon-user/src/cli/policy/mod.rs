//! `bwmon policy`: one file per verb.

mod check;
mod docs;
mod test;

use super::Answer;

/// What can be done with policies.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Compile a policy and call it from every level with every kind of reading; exit code 1 if
    /// it has a fault
    Check(check::Args),
    /// Run the spec beside a policy: scenarios and what must hold; exit code 1 if something does not
    Test(test::Args),
    /// Print every name that a policy may use, with its meaning
    Docs,
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Check(args) => check::main(&args),
        Verb::Test(args) => test::main(&args),
        Verb::Docs => docs::main(),
    }
}
