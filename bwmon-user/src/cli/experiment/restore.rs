//! `bwmon experiment restore`.

use crate::cli::Answer;
use crate::cli::output::line;
use crate::experiment::Place;
use crate::lab::Folder;
use crate::lab::machine::{Site, put_back};
use crate::live::Root;
use anyhow::Context;
use std::path::PathBuf;

/// Arguments of `bwmon experiment restore`.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// The folder of the experiment that was killed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Where agents have their lock and their restore file
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    state_dir: Option<PathBuf>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let folder = Folder::open(&args.folder)?;
    let site = match &folder.agenda().place {
        Place::Ssh(name) => Site::over_ssh(name),
        _ => Site::here(std::env::current_exe().context("which program is this?")?),
    };
    let site = Site { root: Root::at(&args.root), state_dir: args.state_dir.clone(), ..site };
    let mut said = put_back(folder.path(), &site);
    said.extend(put_back(&folder.path().join("aa"), &site));
    if said.is_empty() {
        line("nothing to put back")?;
    }
    for what in said {
        line(&what)?;
    }
    Ok(Answer::Yes)
}
