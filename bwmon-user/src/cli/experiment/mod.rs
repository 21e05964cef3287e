//! `bwmon experiment`: one file per verb.

mod agendas;
mod check;
mod compare;
mod list;
mod merge;
mod progress;
mod report;
mod restore;
mod run;
mod sources;
mod tune;

use super::Answer;

/// What can be done with experiments.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Run an agenda: every subject under every workload, block by block, in random order
    Run(run::Args),
    /// Say what an experiment's results mean: as text, Markdown, JSON, CSV, or a page with charts
    Report(report::Args),
    /// Whether something got worse from one experiment to another: exit code 1 if so
    Compare(compare::Args),
    /// Put the shards of one plan together
    Merge(merge::Args),
    /// Look for a policy's tunables on the model, with scenarios held out
    Tune(tune::Args),
    /// Check an agenda and what it names, and print its plan; nothing runs
    Check(check::Args),
    /// Put back what an experiment that was killed had changed on a machine
    Restore(restore::Args),
    /// The shipped agendas
    List(list::Args),
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Run(args) => run::main(&args),
        Verb::Report(args) => report::main(&args),
        Verb::Compare(args) => compare::main(&args),
        Verb::Merge(args) => merge::main(&args),
        Verb::Tune(args) => tune::main(&args),
        Verb::Check(args) => check::main(&args),
        Verb::Restore(args) => restore::main(&args),
        Verb::List(args) => list::main(&args),
    }
}
