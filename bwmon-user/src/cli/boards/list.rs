//! `bwmon boards`: the built-in ones.

use crate::board::{Board, builtin, builtin_ids};
use crate::cli::Answer;
use crate::cli::output::{json, line, table};

pub(super) fn main(as_json: bool) -> anyhow::Result<Answer> {
    let boards: Vec<Board> = builtin_ids().filter_map(builtin).collect::<Result<_, _>>()?;
    if as_json {
        json(&boards)?;
        return Ok(Answer::Yes);
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
    line(&table(&["board", "name", "monitors", "domains"], &[], rows))?;
    Ok(Answer::Yes)
}
