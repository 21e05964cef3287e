//! `bwmon status`.

use super::SocketArgs;
use crate::cli::Answer;
use crate::cli::output::{clean, grouped, json, line, table};
use crate::command::PauseAt;
use crate::control::Ask;
use crate::status::{DomainStatus, Status};
use crate::units::Kbps;
use anyhow::Context;

/// Arguments of `bwmon status`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n\
\x20 bwmon status          what the running agent does, in words\n\
\x20 bwmon status --json   everything, for scripts; what is not known is null\n\
\n\
Exit codes: 0 an agent runs, 2 none answers.")]
pub(in crate::cli) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    socket: SocketArgs,
}

pub(in crate::cli) fn main(args: &Args) -> anyhow::Result<Answer> {
    let text = args.socket.connect()?.ask(&Ask::Status {})?;
    let status: Status = serde_json::from_str(&text)
        .context("the agent's status is not as this bwmon knows it; is it another version?")?;
    if args.json {
        json(&status)?;
    } else {
        line(&clean(&told(&status)))?;
    }
    Ok(Answer::Yes)
}

/// `status` for a person.
fn told(status: &Status) -> String {
    let mut lines = vec![
        format!(
            "{}, pid {}: {} on {}, for {}",
            status.program,
            status.pid,
            status.mode,
            status.board,
            time(status.uptime_ms)
        ),
        format!("policy    {}", named(&status.policy.name, &status.policy.digest)),
    ];
    if let Some(product) = &status.product {
        let version = product.version.as_ref().map(|v| format!(" {v}")).unwrap_or_default();
        lines.push(format!("product   {}{version}: {}", product.name, product.why));
        if let Some(bundle) = &product.bundle {
            lines.push(format!("bundle    {} ({})", bundle.title(), bundle.digest));
        }
    }
    if let Some(canary) = &status.canary {
        let name = named(&canary.name, &canary.digest);
        lines.push(format!("canary    {name}, for {} ms, by {}", canary.ms, canary.rule));
    }
    match status.pause {
        Some(PauseAt::Top) => lines.push("paused    every domain at its highest level".into()),
        Some(PauseAt::Keep) => lines.push("paused    every domain where it is".into()),
        None => {}
    }
    for hold in &status.holds {
        lines.push(crate::agent::news(&crate::journal::Note::Hold(hold.clone())));
    }
    lines.push(format!("counts    {}", counts(status)));
    if let Some(fault) = &status.first_fault {
        lines.push(format!("fault     {fault}"));
    }
    if let Some(journal) = &status.journal {
        lines.push(format!("journal   {journal}"));
    }
    if let Some(reload) = &status.last_reload {
        let what = reload.what.lines().take(2).collect::<Vec<_>>().join(": ");
        lines.push(format!("reload    {}{what}", if reload.ok { "" } else { "refused: " }));
    }
    lines.push(String::new());
    lines.push(table(
        &[
            "domain",
            "peak kBps",
            "level",
            "kBps",
            "allowed",
            "others kBps",
            "asked",
            "why",
            "state",
        ],
        &["peak kBps", "level", "kBps", "others kBps"],
        status.domains.iter().map(row).collect(),
    ));
    lines.join("\n")
}

fn named(name: &str, digest: &str) -> String {
    if digest.is_empty() { name.to_owned() } else { format!("{name} ({digest})") }
}

fn time(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0..60 => format!("{s} s"),
        60..3_600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3_600, s % 3_600 / 60),
    }
}

fn counts(status: &Status) -> String {
    let counts = &status.counts;
    let mut parts = vec![
        format!("{} ticks", grouped(counts.ticks)),
        format!("{} missed", grouped(counts.missed)),
        format!("{} transitions", grouped(counts.transitions)),
        format!("{} refused", grouped(counts.refused)),
        format!("{} faults", grouped(counts.faults)),
    ];
    if counts.demoted > 0 {
        parts.push(format!("demoted on {} domain(s)", counts.demoted));
    }
    if counts.journal_errors > 0 {
        parts.push(format!("{} journal errors", grouped(counts.journal_errors)));
    }
    parts.push(match counts.lost_events {
        Some(lost) => format!("{} probe events lost", grouped(lost)),
        None => "no probes".to_owned(),
    });
    parts.join(", ")
}

fn row(domain: &DomainStatus) -> Vec<String> {
    let kbps = |kbps: Option<Kbps>| kbps.map_or_else(|| "-".to_owned(), |kbps| grouped(kbps.0));
    let peak = match (&domain.peak_kbps, &domain.missing) {
        (None, Some(missing)) => format!("- ({missing})"),
        (peak, _) => kbps(*peak),
    };
    let mut state = domain.owner.clone();
    if domain.by != "policy" && !domain.by.is_empty() {
        state += &format!(", {}", domain.by);
    }
    if let Some(answer) = &domain.answer {
        state += &format!(", {answer}");
    }
    vec![
        domain.name.clone(),
        peak,
        domain.level.map_or_else(|| "-".to_owned(), |level| level.to_string()),
        kbps(domain.level_kbps),
        format!("{}..{}", domain.min_level, domain.max_level),
        kbps(domain.others_kbps),
        domain.ask.clone(),
        domain.why.clone(),
        state,
    ]
}
