//! `bwmon policy which`.

use crate::cli::Answer;
use crate::cli::output::{json, line, say, table};
use crate::cli::products::{self, SearchArgs};
use crate::journal::BundleRecord;
use crate::live::Root;
use crate::product::{Candidate, Catalog, Fit, MachineFacts, Product, resolve};
use serde::Serialize;
use std::path::PathBuf;

/// Arguments of `bwmon policy which`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon policy which                            the product that `bwmon run` would take here\n\
\x20 bwmon policy which --explain                  what this machine says, and how every product stands to it\n\
\x20 bwmon policy which --facts acme.toml          the same for another machine")]
pub(in crate::cli) struct Args {
    /// Print what the machine says about itself (as TOML, for --facts elsewhere), every product,
    /// and the key that failed
    #[arg(long)]
    explain: bool,
    /// What the machine says about itself, from a file [default: this machine]
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    #[command(flatten)]
    search: SearchArgs,
    /// Look for /sys, /proc and /etc under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    product: Option<Chosen>,
    facts: &'a MachineFacts,
    candidates: Vec<Row<'a>>,
    hidden: Vec<HiddenRow<'a>>,
}

#[derive(Serialize)]
struct Chosen {
    name: String,
    version: Option<String>,
    what: Option<String>,
    file: String,
    bases: Vec<String>,
    layer: Option<String>,
    /// The bundle that it or a base of it came in.
    bundle: Option<BundleRecord>,
    why: String,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    file: &'a str,
    /// Where the file stands: a folder, a bundle, or `built-in`.
    layer: Option<&'a str>,
    fits: bool,
    /// The key that failed.
    key: Option<&'static str>,
    why: String,
}

#[derive(Serialize)]
struct HiddenRow<'a> {
    file: &'a str,
    by: &'a str,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let root = Root::at(&args.root);
    let facts = products::facts(&root, args.facts.as_deref())?;
    let catalog = args.search.catalog(&root)?;
    let products = catalog.all()?;
    let found = resolve(&products, &facts);
    let chosen = found.chosen();
    if args.explain && !args.json {
        explain(&facts, &found.candidates, &catalog)?;
    }
    // Who asks to explain a tie gets the table before the error.
    let chosen = chosen?;
    let product = chosen.and_then(|chosen| {
        products.iter().find(|p| p.name.value == chosen.name).map(|p| describe(p, chosen, &catalog))
    });
    let answer = if product.is_some() { Answer::Yes } else { Answer::No };
    if args.json {
        let candidates =
            found.candidates.iter().map(|candidate| row(candidate, &catalog)).collect();
        let hidden = catalog
            .hidden()
            .iter()
            .map(|hidden| HiddenRow { file: &hidden.path, by: &hidden.by })
            .collect();
        json(&Report { product, facts: &facts, candidates, hidden })?;
        return Ok(answer);
    }
    match &product {
        Some(product) => {
            let version = product.version.as_deref().map(|v| format!(" {v}")).unwrap_or_default();
            let bundle = product.bundle.as_ref();
            let bundle = bundle.map(|b| format!(", bundle {} ({})", b.title(), b.digest));
            let (file, bundle) = (&product.file, bundle.unwrap_or_default());
            line(&format!("{}{version} ({file}{bundle}): {}", product.name, product.why))?;
        }
        None => say("no product fits; --explain says why"),
    }
    Ok(answer)
}

fn explain(
    facts: &MachineFacts,
    candidates: &[Candidate],
    catalog: &Catalog,
) -> anyhow::Result<()> {
    line("# what the machine says")?;
    line(facts.toml().trim_end())?;
    line("")?;
    let cells = |candidate: &Candidate| {
        let fits = if matches!(candidate.fit, Fit::Fits(_)) { "yes" } else { "no" };
        let layer = catalog.place(&candidate.name).map(|place| place.name.clone());
        vec![
            candidate.name.clone(),
            fits.to_owned(),
            candidate.why(),
            layer.unwrap_or_default(),
            candidate.file.clone(),
        ]
    };
    let rows = candidates.iter().map(cells).collect();
    line(&table(&["product", "fits", "why", "layer", "file"], &[], rows))?;
    for hidden in catalog.hidden() {
        line(&format!("{} is hidden by {}", hidden.path, hidden.by))?;
    }
    line("")
}

fn describe(product: &Product, chosen: &Candidate, catalog: &Catalog) -> Chosen {
    let text = |s: &Option<crate::product::Sourced<String>>| s.as_ref().map(|s| s.value.clone());
    Chosen {
        name: chosen.name.clone(),
        version: text(&product.version),
        what: text(&product.what),
        file: chosen.file.clone(),
        bases: product.bases.iter().map(ToString::to_string).collect(),
        layer: catalog.place(&chosen.name).map(|place| place.name.clone()),
        bundle: catalog.bundle_of(product).cloned(),
        why: chosen.why(),
    }
}

fn row<'a>(candidate: &'a Candidate, catalog: &'a Catalog) -> Row<'a> {
    let key = match &candidate.fit {
        Fit::Fails { key, .. } => Some(key.name()),
        Fit::Fits(_) | Fit::Abstract => None,
    };
    Row {
        name: &candidate.name,
        file: &candidate.file,
        layer: catalog.place(&candidate.name).map(|place| place.name.as_str()),
        fits: matches!(candidate.fit, Fit::Fits(_)),
        key,
        why: candidate.why(),
    }
}
