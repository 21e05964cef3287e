//! `bwmon experiment check`.

use super::agendas::{agenda_text, prepare};
use crate::cli::Answer;
use crate::cli::output::{json, line};
use crate::experiment::{Place, parse, plan};
use serde_json::json as value;

/// Arguments of `bwmon experiment check`.
#[derive(clap::Args)]
pub(in crate::cli) struct Args {
    /// The agenda: a file, or a shipped one (`bwmon experiment list`)
    #[arg(value_name = "AGENDA")]
    agenda: String,
    /// Print the checked agenda and its plan as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (name, text) = agenda_text(&args.agenda)?;
    let agenda = parse(&name, &text)?;
    let blocks = plan(&agenda);
    if agenda.place == Place::Simulator {
        prepare(&name, &text, &agenda)?;
    }
    if args.json {
        let order = blocks.iter().map(|block| {
            let workload = agenda.workloads.get(block.workload).map(|w| w.name.as_str());
            let names = block.order.iter().filter_map(|at| agenda.subjects.get(*at));
            let subjects: Vec<&str> = names.map(|subject| subject.name.as_str()).collect();
            value!({ "block": block.block, "workload": workload, "subjects": subjects })
        });
        let order: Vec<_> = order.collect();
        json(&value!({ "agenda": agenda, "plan": order }))?;
        return Ok(Answer::Yes);
    }
    let list = |names: Vec<&str>| names.join(", ");
    line(&format!("{}: {}", agenda.name, agenda.what))?;
    line(&format!("subjects:  {} (baseline first)", list(agenda.subject_names().collect())))?;
    let workloads = agenda.workloads.iter().map(|workload| workload.name.as_str());
    line(&format!("workloads: {}", list(workloads.collect())))?;
    let measures = agenda.measures.iter().map(|measure| {
        format!("{}{}", measure.name, if measure.primary { " (primary)" } else { "" })
    });
    line(&format!("measures:  {}", measures.collect::<Vec<_>>().join(", ")))?;
    line(&format!(
        "{} blocks under each workload, {} runs, order drawn from seed {}",
        agenda.blocks,
        blocks.len() * agenda.subjects.len(),
        agenda.seed
    ))?;
    if agenda.blocks < 6 {
        line("fewer than 6 blocks can show no difference at 95 % confidence")?;
    }
    Ok(Answer::Yes)
}
