//! `bwmon pause`, `bwmon resume`, `bwmon reload`.

use super::SocketArgs;
use crate::cli::Answer;
use crate::command::PauseAt;
use crate::control::Ask;

/// Arguments of `bwmon pause`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon pause          every domain at its highest level allowed, until `bwmon resume`\n\
\x20 bwmon pause --keep   every domain where it is\n\
\n\
The agent goes on measuring, journalling and answering. Exit codes: 0 done, 1 the agent refuses,\n\
2 there is no agent or no right.")]
pub(in crate::cli) struct PauseArgs {
    /// Leave the levels where they are instead of taking them to the top
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(in crate::cli) fn pause(args: &PauseArgs) -> anyhow::Result<Answer> {
    let at = if args.keep { PauseAt::Keep } else { PauseAt::Top };
    args.socket.change(&Ask::Pause { at })
}

/// Arguments of `bwmon resume` and `bwmon reload`.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    socket: SocketArgs,
}

pub(in crate::cli) fn resume(args: &Args) -> anyhow::Result<Answer> {
    args.socket.change(&Ask::Resume {})
}

pub(in crate::cli) fn reload(args: &Args) -> anyhow::Result<Answer> {
    args.socket.change(&Ask::Reload {})
}
