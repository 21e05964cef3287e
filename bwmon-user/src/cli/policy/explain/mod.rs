//! `bwmon policy explain`: why this level.

mod given;
mod recorded;
mod story;
mod summary;
mod watched;
mod with;

use crate::cli::output::{json, line};
use crate::cli::{Answer, common};
use anyhow::bail;

/// Arguments of `bwmon policy explain`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon sim --journal j.jsonl && bwmon policy explain j.jsonl --tick 52 --domain ddr\n\
\x20 bwmon policy explain j.jsonl --at 0.208 --domain llcc\n\
\x20 bwmon policy explain adaptive --domain ddr --with peak_kBps=3000000 --with level=1\n\
\x20 bwmon policy explain bwmon --domain ddr --with level=3 --with peak_kBps=1000 --ticks 16\n\
\x20 bwmon policy explain my.rhai --domain l3 --with llcc.peak_kBps=9000000 --with cpu_max_kHz=2500000")]
pub(in crate::cli) struct Args {
    /// A journal, with --tick or --at; or a policy (file or name), with values given by --with
    #[arg(value_name = "JOURNAL|POLICY")]
    what: String,
    /// The tick of the journal, as its entries number them
    #[arg(long, value_name = "N", conflicts_with = "at")]
    tick: Option<u64>,
    /// The first tick of the journal at or after so many seconds from its first one
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    at: Option<f64>,
    /// The domain [default: all of a journal's; the board's first one with a monitor]
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// A reading of the domain, or of another one as DOMAIN.NAME; what is not given is unknown
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value,
        conflicts_with_all = ["tick", "at"])]
    with: Vec<(String, String)>,
    /// Ask so many times with the same readings, 4 ms apart, and explain the last
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    ticks: u32,
    /// The board, for values that are given
    #[arg(long, value_name = "BOARD|FILE", default_value = "sdm845")]
    board: String,
    /// Settings that belong together, from the policy's head
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tick", "at"])]
    preset: Option<String>,
    /// A tunable of the policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value,
        conflicts_with_all = ["tick", "at"])]
    set: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let stories = match (args.tick, args.at) {
        (None, None) if common::is_journal(&args.what) => {
            bail!("say which tick of {} is to be explained: --tick N or --at SECONDS", args.what)
        }
        (None, None) => vec![given::story(args)?],
        (tick, at) => recorded::stories(args, tick, at)?,
    };
    if args.json {
        json(&stories)?;
    } else {
        for story in &stories {
            line(&story.text())?;
        }
    }
    Ok(Answer::Yes)
}
