//! `bwmon journal`.

use super::SocketArgs;
use crate::cli::Answer;
use crate::cli::output::line;
use crate::control::Ask;

/// What can be done with the journal of a running agent.
#[derive(clap::Subcommand)]
pub(in crate::cli) enum Verb {
    /// The lines of the running agent's journal from now on, its header first, also where it writes
    /// none to a file
    Tail(Args),
}

/// Arguments of `bwmon journal tail`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon journal tail > now.jsonl                  then `bwmon replay now.jsonl`\n\
\x20 bwmon journal tail --lines 100 | jq .note       notes among the next 100 lines\n\
\n\
A reader that is too slow finds {\"not_followed\":N} in the place of N lines.")]
pub(in crate::cli) struct Args {
    /// Stop after so many lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    lines: Option<u64>,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(in crate::cli) fn main(verb: &Verb) -> anyhow::Result<Answer> {
    let Verb::Tail(args) = verb;
    let mut client = args.socket.connect()?;
    let mut next = Some(client.ask(&Ask::Tail {})?);
    // With interrupts there may be nothing to say for a while.
    client.wait_at_most(None)?;
    let mut shown = 0;
    while let Some(text) = next {
        line(&text)?;
        shown += 1;
        if args.lines.is_some_and(|lines| shown >= lines) {
            break;
        }
        next = client.read()?;
    }
    Ok(Answer::Yes)
}
