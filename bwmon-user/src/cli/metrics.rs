//! `bwmon metrics`.

use super::Answer;
use super::control::SocketArgs;
use super::output::line;
use crate::control::Ask;
use crate::metrics::{description, exposition};
use anyhow::Context;

/// Arguments of `bwmon metrics`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon metrics > /var/lib/node_exporter/bwmon.prom   for a collector that reads files\n\
\x20 bwmon metrics --dictionary                          what each metric means\n\
\n\
`bwmon run --metrics 127.0.0.1:9845` serves the same over HTTP.")]
pub(super) struct Args {
    /// Print the table of all metrics instead; needs no agent
    #[arg(long)]
    dictionary: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.dictionary {
        line(description().trim_end())?;
        return Ok(Answer::Yes);
    }
    let text = args.socket.connect()?.ask(&Ask::Status {})?;
    let status = serde_json::from_str(&text)
        .context("the agent's status is not as this bwmon knows it; is it another version?")?;
    line(exposition(&status).trim_end())?;
    Ok(Answer::Yes)
}
