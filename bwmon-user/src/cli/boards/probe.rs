//! `bwmon boards probe`.

mod report;

use crate::board::devicetree::discover;
use crate::board::to_toml;
use crate::cli::Answer;
use crate::cli::output::{json, line, say};
use crate::live::devicetree::read;
use crate::live::{Identity, Machine, Root, block_state};
use anyhow::Context;
use report::Report;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `bwmon boards probe`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit code 0 if a monitor was found, 1 if not. Nothing is written but FILE.\n\n\
Examples:\n\
\x20 bwmon boards probe\n\
\x20 bwmon boards probe --write my.toml             a board file of this machine\n\
\x20 cp -r /sys/firmware/devicetree/base copied     on another machine, then here:\n\
\x20 bwmon boards probe --tree copied"
)]
pub(super) struct Args {
    /// Read this copy of a device tree instead of this machine's: a folder, or a .dtb file
    #[arg(long, value_name = "DIR|FILE")]
    tree: Option<PathBuf>,
    /// Write a board file of what was found; FILE must not exist
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/",
        hide_short_help = true,
        conflicts_with = "tree"
    )]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let machine = Machine::new(Root::at(&args.root));
    let identity = match &args.tree {
        Some(tree) => Identity::of(Some(discover(&read(tree)?))),
        None => machine.identify(),
    };
    let states = match (&args.tree, &identity.board) {
        (None, Some(board)) => {
            board.monitors.iter().map(|own| block_state(machine.root(), own)).collect()
        }
        // Another machine's registers are not here.
        _ => Vec::new(),
    };
    let report = Report::new(&identity, states);
    if let Some(file) = &args.write {
        write(file, &identity)?;
    }
    if args.json {
        json(&report)?;
    } else {
        line(&report.text(&identity))?;
    }
    if let Some(file) = &args.write {
        say(&format!("bwmon: wrote {}; `bwmon boards check` reads it", file.display()));
    }
    Ok(if report.found() { Answer::Yes } else { Answer::No })
}

fn write(file: &Path, identity: &Identity) -> anyhow::Result<()> {
    let board = identity.board.as_ref().with_context(|| {
        format!("there is nothing to write into {}: {}", file.display(), identity.why)
    })?;
    let mut head = vec![format!("{}: from {}.", board.name, identity.why)];
    for difference in &identity.differences {
        head.push(format!(
            "{} {}: tree {}, file {}",
            difference.of, difference.field, difference.tree, difference.file
        ));
    }
    let text = to_toml(board, &head);
    let fail = || format!("cannot write {}", file.display());
    // A file that is there is somebody's work.
    let mut out = OpenOptions::new().write(true).create_new(true).open(file).with_context(fail)?;
    out.write_all(text.as_bytes()).with_context(fail)
}
