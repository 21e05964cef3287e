//! Bandwidth against levels: from a journal, or from a moment of traffic.

use crate::board::{Board, Domain};
use crate::calibrate::{FAR_BEYOND_CACHES_KB, Kind, Traffic};
use crate::cli::common;
use crate::journal;
use crate::live::in_force::InForce;
use crate::live::reached::{Load, Reached};
use crate::live::{Generator, Machine, MonotonicClock};
use crate::ports::Clock;
use crate::units::{Kbps, Nanos};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What of a journal's line is looked at.
#[derive(Deserialize)]
struct Line {
    domains: Vec<LineDomain>,
}

#[derive(Deserialize)]
struct LineDomain {
    name: String,
    #[serde(rename = "peak_kBps")]
    peak: Option<Kbps>,
    vote: Option<LineVote>,
}

#[derive(Deserialize)]
struct LineVote {
    #[serde(rename = "peak_kBps")]
    peak: Kbps,
}

/// How long the CPUs read.
const MEASURED_FOR: Nanos = Nanos(300 * Nanos::PER_MS);

/// The highest bandwidth of each domain in the journal `name`, against the level that was in force then.
pub(super) fn of_journal(board: &Board, name: &str) -> anyhow::Result<Vec<Reached>> {
    let (mut reader, header) = common::journal(name)?;
    // By name: the journal's board may be another one.
    let mut levels: BTreeMap<String, Kbps> = BTreeMap::new();
    for (domain, level) in header.board.domains.iter().zip(&header.levels) {
        if let Some(level) = level {
            levels.insert(domain.name.clone(), domain.table.kbps_of(*level));
        }
    }
    let mut best: BTreeMap<String, (Kbps, Kbps)> = BTreeMap::new();
    while let Some((line, text)) = reader.read()? {
        if matches!(line, journal::Line::Note(_)) {
            continue;
        }
        let entry: Line = serde_json::from_str(text)?;
        for domain in entry.domains {
            if let (Some(peak), Some(level)) = (domain.peak, levels.get(&domain.name)) {
                let known = best.entry(domain.name.clone()).or_insert((Kbps(0), *level));
                // The nearer to its level, the more it says: what exceeds it does most.
                let says = |(peak, level): (Kbps, Kbps)| peak.0 as f64 / level.0.max(1) as f64;
                if says((peak, *level)) > says(*known) {
                    *known = (peak, *level);
                }
            }
            if let Some(vote) = domain.vote {
                levels.insert(domain.name, vote.peak);
            }
        }
    }
    let of = |name: &String| match best.get(name) {
        Some((peak, level)) => {
            Reached::judge(name, *level, *peak, Load::Unknown, "the journal's highest")
        }
        None => Reached::unknown(name, "the journal has no reading at a known level"),
    };
    Ok(board.domains.iter().map(|domain| of(&domain.name)).collect())
}

/// What all CPUs together read for a moment, against the levels in force.
pub(super) fn measured(
    machine: &Machine,
    board: &Board,
    in_force: &InForce,
) -> anyhow::Result<Vec<Reached>> {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get().min(16)) as u32;
    // Together they go over as much as one does alone, and no cache holds a part.
    let block_kb = (4 * FAR_BEYOND_CACHES_KB / cpus).max(FAR_BEYOND_CACHES_KB / 2);
    let traffic = Traffic { kind: Kind::Read, block_kb, cpu: None };
    let generators: Vec<Generator> =
        (0..cpus).map(|_| Generator::start(machine.root(), traffic)).collect::<Result<_, _>>()?;
    let mut clock = MonotonicClock;
    let from = clock.now();
    clock.sleep_until(from.plus(MEASURED_FOR));
    let to = clock.now();
    let mut bytes = 0.0;
    for generator in generators {
        let moved = generator.finish()?;
        bytes += moved.busiest(from, to, to.since(from)).map_or(0.0, |(mean, _)| mean);
    }
    // Bytes a nanosecond are GB/s: times 10^6 for kBps.
    let reached = Kbps((bytes * 1e6 / to.since(from).0.max(1) as f64) as u64);
    let of = |domain: &Domain| match in_force.level(domain) {
        Some(level) if level.0 > 0 => {
            Reached::judge(&domain.name, level, reached, Load::Full, "all CPUs reading memory")
        }
        _ => Reached {
            reached: Some(reached),
            ..Reached::unknown(
                &domain.name,
                format!(
                    "all CPUs together read {reached} kBps; which level is in force is not known"
                ),
            )
        },
    };
    Ok(board.domains.iter().map(of).collect())
}
