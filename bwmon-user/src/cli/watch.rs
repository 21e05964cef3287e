//! `bwmon watch`.

use super::Answer;
use super::output::{line, say};
use crate::event::{ProbeEvent, ProbeRecord};
use crate::live::probes::{AsyncProbeReader, Loader, ProbeSet};
use crate::units::Nanos;
use anyhow::{Context, bail};
use bwmon_common::Kind;
use serde::Serialize;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Arguments of `bwmon watch`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n\
\x20 bwmon watch --event icc_set_bw --event icc_set_bw_end --json | jq .")]
pub(super) struct Args {
    /// Only these tracepoints, by name (icc_set_bw, cpu_frequency, ...); may be given several times
    #[arg(long, value_name = "EVENT")]
    event: Vec<String>,
    /// Stop after this time [default: until SIGINT or SIGTERM]
    #[arg(long, value_name = "MS")]
    duration_ms: Option<u64>,
    /// Print one JSON object a line, the last one with the counts
    #[arg(long)]
    json: bool,
}

pub(super) fn main(args: Args) -> anyhow::Result<Answer> {
    let kinds = kinds(&args.event)?;
    let ProbeSet { attached, absent, reader, guard: _guard } =
        Loader::embedded()?.only(&kinds).load()?;
    for gone in &absent {
        say(&format!("bwmon: {} is absent ({}); without it: {}", gone.event, gone.why, gone.lost));
    }
    if attached.is_empty() {
        bail!("none of the events is there to be watched");
    }
    let names: Vec<&str> = attached.iter().map(|probe| probe.event.as_str()).collect();
    say(&format!("bwmon: watching {}; Ctrl-C ends it", names.join(", ")));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(watch(&args, reader))?;
    Ok(Answer::Yes)
}

fn kinds(names: &[String]) -> anyhow::Result<Vec<Kind>> {
    if names.is_empty() {
        return Ok(Kind::ALL.to_vec());
    }
    names
        .iter()
        .map(|name| {
            let plain = name.rsplit(':').next().unwrap_or(name);
            let found = Kind::ALL.into_iter().find(|kind| kind.event() == plain);
            found.with_context(|| {
                let known = Kind::ALL.map(Kind::event).join(", ");
                format!("there is no event {name}; known: {known}")
            })
        })
        .collect()
}

async fn watch(args: &Args, reader: crate::live::probes::ProbeReader) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut reader = AsyncProbeReader::new(reader)?;
    let mut records = Vec::new();
    let end = tokio::time::sleep(Duration::from_millis(args.duration_ms.unwrap_or(u64::MAX / 4)));
    tokio::pin!(end);
    let mut start = None;
    loop {
        tokio::select! {
            read = reader.readable(&mut records) => { read?; }
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            () = &mut end => break,
        }
        print(args, &mut records, &mut start)?;
    }
    reader.drain(&mut records);
    print(args, &mut records, &mut start)?;
    counts(args, &reader)
}

fn print(
    args: &Args,
    records: &mut Vec<ProbeRecord>,
    start: &mut Option<Nanos>,
) -> anyhow::Result<()> {
    let mut text = String::new();
    for record in records.drain(..) {
        if !text.is_empty() {
            text.push('\n');
        }
        let start = *start.get_or_insert(record.t_ns);
        if args.json {
            text += &serde_json::to_string(&record)?;
        } else {
            text += &readable(&record, start);
        }
    }
    if text.is_empty() { Ok(()) } else { line(&text) }
}

/// As in ftrace: the CPU, the time, the event, its fields.
fn readable(record: &ProbeRecord, start: Nanos) -> String {
    let us = record.t_ns.since(start).as_us();
    let head = format!("[{:03}] {:>6}.{:06}", record.cpu, us / 1_000_000, us % 1_000_000);
    let fields = match &record.event {
        ProbeEvent::IccSetBw {
            path,
            dev,
            node,
            avg_kbps,
            peak_kbps,
            node_avg_kbps,
            node_peak_kbps,
        } => {
            format!(
                "path={path} dev={dev} node={node} avg_kBps={avg_kbps} peak_kBps={peak_kbps} \
                 node_avg_kBps={node_avg_kbps} node_peak_kBps={node_peak_kbps}"
            )
        }
        ProbeEvent::IccSetBwEnd { path, dev, ret } => format!("path={path} dev={dev} ret={ret}"),
        ProbeEvent::DevfreqFrequency { dev, freq_hz, prev_hz } => {
            format!("dev={dev} freq_hz={freq_hz} prev_hz={prev_hz}")
        }
        ProbeEvent::DevfreqMonitor { dev, freq_hz, busy_time, total_time, polling_ms } => format!(
            "dev={dev} freq_hz={freq_hz} busy_time={busy_time} total_time={total_time} \
             polling_ms={polling_ms}"
        ),
        ProbeEvent::BwmonUpdate { name, meas_kbps, up_kbps, down_kbps } => {
            format!("name={name} meas_kBps={meas_kbps} up_kBps={up_kbps} down_kBps={down_kbps}")
        }
        ProbeEvent::CpuFrequency { target_cpu, khz } => {
            format!("target_cpu={target_cpu} khz={}", khz.0)
        }
    };
    let by = record.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    format!("{head} {}: {fields}{by}", record.event.tracepoint())
}

#[derive(Serialize)]
struct Counted {
    summary: bool,
    events: Vec<(&'static str, u64)>,
    lost: u64,
}

fn counts(args: &Args, reader: &AsyncProbeReader) -> anyhow::Result<()> {
    let counts = reader.get_ref().counts()?;
    let events: Vec<(&'static str, u64)> =
        Kind::ALL.map(|kind| (kind.event(), counts.emitted_of(kind))).to_vec();
    let lost = counts.all_lost();
    if args.json {
        return line(&serde_json::to_string(&Counted { summary: true, events, lost })?);
    }
    let seen: Vec<String> = events
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let seen = if seen.is_empty() { "no events".to_owned() } else { seen.join(", ") };
    say(&format!("bwmon: {seen}; {lost} lost"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Writer;
    use crate::units::Khz;

    #[test]
    fn who_caused_an_event_ends_its_line_and_is_a_key_in_json() {
        let event = ProbeEvent::CpuFrequency { target_cpu: 1, khz: Khz(2) };
        let by = Writer { pid: 123, comm: "a\u{1b}[2J\n".into() };
        let mut record = ProbeRecord { t_ns: Nanos(0), cpu: 0, by: Some(by), event };
        let text = readable(&record, Nanos(0));
        assert!(text.ends_with(" khz=2 by a\u{fffd}[2J\u{fffd}[123]"), "{text}");
        let json = serde_json::to_value(&record).unwrap();
        assert_eq!(json["by"], serde_json::json!({ "pid": 123, "comm": "a\u{1b}[2J\n" }));
        record.by = None;
        assert!(readable(&record, Nanos(0)).ends_with(" khz=2"));
        assert!(serde_json::to_value(&record).unwrap().get("by").is_none());
    }
}
