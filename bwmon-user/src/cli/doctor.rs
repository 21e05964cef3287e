//! `bwmon doctor`.

use super::output::{json, line};
use super::{Answer, common};
use crate::live::{Machine, Report, Root, doctor};
use std::path::PathBuf;

/// Arguments of `bwmon doctor`.
#[derive(clap::Args)]
#[command(after_help = "Exit code 0 if this machine can be governed, 1 if not.")]
pub(super) struct Args {
    /// The board: a board file or a built-in one [default: by the device tree]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let machine = Machine::new(Root::at(&args.root));
    let board = match &args.board {
        Some(name) => Some(common::board(name)?),
        None => machine.board(),
    };
    let report = doctor(&machine, board.as_ref());
    if args.json {
        json(&report)?;
    } else {
        line(&text(&report))?;
    }
    Ok(if report.can_govern { Answer::Yes } else { Answer::No })
}

fn text(report: &Report) -> String {
    let width = report.capabilities.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
    let rows: Vec<String> = report
        .capabilities
        .iter()
        .map(|c| {
            let mark = if c.present { "yes" } else { "no" };
            let mut row = format!(" {mark:3}  {:width$}  {}", c.name, c.how);
            if !c.present && !c.without_it.is_empty() {
                row += &format!("\n      {:width$}  without it: {}", "", c.without_it);
            }
            row
        })
        .collect();
    let verdict = match (report.can_govern, report.can_shadow) {
        (true, _) => "this machine can be governed: `bwmon run`",
        (false, true) => {
            "this machine can be watched beside the kernel's driver: `bwmon run --shadow`"
        }
        (false, false) => {
            "this machine cannot be governed; `bwmon sim` runs everything on a simulated board"
        }
    };
    format!(
        "kernel {}, board {}\n\n{}\n\n{verdict}",
        report.kernel.as_deref().unwrap_or("unknown"),
        report.board.as_deref().unwrap_or("none that bwmon knows"),
        rows.join("\n")
    )
}
