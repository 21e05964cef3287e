//! `bwmon man`.

use super::Answer;
use super::output::line;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;

/// Concepts and safety; the other pages are made from the verbs.
const CONCEPTS: &str = include_str!("man.7");

/// Arguments of `bwmon man`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon man | man -l -        the page of bwmon\n\
\x20 bwmon man --out pages/      that page, one for each verb, and bwmon.7 with concepts and safety")]
pub(super) struct Args {
    /// Write bwmon.1, a page for each verb and bwmon.7 into this folder
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
    let concepts = folder.join("bwmon.7");
    fs::write(&concepts, CONCEPTS.replace("@VERSION@", env!("CARGO_PKG_VERSION")))
        .with_context(|| format!("cannot write {}", concepts.display()))?;
    Ok(Answer::Yes)
}
