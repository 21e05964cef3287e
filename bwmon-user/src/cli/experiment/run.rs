//! `bwmon experiment run`.

mod gate;
mod session;

use super::report::print;
use crate::cli::Answer;
use crate::cli::output::say;
use crate::experiment::{Shard, judge};
use crate::lab::{Folder, Plan};
use anyhow::bail;
use session::Session;
use std::path::PathBuf;

/// Arguments of `bwmon experiment run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon experiment run seed-table                         the seed's 13 rows on the model\n\
\x20 bwmon experiment run my.toml --aa                       first: is the rig fit to tell?\n\
\x20 bwmon experiment run my.toml --resume                   go on after an interruption\n\
\x20 bwmon experiment run my.toml --shard 3/16 --out part3   a part, for `experiment merge`\n\
Exit codes: 0 done, 1 the rig is not fit (--aa), 2 could not do it.")]
pub(in crate::cli) struct Args {
    /// The agenda: a file, or a shipped one (`bwmon experiment list`)
    #[arg(value_name = "AGENDA")]
    agenda: String,
    /// Where the results go [default: NAME.results]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the results that are there
    #[arg(long)]
    resume: bool,
    /// Blocks, over the agenda's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// What the orders are drawn from, over the agenda's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run one part of the plan; the parts together say what the whole would
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Run the baseline against itself first, and stop if it differs: then the rig is not fit
    #[arg(long, conflicts_with = "shard")]
    aa: bool,
    /// Simulated runs at a time [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// On a machine: decide and measure, change nothing
    #[arg(long)]
    dry_run: bool,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Where agents have their lock and their restore file
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    state_dir: Option<PathBuf>,
    /// Print the judged results as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (name, text) = super::agendas::agenda_text(&args.agenda)?;
    let plan = Plan {
        seed: args.seed,
        blocks: args.blocks,
        shard: args.shard.map(|shard| format!("{}/{}", shard.index, shard.count)),
        dry_run: args.dry_run,
        ..Plan::new(&text)
    };
    let agenda = plan.agenda(&name, &text)?;
    let out = args.out.clone().unwrap_or_else(|| format!("{}.results", agenda.name).into());
    let session = Session::new(args, &name, &text, agenda)?;
    if args.aa && !gate::is_fit(&session, &text, &plan, &out, args.resume)? {
        return Ok(Answer::No);
    }
    let folder = open(&session, &text, plan, &out, args.resume)?;
    session.collect(&folder)?;
    let judged = judge(folder.agenda(), &folder.lines()?)?;
    print(&judged, args.json)?;
    say(&format!("bwmon: results in {}", folder.path().display()));
    Ok(Answer::Yes)
}

/// A new folder, or the one to go on with.
fn open(
    session: &Session,
    text: &str,
    plan: Plan,
    out: &std::path::Path,
    resume: bool,
) -> anyhow::Result<Folder> {
    if !resume || !out.join("plan.json").exists() {
        return Folder::create(out, text, plan, &session.environment(out)?);
    }
    let folder = Folder::open(out)?;
    let asked = Plan { program: folder.plan().program.clone(), ..plan };
    if folder.plan() != &asked {
        bail!(
            "{} was begun with another agenda or with other options; finish it with those, or give \
             another folder with --out",
            out.display()
        );
    }
    Ok(folder)
}
