//! `bwmon bundle rollback`.

use super::places::StoreArgs;
use crate::cli::Answer;
use crate::cli::output::{json, line, say};
use crate::live::bundles::{Id, Rolled};
use serde::Serialize;

/// Arguments of `bwmon bundle rollback`.
#[derive(clap::Args)]
#[command(
    after_help = "The good bundle before the current one counts again; without one, the products of \
/usr/lib and the built-in ones do. The one that is left can be installed again.\n\nExamples:\n\
\x20 bwmon bundle rollback"
)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    place: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    from: String,
    to: Option<String>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let Some(Rolled { from, to, .. }) = args.place.store().rollback()? else {
        say("no bundle is installed: nothing to go back from");
        return Ok(Answer::No);
    };
    if args.json {
        json(&Report { from: from.to_string(), to: to.as_ref().map(ToString::to_string) })?;
        return Ok(Answer::Yes);
    }
    let shown = |id: &Id| format!("{} ({})", id.title(), id.digest);
    let to = to.as_ref().map_or_else(
        || "no bundle: the products of /usr/lib and the built-in ones count".to_owned(),
        shown,
    );
    line(&format!("from {} back to {to}", shown(&from)))?;
    Ok(Answer::Yes)
}
