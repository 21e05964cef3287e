//! `bwmon policy check`.

use crate::board::{builtin, builtin_ids};
use crate::cli::output::{json, line, say};
use crate::cli::{Answer, common};
use crate::policy::script::{CheckReport, MAX_OPERATIONS, check};
use serde::Serialize;

/// Arguments of `bwmon policy check`.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Policies: .rhai files, or `bwmon`
    #[arg(value_name = "FILE|NAME", required = true)]
    policies: Vec<String>,
    /// The board to check it for [default: every built-in one]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Settings that belong together, from the policy's head
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value)]
    set: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct Row {
    policy: String,
    ok: bool,
    boards: usize,
    calls: u64,
    max_operations: u64,
    tunables: usize,
    fault: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let mut rows = Vec::new();
    for name in &args.policies {
        rows.push(check_one(args, name)?);
    }
    let all_good = rows.iter().all(|row| row.ok);
    if args.json {
        json(&rows)?;
    } else {
        for row in rows.iter().filter(|row| row.ok) {
            if row.boards == 0 {
                line(&format!("{}: the kernel's rule in Rust, compiled in", row.policy))?;
                continue;
            }
            line(&format!(
                "{}: good on {} board(s), {} calls, at most {} of {MAX_OPERATIONS} operations, \
                 {} tunable(s)",
                row.policy, row.boards, row.calls, row.max_operations, row.tunables
            ))?;
        }
        for fault in rows.iter().filter_map(|row| row.fault.as_ref()) {
            say(&format!("error: {fault}"));
        }
    }
    Ok(if all_good { Answer::Yes } else { Answer::No })
}

fn check_one(args: &Args, name: &str) -> anyhow::Result<Row> {
    if name == crate::policy::NATIVE {
        // Compiled with the program; its tests check it on every board.
        let policy = name.to_owned();
        return Ok(Row { policy, ok: true, ..Row::default() });
    }
    let source = common::script(name)?;
    let set = common::tunables(&source, args.preset.as_deref(), &args.set)?;
    let boards = match &args.board {
        Some(board) => vec![common::board(board)?],
        None => builtin_ids().filter_map(builtin).collect::<Result<_, _>>()?,
    };
    let mut row = Row {
        policy: name.to_owned(),
        ok: true,
        boards: boards.len(),
        calls: 0,
        max_operations: 0,
        tunables: 0,
        fault: None,
        line: None,
        column: None,
    };
    for board in &boards {
        match check(source.clone(), board, &set) {
            Ok(CheckReport { calls, max_operations, params }) => {
                row.calls += calls;
                row.max_operations = row.max_operations.max(max_operations);
                row.tunables = params;
            }
            Err(fault) => {
                row.ok = false;
                row.line = fault.place.as_ref().map(|place| place.line);
                row.column = fault.place.as_ref().map(|place| place.column);
                row.fault = Some(fault.to_string());
                break;
            }
        }
    }
    Ok(row)
}
