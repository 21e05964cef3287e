//! `bwmon replay`.

use super::Answer;
use super::common::{self, PolicyArgs};
use super::output::{grouped, json, line, table};
use crate::replay::{Compared, Comparison, Verified, compare, verify};
use anyhow::bail;
use serde::Serialize;

/// Arguments of `bwmon replay`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon replay --verify run.jsonl            was every decision the one that the code makes?\n\
\x20 bwmon replay --policy my.rhai run.jsonl    what would another policy have voted?")]
pub(super) struct Args {
    /// The journal (from `bwmon run --journal` or `bwmon sim --journal`)
    #[arg(value_name = "JOURNAL")]
    journal: String,
    /// Walk every tick again and compare with what was recorded, to the byte; exit code 1 if
    /// anything differs
    #[arg(long, conflicts_with = "policy")]
    verify: bool,
    /// Try another policy on the recorded samples: open loop, the traffic does not answer to its
    /// levels
    #[arg(long, value_name = "FILE|NAME")]
    policy: Option<String>,
    /// Settings that belong together, from the other policy's head
    #[arg(long, value_name = "NAME", requires = "policy", conflicts_with = "verify")]
    preset: Option<String>,
    /// A tunable of the other policy
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value, requires = "policy", conflicts_with = "verify")]
    set: Vec<(String, String)>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    match &args.policy {
        Some(policy) => other_policy(&args, policy),
        None if args.verify => verified(&args),
        None => bail!("say what to do with the journal: --verify, or --policy FILE"),
    }
}

#[derive(Serialize)]
struct VerifyReport {
    journal: String,
    entries: u64,
    different: u64,
    first_different_line: Option<usize>,
}

fn verified(args: &Args) -> anyhow::Result<Answer> {
    let (reader, header) = common::journal(&args.journal)?;
    let Verified { entries, different, first } = verify(reader, &header)?;
    if args.json {
        json(&VerifyReport {
            journal: args.journal.clone(),
            entries,
            different,
            first_different_line: first.as_ref().map(|(line, ..)| *line),
        })?;
    } else if let Some((number, recorded, replayed)) = &first {
        line(&format!(
            "{different} of {entries} entries differ; the first is line {number}:\n\
             recorded: {recorded}\nreplayed: {replayed}"
        ))?;
    } else {
        line(&format!(
            "{entries} entries of policy {} on {} replayed, all equal to the byte",
            header.policy.name, header.board.id
        ))?;
    }
    if entries == 0 {
        anyhow::bail!("the journal has no entries: there is nothing to verify");
    }
    Ok(if different == 0 { Answer::Yes } else { Answer::No })
}

#[derive(Serialize)]
struct CompareReport {
    journal: String,
    recorded_policy: String,
    policy: String,
    open_loop: bool,
    faults: u64,
    fallbacks: u64,
    first_fault: Option<String>,
    domains: Vec<DomainReport>,
}

#[derive(Serialize)]
struct DomainReport {
    name: String,
    ticks: u64,
    different: u64,
    #[serde(rename = "recorded_mean_vote_kBps")]
    recorded_mean: u64,
    #[serde(rename = "mean_vote_kBps")]
    other_mean: u64,
    recorded_transitions: u64,
    transitions: u64,
}

impl From<Compared> for DomainReport {
    fn from(row: Compared) -> Self {
        Self {
            name: row.name,
            ticks: row.ticks,
            different: row.different,
            recorded_mean: row.recorded_mean.0,
            other_mean: row.other_mean.0,
            recorded_transitions: row.recorded_transitions,
            transitions: row.other_transitions,
        }
    }
}

fn other_policy(args: &Args, policy: &str) -> anyhow::Result<Answer> {
    let (reader, header) = common::journal(&args.journal)?;
    let (preset, set) = (args.preset.clone(), args.set.clone());
    let spec = PolicyArgs { policy: policy.to_owned(), preset, set }.spec()?;
    let (other, record) = spec.build(&header.board)?;
    let Comparison { rows, tally } = compare(reader, &header, other)?;
    let domains: Vec<DomainReport> = rows.into_iter().map(Into::into).collect();
    let report = CompareReport {
        journal: args.journal.clone(),
        recorded_policy: header.policy.name.clone(),
        policy: record.name,
        open_loop: true,
        faults: tally.faults,
        fallbacks: tally.fallbacks,
        first_fault: tally.first_fault,
        domains,
    };
    if args.json {
        json(&report)?;
        return Ok(Answer::Yes);
    }
    let rows = report
        .domains
        .iter()
        .map(|d| {
            vec![
                d.name.clone(),
                format!("{} of {}", d.different, d.ticks),
                grouped(d.recorded_mean),
                grouped(d.other_mean),
                d.recorded_transitions.to_string(),
                d.transitions.to_string(),
            ]
        })
        .collect();
    let header = [
        "domain",
        "ticks that differ",
        "recorded mean vote kBps",
        "mean vote kBps",
        "recorded transitions",
        "transitions",
    ];
    line(&table(&header, header.get(1..).unwrap_or(&[]), rows))?;
    line(&format!(
        "\n{} beside the recorded {}, open loop: the traffic did not answer to its levels",
        report.policy, report.recorded_policy
    ))?;
    if let Some(fault) = &report.first_fault {
        line(&format!(
            "the native rule decided {} times instead of it; its first fault: {fault}",
            report.fallbacks
        ))?;
    }
    Ok(Answer::Yes)
}
