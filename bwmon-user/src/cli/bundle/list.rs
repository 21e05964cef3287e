//! `bwmon bundle list`.

use super::places::StoreArgs;
use crate::cli::Answer;
use crate::cli::output::{json, line, say, table};
use crate::live::bundles::{self, Id};
use serde::Serialize;

/// Arguments of `bwmon bundle list`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon bundle list\n\
\x20 bwmon bundle list --json")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    place: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    version: String,
    digest: String,
    /// Its products count.
    current: bool,
    /// How it stands, in words.
    standing: String,
    /// What is wrong with its files.
    damage: Option<String>,
    signed_by: Option<String>,
    products: Vec<String>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let store = args.place.store();
    let rows: Vec<Row> = store.list()?.into_iter().map(row).collect();
    if args.json {
        json(&rows)?;
        return Ok(Answer::Yes);
    }
    if rows.is_empty() {
        say(&format!("no bundle is installed in {}", store.dir().display()));
        return Ok(Answer::Yes);
    }
    let cells = |row: Row| {
        vec![
            if row.current { "*" } else { "" }.to_owned(),
            row.name,
            row.version,
            row.digest,
            row.damage.map_or(row.standing, |_| "damaged".into()),
            row.signed_by.unwrap_or_else(|| "nobody".into()),
            row.products.join(", "),
        ]
    };
    for row in rows.iter().filter_map(|row| row.damage.as_ref()) {
        say(&format!("warning: {row}"));
    }
    let header = ["", "bundle", "version", "digest", "standing", "signed by", "products"];
    line(&table(&header, &[], rows.into_iter().map(cells).collect()))?;
    Ok(Answer::Yes)
}

fn row(unpacked: bundles::Row) -> Row {
    let Id { name, version, digest } = unpacked.id;
    let current = unpacked.is_current;
    let (standing, damage, signed_by, products) = match unpacked.installed {
        Ok(installed) => {
            let files = installed.bundle.of(crate::bundle::Role::Product);
            let names = files.map(|file| crate::bundle::product_name(&file.path).to_owned());
            (installed.standing.word(), None, installed.key.clone(), names.collect())
        }
        Err(error) => ("damaged".into(), Some(error.to_string()), None, Vec::new()),
    };
    Row { name, version, digest, current, standing, damage, signed_by, products }
}
