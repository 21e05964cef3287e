//! `bwmon boards`.

mod check;
mod list;
mod probe;
mod show;

use super::Answer;
use clap::Subcommand;

/// Arguments of `bwmon boards`.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Without a verb: the built-in boards.\n\nExamples:\n\
\x20 bwmon boards show sdm845                    its monitors, domains and levels\n\
\x20 bwmon boards show sdm845 --file > my.toml   a start for a board file of your own\n\
\x20 bwmon boards check my.toml                  all its faults, with their lines\n\
\x20 bwmon boards probe                          what this machine has"
)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// As `boards show`, which came later.
    #[arg(value_name = "BOARD|FILE", hide = true)]
    board: Option<String>,
    #[arg(long, requires = "board", conflicts_with = "json", hide = true)]
    file: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Show one board: its monitors, its domains and their levels
    Show(show::Args),
    /// Check a board file: all its faults, with their lines
    Check(check::Args),
    /// Say what this machine has: BWMON nodes, registers, interrupts, tables, and how they differ from
    /// the built-in board
    Probe(probe::Args),
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    match (args.verb, args.board) {
        (Some(Verb::Show(args)), _) => show::main(args),
        (Some(Verb::Check(args)), _) => check::main(args),
        (Some(Verb::Probe(args)), _) => probe::main(&args),
        (None, Some(board)) => show::main(show::Args { board, file: args.file, json: args.json }),
        (None, None) => list::main(args.json),
    }
}
