//! `bwmon experiment list`.

use crate::cli::Answer;
use crate::cli::output::{json, line, table};
use crate::experiment::library::SHIPPED_AGENDAS;
use crate::experiment::{Agenda, parse};

/// Arguments of `bwmon experiment list`.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// Print the text of this one
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    source: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if let Some(name) = &args.source {
        line(super::agendas::agenda_text(name)?.1.trim_end())?;
        return Ok(Answer::Yes);
    }
    let mut agendas: Vec<Agenda> = Vec::new();
    for shipped in SHIPPED_AGENDAS {
        agendas.push(parse(shipped.name, shipped.text)?);
    }
    if args.json {
        json(&agendas)?;
        return Ok(Answer::Yes);
    }
    let rows = agendas.iter().map(|agenda| {
        let count = |n: usize| n.to_string();
        vec![
            agenda.name.clone(),
            count(agenda.subjects.len()),
            count(agenda.workloads.len()),
            agenda.blocks.to_string(),
            agenda.what.clone(),
        ]
    });
    let header = ["agenda", "subjects", "workloads", "blocks", "what"];
    line(&table(&header, &["subjects", "workloads", "blocks"], rows.collect()))?;
    Ok(Answer::Yes)
}
