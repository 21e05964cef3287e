//! `bwmon experiment merge`.

use crate::cli::Answer;
use crate::cli::output::line;
use crate::lab::{Folder, merge};
use std::path::PathBuf;

/// Arguments of `bwmon experiment merge`.
#[derive(clap::Args)]
#[command(after_help = "Example, with GNU parallel on four machines' cores:\n\
\x20 parallel bwmon experiment run my.toml --shard {}/4 --out part{} ::: 1 2 3 4\n\
\x20 bwmon experiment merge whole part*")]
pub(in crate::cli) struct Args {
    /// The folder to make
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The folders of the shards
    #[arg(value_name = "DIR", required = true)]
    parts: Vec<PathBuf>,
    /// Merge what is there although shards are missing
    #[arg(long)]
    partial: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let parts: Vec<Folder> =
        args.parts.iter().map(|path| Folder::open(path)).collect::<anyhow::Result<_>>()?;
    let folder = merge(&args.out, &parts, args.partial)?;
    line(&format!(
        "{} folders, {} results in {}",
        parts.len(),
        folder.lines()?.len(),
        folder.path().display()
    ))?;
    Ok(Answer::Yes)
}
