//! `bwmon config`.

use super::Answer;
use super::common;
use super::output::{line, say};
use crate::config::{DEFAULT_FILE, EXAMPLE, parse};

/// What can be done with the agent's configuration.
#[derive(clap::Subcommand)]
pub(super) enum Verb {
    /// Whether a configuration file says something that holds; exit code 1 if not
    Check(Args),
    /// Print a configuration with every key, its meaning and its default
    Example,
}

/// Arguments of `bwmon config check`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The file
    #[arg(value_name = "FILE", default_value = DEFAULT_FILE)]
    file: String,
}

pub(super) fn main(verb: &Verb) -> anyhow::Result<Answer> {
    match verb {
        Verb::Example => {
            line(EXAMPLE.trim_end())?;
            Ok(Answer::Yes)
        }
        Verb::Check(args) => match parse(&args.file, &common::text_of(&args.file)?) {
            Ok(_) => {
                line(&format!("{}: nothing is wrong with it", args.file))?;
                Ok(Answer::Yes)
            }
            Err(fault) => {
                say(&fault.to_string());
                Ok(Answer::No)
            }
        },
    }
}
