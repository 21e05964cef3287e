//! `bwmon bundle install`.

use super::candidate::{CandidateArgs, Report, summary};
use super::places::StoreArgs;
use crate::bundle::Bundle;
use crate::cli::Answer;
use crate::cli::output::{json, line, say};
use crate::cli::products;
use crate::live::Root;
use crate::live::bundles::Terms;
use crate::product::resolve;
use anyhow::Context;
use serde::Serialize;

/// Arguments of `bwmon bundle install`.
#[derive(clap::Args)]
#[command(
    after_help = "In this order: signature by a trusted key, archive, schema, policies on the boards of \
the products, specs, traces, whether this machine still has one product, version. Then it is unpacked \
beside the old one, and a link is swapped. The one before is kept (`bwmon bundle rollback`).\n\n\
Examples:\n\
\x20 bwmon bundle install acme-1.4.0.bwmon\n\
\x20 bwmon bundle install acme-1.3.0.bwmon --allow-downgrade\n\
\x20 bwmon bundle install acme-1.4.0.bwmon --root image/       into an image"
)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    candidate: CandidateArgs,
    #[command(flatten)]
    place: StoreArgs,
    /// Install an older version over a newer one, or another bundle of the same version
    #[arg(long)]
    allow_downgrade: bool,
    /// Install one that has failed on this machine
    #[arg(long)]
    retry: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Installed<'a> {
    #[serde(flatten)]
    report: Report<'a>,
    store: String,
    /// The bundle that counted before.
    before: Option<String>,
    /// This machine's product with it; `None` if none fits.
    product: Option<&'a str>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let candidate = args.candidate.candidate(&args.place.root)?;
    let bundle = &candidate.bundle;
    let product = here(bundle, &args.place.root.root())?;
    let key = candidate.signed.as_ref().map(|signed| signed.key.to_string());
    let terms = Terms { allow_downgrade: args.allow_downgrade, retry: args.retry };
    let store = args.place.store();
    let before = store
        .install(bundle, key, &terms)
        .with_context(|| format!("{} is not installed", bundle.manifest.title()))?;
    if args.json {
        json(&Installed {
            report: candidate.report(),
            store: store.dir().display().to_string(),
            before: before.as_ref().map(ToString::to_string),
            product: product.as_deref(),
        })?;
        return Ok(Answer::Yes);
    }
    let over = match before {
        Some(before) => format!(" over {} ({})", before.title(), before.digest),
        None => String::new(),
    };
    line(&format!(
        "installed {} ({}){over}, {}",
        bundle.manifest.title(),
        bundle.short_digest(),
        candidate.vouched()
    ))?;
    line(&summary(&candidate.checked))?;
    match product {
        Some(product) => line(&format!("the product of this machine: {product}"))?,
        None => say("note: no product fits this machine; `bwmon policy which --explain` says why"),
    }
    Ok(Answer::Yes)
}

/// The product of this machine once `bundle` is installed. What would leave it without one answer is
/// found here, not by the agent.
fn here(bundle: &Bundle, root: &Root) -> anyhow::Result<Option<String>> {
    let title = bundle.manifest.title();
    let context = || format!("with {title} this machine would not know its product");
    let layer = bundle.layer("").map_err(anyhow::Error::msg)?;
    let products = products::with_bundle(root, Some(layer))?.all().with_context(context)?;
    let found = resolve(&products, &products::facts(root, None)?);
    let chosen = found.chosen().with_context(context)?;
    Ok(chosen.map(|chosen| chosen.name.clone()))
}
