//! `bwmon doctor`.

mod bandwidth;
mod text;

use super::choose::ChoiceArgs;
use super::output::{json, line, say};
use super::{Answer, common};
use crate::board::Board;
use crate::live::{Machine, Root, doctor};
use crate::product::Product;
use std::path::PathBuf;

/// Arguments of `bwmon doctor`.
#[derive(clap::Args)]
#[command(after_help = "Exit code 0 if this machine can be governed, 1 if not.\n\nExamples:\n\
\x20 bwmon doctor                     what is here, and what is lost without the rest\n\
\x20 bwmon doctor --journal j.jsonl   and whether the bandwidth in a journal fits the levels\n\
\x20 bwmon doctor --measure           the same, from a second of traffic on all CPUs")]
pub(super) struct Args {
    /// The board: a board file or a built-in one [default: that of the machine's product,
    /// else by the device tree]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Compare the bandwidth in this journal with the levels in it
    #[arg(long, value_name = "FILE")]
    journal: Option<String>,
    /// Let all CPUs read memory for a moment, and compare what they reach with the levels in force
    #[arg(long, conflicts_with = "journal")]
    measure: bool,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let machine = Machine::new(Root::at(&args.root));
    let (board, why) = match &args.board {
        Some(name) => (Some(common::board(name)?), format!("given with --board {name}")),
        None => match of_product(&machine) {
            Some((board, why)) => (Some(board), why),
            None => {
                let identity = machine.identify();
                (identity.board, identity.why)
            }
        },
    };
    let mut report = doctor(&machine, board.as_ref(), &why);
    if let Some(board) = &board {
        if let Some(journal) = &args.journal {
            report.bandwidth = bandwidth::of_journal(board, journal)?;
        } else if args.measure {
            report.bandwidth = bandwidth::measured(&machine, board, &report.in_force)?;
        }
    }
    if args.json {
        json(&report)?;
    } else {
        line(&text::text(&report))?;
    }
    Ok(if report.can_govern { Answer::Yes } else { Answer::No })
}

/// The board that the product of this machine names, which `bwmon run` would take.
fn of_product(machine: &Machine) -> Option<(Board, String)> {
    let picked = ChoiceArgs::default().pick(machine.root(), &machine.facts());
    let named = picked.and_then(|picked| {
        let title = picked.product.as_ref().map(Product::title).unwrap_or_default();
        Ok(picked
            .board()
            .transpose()?
            .map(|board| (board, format!("named by the product {title}"))))
    });
    named.unwrap_or_else(|why| {
        // The rest can be told all the same.
        say(&format!("warning: what product is for this machine cannot be told: {why:#}"));
        None
    })
}
