//! `bwmon hold`.

use super::{SocketArgs, refused, words};
use crate::cli::Answer;
use crate::cli::output::say;
use crate::control::{Ask, HoldAsk};
use crate::live::control_client::{ClientError, ControlClient};
use anyhow::{Context, bail};
use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

/// Arguments of `bwmon hold`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon hold --domain ddr --floor-kBps 1804000 -- ./benchmark   as long as the command runs\n\
\x20 bwmon hold --ceiling-level 2 --ms 60000                       every domain, for a minute\n\
\x20 bwmon hold --floor-level 3                                    until Ctrl-C\n\
\n\
Several holds count together: the highest floor, the lowest ceiling, and where they contradict\n\
each other the floor. The operator's own limits stay. A hold ends with the connection, however\n\
this command ends. With a command, the exit code is the command's.")]
pub(in crate::cli) struct Args {
    /// The domain [default: every domain]
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// Never below the lowest level that carries this
    #[arg(long = "floor-kBps", value_name = "KBPS")]
    floor_kbps: Option<u64>,
    /// Never below this level
    #[arg(long, value_name = "LEVEL", conflicts_with = "floor_kbps")]
    floor_level: Option<usize>,
    /// Never above the highest level within this
    #[arg(long = "ceiling-kBps", value_name = "KBPS")]
    ceiling_kbps: Option<u64>,
    /// Never above this level
    #[arg(long, value_name = "LEVEL", conflicts_with = "ceiling_kbps")]
    ceiling_level: Option<usize>,
    /// What for, for `bwmon status` and the journal
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
    /// For so long [default: until this command is ended]
    #[arg(long, value_name = "MS", conflicts_with = "command",
        value_parser = clap::value_parser!(u64).range(1..=31_536_000_000))]
    ms: Option<u64>,
    #[command(flatten)]
    socket: SocketArgs,
    /// Hold while this command runs
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(in crate::cli) fn main(args: &Args) -> anyhow::Result<Answer> {
    let hold = HoldAsk {
        domain: args.domain.clone(),
        floor_level: args.floor_level,
        floor_kbps: args.floor_kbps,
        ceiling_level: args.ceiling_level,
        ceiling_kbps: args.ceiling_kbps,
        by: args.why.clone(),
    };
    if let Err(why) = hold.check() {
        bail!("{why}; see `bwmon hold --help`");
    }
    let mut client = args.socket.connect()?;
    let Some(done) = refused(client.ask(&Ask::Hold(hold)))? else { return Ok(Answer::No) };
    say(&words(&done));
    match args.command.split_first() {
        Some((program, arguments)) => {
            let status = Command::new(program)
                .args(arguments)
                .status()
                .with_context(|| format!("cannot run {program}"))?;
            // Ended by a signal: as shells say it.
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
            Ok(Answer::Code(u8::try_from(code).unwrap_or(1)))
        }
        None => wait(&mut client, args.ms.map(Duration::from_millis)),
    }
}

/// Until the time is over or the agent is.
fn wait(client: &mut ControlClient, time: Option<Duration>) -> anyhow::Result<Answer> {
    client.wait_at_most(time)?;
    match client.read() {
        Err(ClientError::Broken { error, .. })
            if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            Ok(Answer::Yes)
        }
        Ok(_) => bail!("the agent has ended, and the hold with it"),
        Err(error) => Err(error.into()),
    }
}
