//! `bwmon boards`.

use super::output::{grouped, json, line, table};
use super::{Answer, common};
use crate::board::{Board, builtin, builtin_ids, builtin_text};

/// Arguments of `bwmon boards`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon boards sdm845                    its monitors, domains and levels\n\
\x20 bwmon boards sdm845 --file > my.toml   a start for a board file of your own")]
pub(super) struct Args {
    /// Show one board: its monitors, its domains and their levels (an id or a board file)
    #[arg(value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Print the board file itself, as a start for one of your own
    #[arg(long, requires = "board")]
    file: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "file")]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    match &args.board {
        None => list(args.json)?,
        Some(name) if args.file => match builtin_text(name) {
            Some(text) => line(text.trim_end())?,
            None => anyhow::bail!("{name} is not built in: its file is with you"),
        },
        Some(name) => {
            let board = common::board(name)?;
            if args.json { json(&board)? } else { line(&show(&board))? }
        }
    }
    Ok(Answer::Yes)
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let boards: Vec<Board> = builtin_ids().filter_map(builtin).collect::<Result<_, _>>()?;
    if as_json {
        return json(&boards);
    }
    let rows = boards
        .iter()
        .map(|board| {
            let monitors: Vec<&str> = board.monitors.iter().map(|m| m.name.as_str()).collect();
            let domains: Vec<String> = board
                .domains
                .iter()
                .map(|domain| format!("{} ({} levels)", domain.name, domain.table.len()))
                .collect();
            vec![board.id.clone(), board.name.clone(), monitors.join(" "), domains.join(", ")]
        })
        .collect();
    line(&table(&["board", "name", "monitors", "domains"], &[], rows))
}

fn show(board: &Board) -> String {
    let mut text = format!("{}: {}\nsource: {}\n\n", board.id, board.name, board.source);
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
    text += &table(&header, &["count unit kB"], rows);
    for domain in &board.domains {
        let measured = board.monitor_of(domain).map_or("no monitor", |m| m.name.as_str());
        text += &format!("\n\ndomain {} (measured by: {measured})\n", domain.name);
        if let Some((src, dst)) = &domain.path {
            text += &format!("path: {src} -> {dst}\n");
        }
        let mut header = vec!["level".to_owned()];
        header.extend(domain.table.columns().iter().map(|column| format!("{column} kBps")));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let rows = (0..domain.table.len())
            .map(|level| {
                let row = domain.table.row(crate::board::Level(level));
                std::iter::once(level.to_string()).chain(row.iter().map(|k| grouped(k.0))).collect()
            })
            .collect();
        text += &table(&header, &header, rows);
    }
    text
}
