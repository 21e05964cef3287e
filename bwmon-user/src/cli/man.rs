//! `bwmon man`.

use super::Answer;
use super::output::line;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;

/// Arguments of `bwmon man`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Write bwmon.1 and a page for each verb into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn main(args: &Args, cli: clap::Command) -> anyhow::Result<Answer> {
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli).render(&mut page)?;
        line(String::from_utf8_lossy(&page).trim_end())?;
        return Ok(Answer::Yes);
    };
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    clap_mangen::generate_to(cli, folder)
        .with_context(|| format!("cannot write pages into {}", folder.display()))?;
    Ok(Answer::Yes)
}
