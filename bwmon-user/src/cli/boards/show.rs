//! `bwmon boards show`.

use crate::board::{Basis, Board, DevfreqKnob, Domain, Level, builtin_text};
use crate::cli::output::{grouped, json, line, table};
use crate::cli::{Answer, common};

/// Arguments of `bwmon boards show`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A built-in board's id, or a board file
    #[arg(value_name = "BOARD|FILE")]
    pub(super) board: String,
    /// Print the board file itself, as a start for one of your own
    #[arg(long)]
    pub(super) file: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "file")]
    pub(super) json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    if args.file {
        match builtin_text(&args.board) {
            Some(text) => line(text.trim_end())?,
            None => anyhow::bail!("{} is not built in: its file is with you", args.board),
        }
        return Ok(Answer::Yes);
    }
    let board = common::board(&args.board)?;
    if args.json {
        json(&board)?
    } else {
        line(&text(&board))?
    }
    Ok(Answer::Yes)
}

fn text(board: &Board) -> String {
    let mut text = format!("{}: {}\nsource: {}\n\n", board.id, board.name, board.source);
    text += &monitors(board);
    for domain in &board.domains {
        text += "\n\n";
        text += &self::domain(board, domain);
    }
    text
}

/// The monitors as a table, with what is not certain about them under it.
pub(super) fn monitors(board: &Board) -> String {
    let rows = board
        .monitors
        .iter()
        .map(|m| {
            let reg: Vec<String> = m.reg.iter().map(|(a, s)| format!("{a:#x}/{s:#x}")).collect();
            let layout = m.layout.name().to_owned();
            vec![m.name.clone(), m.device(), layout, reg.join(" "), m.scale.unit_kb.to_string()]
        })
        .collect();
    let header = ["monitor", "device", "layout", "registers", "count unit kB"];
    let mut text = table(&header, &["count unit kB"], rows);
    for monitor in &board.monitors {
        if let Some(doubt) = &monitor.doubt {
            text += &format!("\ncount unit of {} is in doubt: {doubt}", monitor.name);
        }
    }
    text
}

/// A domain with its paths and levels.
pub(super) fn domain(board: &Board, domain: &Domain) -> String {
    let measured = board.monitor_of(domain).map_or("no monitor", |m| m.name.as_str());
    let mut text = format!("domain {} (measured by: {measured})\n", domain.name);
    if let Some((src, dst)) = &domain.path {
        text += &format!("path: {src} -> {dst}\n");
    }
    if let Some((src, dst)) = domain.icc_tags {
        text += &format!("tags: {src} {dst}\n");
    }
    text += &vote_path(domain).map_or_else(String::new, |path| format!("votes through: {path}\n"));
    let basis = Basis::of(&domain.table);
    if basis != Basis::Decimal {
        text += &format!("kBps: {}\n", basis.text());
    }
    let mut header = vec!["level".to_owned()];
    header.extend(domain.table.columns().iter().map(|column| format!("{column} kBps")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = (0..domain.table.len())
        .map(|level| {
            let row = domain.table.row(Level(level));
            std::iter::once(level.to_string()).chain(row.iter().map(|k| grouped(k.0))).collect()
        })
        .collect();
    text += &table(&header, &header, rows);
    text
}

/// The vote path that the board names, in the order in which `run` looks for one.
pub(super) fn vote_path(domain: &Domain) -> Option<String> {
    if let Some(path) = &domain.devfreq {
        let files = match path.through {
            DevfreqKnob::Userspace => "the governor userspace",
            DevfreqKnob::Limits => "min_freq and max_freq",
        };
        return Some(format!("devfreq {}, {files}", path.device));
    }
    if let [first, ..] = domain.icc.as_slice() {
        return Some(format!("the interconnect test client, {} -> {}", first.src, first.dst));
    }
    domain.bus_dcvs.as_ref().map(|path| format!("bus_dcvs {}", path.hw))
}
