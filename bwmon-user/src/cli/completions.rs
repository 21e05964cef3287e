//! `bwmon completions`.

use super::Answer;
use super::output::line;
use clap_complete::Shell;

/// Arguments of `bwmon completions`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

pub(super) fn main(args: &Args, mut cli: clap::Command) -> anyhow::Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli, "bwmon", &mut script);
    line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Answer::Yes)
}
