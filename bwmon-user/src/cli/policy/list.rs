//! `bwmon policy list`.

use super::product::{self, ProductArgs};
use crate::cli::Answer;
use crate::cli::output::{json, line, table};
use crate::policy::library;
use crate::policy::script::{Head, Source};
use serde::Serialize;

/// Arguments of `bwmon policy list`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy list                               the built-in policies\n\
\x20 bwmon policy list --product                     what the product of this machine comes to\n\
\x20 bwmon policy list --product vendor-sdm845       the same for another product")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    product: ProductArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    tunables: usize,
    presets: Vec<String>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.product.asked() {
        return product::main(&args.product, args.json);
    }
    let mut rows = Vec::new();
    for shipped in library::SHIPPED {
        let source = Source { name: shipped.name.to_owned(), text: shipped.text.to_owned() };
        let head = Head::read(&source)?;
        let presets = head.presets.into_iter().map(|preset| preset.name).collect();
        rows.push(Row { name: shipped.name, tunables: head.params.len(), presets });
    }
    if args.json {
        json(&rows)?;
        return Ok(Answer::Yes);
    }
    let cells = |row: &Row| {
        vec![row.name.to_owned(), row.tunables.to_string(), row.presets.len().to_string()]
    };
    let rows = rows.iter().map(cells).collect();
    line(&table(&["policy", "tunables", "presets"], &["tunables", "presets"], rows))?;
    Ok(Answer::Yes)
}
