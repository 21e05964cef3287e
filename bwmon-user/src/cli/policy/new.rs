//! `bwmon policy new`.

use crate::cli::output::line;
use crate::cli::{Answer, common};
use anyhow::{Context, bail};
use std::fs;
use std::io::Write;
use std::path::Path;

/// Arguments of `bwmon policy new`.
#[derive(clap::Args)]
#[command(after_help = "Writes NAME.rhai and NAME.spec.toml into the current folder. Then:\n\
\x20 bwmon policy check NAME.rhai    bwmon policy test NAME.rhai    bwmon sim --policy NAME.rhai --plot")]
pub(in crate::cli) struct Args {
    /// Its name: lower-case letters, digits, `-` and `_`; a folder may stand before it
    #[arg(value_name = "NAME")]
    name: String,
    /// Start from this policy's script instead of the template
    #[arg(long, value_name = "FILE|NAME")]
    from: Option<String>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

const SCRIPT: &str = include_str!("template.rhai");
const SPEC: &str = include_str!("template.spec.toml");

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let path = Path::new(&args.name);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(fits) || !name.starts_with(|c: char| c.is_alphabetic())
    {
        bail!(
            "{} is no name for a policy: lower-case letters, digits, - and _, a letter first, and \
             no ending (.rhai comes by itself)",
            args.name
        );
    }
    if crate::policy::library::names().any(|known| known == name) {
        bail!("{name} is the name of a shipped policy, which would come first; choose another");
    }
    let script = match &args.from {
        Some(from) => common::script(from)?.text,
        None => SCRIPT.replace("NAME", name),
    };
    let files = [
        (format!("{}.rhai", args.name), script),
        (format!("{}.spec.toml", args.name), SPEC.replace("NAME", name)),
    ];
    if !args.force
        && let Some((there, _)) = files.iter().find(|(file, _)| Path::new(file).exists())
    {
        bail!("{there} is there already; --force replaces it");
    }
    for (file, text) in &files {
        write(file, text, args.force)?;
        line(file)?;
    }
    Ok(Answer::Yes)
}

fn write(file: &str, text: &str, force: bool) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut out = options.open(file).with_context(|| format!("cannot write {file}"))?;
    out.write_all(text.as_bytes()).with_context(|| format!("cannot write {file}"))
}
