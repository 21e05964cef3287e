//! `--with NAME=VALUE`: readings that the operator gives, in which nothing else is known.

use super::recorded::domain;
use crate::board::{Board, Level};
use crate::diag::did_you_mean;
use crate::observe::{Measured, Observation};
use crate::policy::script::words::PROPERTIES;
use crate::units::{Kbps, Khz, Nanos};
use anyhow::{anyhow, bail};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Distance of repeated ticks, unless it is given.
const PERIOD_US: u64 = 4_000;
/// The most that a bandwidth or a clock may be: far beyond any, and far from any overflow.
const MOST: u64 = 1_000_000_000;
/// An hour.
const LONGEST_US: u64 = 3_600_000_000;

/// Readings of the whole machine, not of one domain.
const COMMON: [&str; 3] = ["dt_us", "cpu_max_kHz", "lost_events"];

/// What follows from other readings, and from which.
const FOLLOWS: &[(&str, &str)] = &[
    ("domain", "--domain"),
    ("opp_count", "--board"),
    ("valid", "peak_kBps"),
    ("above", "peak_kBps and level"),
    ("below", "peak_kBps and level"),
    ("util_pct", "peak_kBps and level"),
    ("level_kBps", "level"),
    ("lower_kBps", "level"),
];

/// What is given of a monitor's reading besides its peak.
const PARTS: [&str; 5] = ["mean_kBps", "windows", "saturated", "interrupt", "trend_kBps"];

/// The observations of all domains of `board`, with what `with` says of domain `index`, or of
/// another one as `DOMAIN.NAME`.
pub(super) fn observations(
    board: &Board,
    index: usize,
    with: &[(String, String)],
) -> anyhow::Result<Vec<Observation>> {
    let mut all = unknown(board);
    let mut given = BTreeSet::new();
    for (full, value) in with {
        let (place, name) = match full.split_once('.') {
            Some((other, name)) => (domain(board, other)?, name),
            None => (index, full.as_str()),
        };
        let top = board.domains.get(place).map_or(Level::LOWEST, |domain| domain.table.top());
        let common = COMMON.contains(&name);
        let places = if common { 0..all.len() } else { place..place + 1 };
        if !given.insert((places.start, name)) {
            bail!("{full} is given twice");
        }
        for obs in all.get_mut(places).unwrap_or_default() {
            put(obs, top, name, value)?;
        }
    }
    for (place, (obs, described)) in all.iter().zip(&board.domains).enumerate() {
        let has = |name: &str| given.contains(&(place, name));
        fits(obs, has).map_err(|what| anyhow!("{}: {what}", described.name))?;
    }
    Ok(all)
}

/// Observations in which nothing is known.
fn unknown(board: &Board) -> Vec<Observation> {
    let unknown = |top: Level| Observation {
        dt_us: PERIOD_US,
        now: Nanos(0),
        measured: None,
        level: None,
        min_level: Level::LOWEST,
        max_level: top,
        others_kbps: None,
        kernel_kbps: None,
        cpu_max_khz: None,
        since_change_us: None,
        lost_events: None,
    };
    board.domains.iter().map(|domain| unknown(domain.table.top())).collect()
}

/// Whether what is given can be so on a machine.
fn fits(obs: &Observation, has: impl Fn(&str) -> bool) -> Result<(), String> {
    if let Some(part) = PARTS.into_iter().find(|part| has(part) && !has("peak_kBps")) {
        return Err(format!(
            "{part} is part of a reading, which needs its busiest window: give peak_kBps too"
        ));
    }
    if let Some(Measured { mean_kbps: Some(mean), peak_kbps, .. }) = obs.measured
        && mean > peak_kbps
    {
        return Err(format!("mean_kBps={mean} is more than peak_kBps={peak_kbps}"));
    }
    if obs.min_level > obs.max_level {
        let (min, max) = (obs.min_level, obs.max_level);
        return Err(format!("min_level={min} is above max_level={max}"));
    }
    if has("since_change_ms") && !has("level") {
        return Err("since_change_ms is known with a level only: give level too".to_owned());
    }
    Ok(())
}

fn put(obs: &mut Observation, top: Level, name: &str, value: &str) -> anyhow::Result<()> {
    let whole = |range: RangeInclusive<u64>| -> anyhow::Result<u64> {
        let number = value.replace('_', "").parse::<u64>().ok();
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            anyhow!("{name}={value}: a whole number from {least} to {most} is needed")
        })
    };
    let level = || -> anyhow::Result<Level> {
        let level = value.parse::<usize>().ok().map(Level).filter(|level| *level <= top);
        level.ok_or_else(|| anyhow!("{name}={value}: levels go from 0 to {top}"))
    };
    let yes = || -> anyhow::Result<bool> {
        value.parse().map_err(|_| anyhow!("{name}={value}: true or false is needed"))
    };
    match name {
        "dt_us" => obs.dt_us = whole(1..=LONGEST_US)?,
        "level" => obs.level = Some(level()?),
        "min_level" => obs.min_level = level()?,
        "max_level" => obs.max_level = level()?,
        "others_kBps" => obs.others_kbps = Some(Kbps(whole(0..=MOST)?)),
        "kernel_kBps" => obs.kernel_kbps = Some(Kbps(whole(0..=MOST)?)),
        "cpu_max_kHz" => obs.cpu_max_khz = Some(Khz(whole(0..=MOST)?)),
        "since_change_ms" => obs.since_change_us = Some(whole(0..=MOST)? * 1_000),
        "lost_events" => obs.lost_events = Some(whole(0..=MOST)?),
        "peak_kBps" => measured(obs).peak_kbps = Kbps(whole(0..=MOST)?),
        "mean_kBps" => measured(obs).mean_kbps = Some(Kbps(whole(0..=MOST)?)),
        "windows" => {
            let windows = whole(1..=u64::from(u32::MAX))?;
            measured(obs).windows = u32::try_from(windows).unwrap_or(u32::MAX);
        }
        "saturated" => measured(obs).saturated = yes()?,
        "interrupt" => measured(obs).interrupt = yes()?,
        "trend_kBps" => {
            let trend = value.replace('_', "").parse::<i64>().ok();
            let trend = trend.filter(|trend| trend.unsigned_abs() <= MOST).ok_or_else(|| {
                anyhow!("{name}={value}: a whole number from -{MOST} to {MOST} is needed")
            })?;
            measured(obs).trend_kbps = Some(trend);
        }
        other => return Err(not_to_be_given(other)),
    }
    Ok(())
}

fn measured(obs: &mut Observation) -> &mut Measured {
    obs.measured.get_or_insert(Measured {
        peak_kbps: Kbps(0),
        mean_kbps: None,
        windows: 1,
        saturated: false,
        interrupt: false,
        trend_kbps: None,
    })
}

fn not_to_be_given(name: &str) -> anyhow::Error {
    if let Some((_, from)) = FOLLOWS.iter().find(|(known, _)| *known == name) {
        return anyhow!("{name} is not given by itself: it follows from {from}");
    }
    let names = PROPERTIES.iter().map(|word| word.name);
    let names = names.filter(|name| !FOLLOWS.iter().any(|(known, _)| known == name));
    match did_you_mean(name, names) {
        Some(near) => anyhow!("there is no reading {name}; did you mean {near}?"),
        None => anyhow!("there is no reading {name}; `bwmon policy docs` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    fn given(with: &[&str]) -> Result<Vec<Observation>, String> {
        let board = builtin("sdm845").unwrap().unwrap();
        let with: Vec<(String, String)> = with
            .iter()
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // ddr, with levels 0 to 4; l3 has 14.
        observations(&board, 1, &with).map_err(|error| error.to_string())
    }

    #[test]
    fn the_order_in_which_readings_are_given_does_not_matter() {
        let one = given(&["level=3", "max_level=2", "peak_kBps=7", "mean_kBps=5"]).unwrap();
        let other = given(&["mean_kBps=5", "peak_kBps=7", "max_level=2", "level=3"]).unwrap();
        assert_eq!(one, other);
        assert_eq!((one[1].level, one[1].max_level), (Some(Level(3)), Level(2)));
        assert_eq!((one[0].level, one[2].measured), (None, None));
    }

    #[test]
    fn readings_of_the_machine_are_those_of_every_domain() {
        let all = given(&["cpu_max_kHz=2_000_000", "dt_us=1000", "l3.level=13"]).unwrap();
        assert!(all.iter().all(|obs| obs.cpu_max_khz == Some(Khz(2_000_000))));
        assert!(all.iter().all(|obs| obs.dt_us == 1_000));
        assert_eq!((all[1].level, all[2].level), (None, Some(Level(13))));
    }

    #[test]
    fn what_no_machine_can_say_is_refused() {
        for (with, said) in [
            (&["mean_kBps=5"][..], "give peak_kBps too"),
            (&["interrupt=true"], "give peak_kBps too"),
            (&["peak_kBps=5", "mean_kBps=6"], "mean_kBps=6 is more than peak_kBps=5"),
            (&["min_level=3", "max_level=2"], "min_level=3 is above max_level=2"),
            (&["since_change_ms=3"], "give level too"),
            (&["level=1", "level=2"], "given twice"),
            (&["cpu_max_kHz=1", "l3.cpu_max_kHz=2"], "given twice"),
            (&["level=5"], "levels go from 0 to 4"),
            (&["l3.level=14"], "levels go from 0 to 13"),
            (&["windows=0", "peak_kBps=1"], "from 1 to 4294967295"),
            (&["dt_us=0"], "from 1 to 3600000000"),
            (&["peak_kBps=99999999999"], "from 0 to 1000000000"),
            (&["peak_kBps=-1"], "from 0 to 1000000000"),
            (&["peak_kBps=1", "trend_kBps=x"], "from -1000000000"),
            (&["saturated=1"], "true or false"),
            (&["peak_kbps=1"], "did you mean peak_kBps?"),
            (&["util_pct=1"], "follows from peak_kBps and level"),
            (&["ddr.l3.level=1"], "no reading l3.level"),
            (&["dram.level=1"], "it has llcc, ddr, l3"),
        ] {
            let error = given(with).unwrap_err();
            assert!(error.contains(said), "{with:?}: {error}");
        }
    }
}
