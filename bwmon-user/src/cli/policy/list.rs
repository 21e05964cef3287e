//! `bwmon policy list`.

use super::product::{self, ProductArgs};
use crate::cli::output::{clean, json, line, say, table};
use crate::cli::{Answer, common};
use crate::policy::script::{Head, Source, digest, outline};
use crate::policy::{NATIVE, library};
use anyhow::Context;
use serde::Serialize;
use std::fs;

/// Arguments of `bwmon policy list`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy list                the policies that ship with bwmon\n\
\x20 bwmon policy list policies/      those of a folder\n\
\x20 bwmon policy list --product      what the product of this machine comes to, and from where")]
pub(in crate::cli) struct Args {
    /// Folders whose .rhai files are listed [default: the shipped policies]
    #[arg(value_name = "FOLDER")]
    folders: Vec<String>,
    #[command(flatten)]
    product: ProductArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    policy: String,
    intent: String,
    tunables: usize,
    presets: Vec<String>,
    spec: bool,
    digest: Option<String>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if args.product.asked() {
        return product::main(&args.product, args.json);
    }
    let (mut rows, mut all_good) = (Vec::new(), true);
    if args.folders.is_empty() {
        for shipped in library::SHIPPED {
            let source = Source { name: shipped.name.into(), text: shipped.text.into() };
            rows.push(row(&source, shipped.spec.is_some())?);
        }
        rows.push(Row {
            policy: NATIVE.to_owned(),
            intent: "the kernel driver's rule in Rust; answers when a policy faults".to_owned(),
            tunables: 0,
            presets: Vec::new(),
            spec: false,
            digest: None,
        });
    }
    for folder in &args.folders {
        let mut files: Vec<_> = fs::read_dir(folder)
            .with_context(|| format!("cannot read the folder {folder}"))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ext| ext == "rhai"))
            .collect();
        files.sort();
        if files.is_empty() {
            say(&format!("there are no .rhai files in {folder}"));
        }
        for file in files {
            let name = file.to_string_lossy().into_owned();
            let listed = common::text_of(&name).and_then(|text| {
                row(&Source { name, text }, file.with_extension("spec.toml").exists())
            });
            match listed {
                Ok(row) => rows.push(row),
                Err(error) => {
                    all_good = false;
                    say(&format!("error: {error:#}"));
                }
            }
        }
    }
    if args.json {
        json(&rows)?;
    } else {
        let cells = |row: &Row| {
            let presets = row.presets.len();
            vec![
                row.policy.clone(),
                row.tunables.to_string(),
                presets.to_string(),
                if row.spec { "yes" } else { "-" }.to_owned(),
                row.intent.clone(),
            ]
        };
        let heads = ["policy", "tunables", "presets", "spec", "intent"];
        line(&clean(&table(&heads, &heads[1..3], rows.iter().map(cells).collect())))?;
    }
    Ok(if all_good { Answer::Yes } else { Answer::No })
}

fn row(source: &Source, spec: bool) -> anyhow::Result<Row> {
    let (params, presets) = outline(source)?;
    Ok(Row {
        policy: source.name.clone(),
        intent: Head::of(&source.text).intent,
        tunables: params.len(),
        presets: presets.into_iter().map(|preset| preset.name).collect(),
        spec,
        digest: Some(digest(&source.text)),
    })
}
