//! `bwmon bundle verify`.

use super::candidate::{CandidateArgs, Refused, summary};
use super::places::RootArgs;
use crate::cli::Answer;
use crate::cli::output::{json, line, say};

/// Arguments of `bwmon bundle verify`.
#[derive(clap::Args)]
#[command(after_help = "Everything is checked that `bwmon bundle install` checks, and nothing is \
written.\n\nExamples:\n\
\x20 bwmon bundle verify acme-1.4.0.bwmon --keys keys/\n\
\x20 bwmon bundle verify acme-1.4.0.bwmon --insecure-unsigned     before it is signed, in CI")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    candidate: CandidateArgs,
    #[command(flatten)]
    root: RootArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let candidate = match args.candidate.candidate(&args.root) {
        Ok(candidate) => candidate,
        Err(error) => match error.downcast::<Refused>() {
            Ok(refused) => {
                say(&format!("error: {refused}"));
                return Ok(Answer::No);
            }
            Err(error) => return Err(error),
        },
    };
    if args.json {
        json(&candidate.report())?;
        return Ok(Answer::Yes);
    }
    let bundle = &candidate.bundle;
    line(&format!(
        "{} ({}): {}",
        bundle.manifest.title(),
        bundle.short_digest(),
        candidate.vouched()
    ))?;
    line(&summary(&candidate.checked))?;
    Ok(Answer::Yes)
}
