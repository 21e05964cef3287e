//! `bwmon experiment tune`.

use super::sources::Files;
use crate::cli::Answer;
use crate::cli::common;
use crate::cli::output::{json, line, say, table};
use crate::experiment::search::{Choices, Score, Vary};
use crate::lab::{Found, Search, Tried, search};
use crate::policy::is_compiled_in;
use crate::policy::script::{Param, Value, outline};
use anyhow::bail;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Arguments of `bwmon experiment tune`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n\
\x20 bwmon experiment tune adaptive --on frames --on launch --held-out camera --vary util_pct\n\
A setting is better if it votes less and loses at most --max-loss-pct of the throughput at the\n\
highest levels on every scenario. Scenarios given with --held-out are never looked at while\n\
choosing; what holds there too is more than luck.")]
pub(in crate::cli) struct Args {
    /// The policy: a .rhai file or a built-in one
    #[arg(value_name = "POLICY")]
    policy: String,
    /// Settings that belong together, over which the tunables vary
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A tunable that varies, over its whole range or a part; all tunables without this
    #[arg(long, value_name = "NAME[=FROM..TO]")]
    vary: Vec<String>,
    /// A scenario to judge on: a built-in workload or a file (.toml)
    #[arg(long, value_name = "NAME", required = true)]
    on: Vec<String>,
    /// A scenario that no choice sees
    #[arg(long, value_name = "NAME")]
    held_out: Vec<String>,
    /// The board
    #[arg(long, value_name = "BOARD|FILE", default_value = "sdm845")]
    board: String,
    /// Settings to begin with
    #[arg(long, value_name = "N", default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    candidates: u16,
    /// Settings to report
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=100))]
    keep: u16,
    /// Blocks of the first round; each round doubles them
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    blocks: u32,
    /// The most throughput that may be lost on any scenario, in percent
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    max_loss_pct: f64,
    /// Distance of the ticks
    #[arg(long, value_name = "US", default_value_t = 4_000,
        value_parser = clap::value_parser!(u64).range(100..=1_000_000))]
    period_us: u64,
    /// What everything is drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Runs at a time [default: one for each CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    if let Some(both) = args.on.iter().find(|name| args.held_out.contains(name)) {
        bail!("{both} cannot both choose and be held out");
    }
    if !(0.0..=100.0).contains(&args.max_loss_pct) {
        bail!("--max-loss-pct {} is not between 0 and 100", args.max_loss_pct);
    }
    if is_compiled_in(&args.policy) {
        bail!(
            "{} has no tunables to search for; `bwmon` is the kernel's rule as a script",
            args.policy
        );
    }
    let (params, _) = outline(&common::script(&args.policy)?)?;
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = Search {
        policy: args.policy.clone(),
        preset: args.preset.clone(),
        varies: varies(&args.policy, &params, &args.vary)?,
        board: args.board.clone(),
        scenarios: args.on.clone(),
        held_out: args.held_out.clone(),
        candidates: args.candidates.into(),
        keep: args.keep.into(),
        blocks: args.blocks,
        most_loss_pct: args.max_loss_pct,
        period_us: args.period_us,
        seed: args.seed,
        jobs: args.jobs.map_or_else(cpus, usize::from),
    };
    let stop = Arc::new(AtomicBool::new(false));
    crate::agent::stop_on_signals(stop.clone())?;
    let found = search(&asked, &Files, &stop, &mut |text| say(&format!("bwmon: {text}")))?;
    if args.json {
        json(&found)?;
    } else {
        text(args, &found)?;
    }
    Ok(Answer::Yes)
}

/// What may vary: everything that has a range, or what `--vary` names.
fn varies(policy: &str, params: &[Param], asked: &[String]) -> anyhow::Result<Vec<Vary>> {
    let all = || params.iter().filter_map(|param| Some((param, choices(param)?)));
    let mut varies = Vec::new();
    for text in asked {
        let (name, part) = match text.split_once('=') {
            Some((name, part)) => (name, Some(part)),
            None => (text.as_str(), None),
        };
        let Some((param, whole)) = all().find(|(param, _)| param.name == name) else {
            let known: Vec<&str> = all().map(|(param, _)| param.name.as_str()).collect();
            bail!("{policy} has no tunable {name} that could vary; it has {}", known.join(", "));
        };
        let from = match part {
            None => whole,
            Some(part) => narrowed(param, &whole, part)?,
        };
        varies.push(Vary { name: param.name.clone(), from });
    }
    if asked.is_empty() {
        varies = all().map(|(p, from)| Vary { name: p.name.clone(), from }).collect();
    }
    if varies.is_empty() {
        bail!("{policy} has no tunables with a range: there is nothing to search for");
    }
    Ok(varies)
}

/// What a tunable can be; `None` for lists, and for numbers without bounds.
fn choices(param: &Param) -> Option<Choices> {
    match (&param.default, param.range) {
        (Value::Bool(_), _) => Some(Choices::Either),
        (Value::Int(_), Some((from, to))) => Some(Choices::Whole(from as i64, to as i64)),
        (Value::Float(_), Some((from, to))) => Some(Choices::Real(from, to)),
        _ => None,
    }
}

/// The part `FROM..TO` of a range.
fn narrowed(param: &Param, whole: &Choices, part: &str) -> anyhow::Result<Choices> {
    let name = &param.name;
    let ends = part.split_once("..").and_then(|(a, b)| Some((number(a)?, number(b)?)));
    let Some((from, to)) = ends.filter(|(from, to)| from <= to) else {
        bail!("--vary {name}={part}: write it as {name}=FROM..TO");
    };
    let bounds = param.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    if from < bounds.0 || to > bounds.1 {
        bail!("--vary {name}={part}: {name} lies between {} and {}", bounds.0, bounds.1);
    }
    match whole {
        Choices::Whole(..) => Ok(Choices::Whole(from.ceil() as i64, to.floor() as i64)),
        Choices::Real(..) => Ok(Choices::Real(from, to)),
        Choices::Either => {
            bail!("--vary {name}={part}: {name} is true or false; leave {part} away")
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().replace('_', "").parse().ok().filter(|n: &f64| n.is_finite())
}

fn text(args: &Args, found: &Found) -> anyhow::Result<()> {
    let mut header = vec!["setting", "votes %", "worst loss %"];
    if !args.held_out.is_empty() {
        header.extend(["votes % held out", "loss % held out"]);
    }
    let rows = std::iter::once(&found.default).chain(&found.best).map(row).collect();
    line(&table(&header, header.get(1..).unwrap_or(&[]), rows))?;
    line(&format!(
        "\n{} settings, {} runs; votes are vote integrals as a share of the highest levels' (mean of \
         the scenarios), losses of throughput against them. Simulated, not measured.",
        found.candidates, found.runs
    ))?;
    let too_much = |score: &Score| score.loss_pct > args.max_loss_pct;
    let Some(best) = found.best.first() else { return Ok(()) };
    if too_much(&best.scenarios) {
        line(&format!(
            "No setting keeps its loss within {} %: the first one loses least.",
            args.max_loss_pct
        ))?;
    }
    if best.held_out.as_ref().is_some_and(too_much) && !too_much(&best.scenarios) {
        line(&format!(
            "The best one loses more than {} % on scenarios that it had not seen: it fits those that \
             chose it.",
            args.max_loss_pct
        ))?;
    }
    Ok(())
}

fn row(tried: &Tried) -> Vec<String> {
    let set: Vec<String> = tried.set.iter().map(|(name, v)| format!("{name}={v}")).collect();
    let name = if set.is_empty() { "(as it comes)".to_owned() } else { set.join(" ") };
    let cells =
        |score: &Score| [format!("{:.1}", score.votes_pct), format!("{:.2}", score.loss_pct)];
    let mut row = vec![name];
    row.extend(cells(&tried.scenarios));
    row.extend(tried.held_out.as_ref().map(cells).into_iter().flatten());
    row
}
