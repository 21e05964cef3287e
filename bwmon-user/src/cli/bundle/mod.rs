//! `bwmon bundle`: one file per verb.

mod build;
mod candidate;
mod install;
mod keygen;
mod list;
mod places;
mod rollback;
mod sign;
mod verify;

use super::Answer;

/// What can be done with bundles.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Make a bundle of what a bundle.toml lists: the same files give the same bytes
    Build(build::Args),
    /// Make a key that signs bundles
    Keygen(keygen::Args),
    /// Sign a bundle
    Sign(sign::Args),
    /// Whether a bundle is signed by a trusted key and everything in it holds; exit code 1 if not
    Verify(verify::Args),
    /// Verify a bundle and let its products count on this machine; anything wrong changes nothing
    Install(install::Args),
    /// The installed bundles, and how they stand
    List(list::Args),
    /// Go back to the good bundle before the current one; exit code 1 if none is installed
    Rollback(rollback::Args),
}

pub(super) fn main(verb: Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Build(args) => build::main(&args),
        Verb::Keygen(args) => keygen::main(&args),
        Verb::Sign(args) => sign::main(&args),
        Verb::Verify(args) => verify::main(&args),
        Verb::Install(args) => install::main(&args),
        Verb::List(args) => list::main(&args),
        Verb::Rollback(args) => rollback::main(&args),
    }
}
