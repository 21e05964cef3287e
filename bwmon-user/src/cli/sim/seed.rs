//! `--seed-table`: the seed patch's table on the model.

use crate::cli::output::{grouped, json, line, table};
use crate::cli::{Answer, common};
use crate::policy::PolicySpec;
use crate::policy::script::Source;
use crate::sim::seed_table::{Cell, Config, RowResult, run_table};
use crate::sim::{SEED_TABLE, SeedTable};
use serde::Serialize;
use serde_json::{Map, Value};
use std::time::Instant;

/// Our own policy.
const ADAPTIVE: &str = include_str!("../../../../policies/adaptive.rhai");

pub(super) fn main(as_json: bool) -> anyhow::Result<Answer> {
    let data = SeedTable::parse("<built-in seed-sysbench.toml>", SEED_TABLE)?;
    let source = Source { name: "adaptive".to_owned(), text: ADAPTIVE.to_owned() };
    let adaptive = PolicySpec::Script { source, set: Vec::new() };
    let (physical, seed) = (common::board(&data.board)?, common::board(&data.seed_board)?);
    let began = Instant::now();
    let rows = run_table(&data, &physical, &seed, &adaptive)?;
    let wall_s = began.elapsed().as_secs_f64();
    let ticks: u64 = rows.iter().flat_map(|row| &row.cells).map(|cell| cell.ticks).sum();
    if as_json {
        json(&report(&data, &rows, ticks, wall_s)?)?;
    } else {
        line(&throughputs(&rows))?;
        line(&clocks(&rows))?;
        line(&format!(
            "\nSimulated, not measured. V and no votes were given to the calibration; bwmon is \
             predicted.\n{} rows, {} configurations, {} virtual ms each: {} ticks in {wall_s:.2} s, \
             {} ticks/s",
            rows.len(),
            Config::ALL.len(),
            data.ms,
            grouped(ticks),
            grouped((ticks as f64 / wall_s.max(1e-9)) as u64)
        ))?;
    }
    Ok(Answer::Yes)
}

#[derive(Serialize)]
struct Json {
    table: String,
    ticks: u64,
    wall_ms: f64,
    ticks_per_s: f64,
    rows: Vec<Map<String, Value>>,
}

/// Each row as in the seed: a number per configuration, and under `detail` all that is known.
fn report(data: &SeedTable, rows: &[RowResult], ticks: u64, wall_s: f64) -> anyhow::Result<Json> {
    let mut lines = Vec::new();
    for row in rows {
        let mut line = Map::new();
        line.insert("bs_kB".into(), row.bs_kb.into());
        line.insert("type".into(), row.kind.name().into());
        let mut detail = Map::new();
        for cell in &row.cells {
            line.insert(cell.config.name().into(), rounded(cell.throughput));
            detail.insert(cell.config.name().into(), serde_json::to_value(cell)?);
        }
        line.insert("benefit_pct".into(), rounded(row.benefit_pct()));
        line.insert("published_benefit_pct".into(), rounded(row.published_benefit_pct()));
        line.insert("detail".into(), detail.into());
        lines.push(line);
    }
    Ok(Json {
        table: data.name.clone(),
        ticks,
        wall_ms: (wall_s * 1e6).round() / 1e3,
        ticks_per_s: (ticks as f64 / wall_s.max(1e-9)).round(),
        rows: lines,
    })
}

fn rounded(n: f64) -> Value {
    ((n * 10.0).round() / 10.0).into()
}

fn throughputs(rows: &[RowResult]) -> String {
    let header = [
        "bs kB",
        "type",
        "V",
        "err %",
        "no votes",
        "err %",
        "bwmon",
        "published",
        "err %",
        "benefit %",
        "published",
        "V+bwmon",
        "adaptive",
        "of V %",
    ];
    let cell = |row: &RowResult, config| row.cell(config).map_or(f64::NAN, |c: &Cell| c.throughput);
    let error = |row: &RowResult, config| {
        let error = row.cell(config).and_then(|c: &Cell| c.error_pct);
        error.map_or_else(String::new, |e| format!("{e:+.1}"))
    };
    let published = |row: &RowResult, config| {
        let value = row.cell(config).and_then(|c: &Cell| c.published);
        value.map_or_else(String::new, |v| format!("{v:.0}"))
    };
    let lines = rows
        .iter()
        .map(|row| {
            let rate = |config| format!("{:.0}", cell(row, config));
            vec![
                row.bs_kb.to_string(),
                row.kind.name().to_owned(),
                rate(Config::V),
                error(row, Config::V),
                rate(Config::NoVotes),
                error(row, Config::NoVotes),
                rate(Config::Bwmon),
                published(row, Config::Bwmon),
                error(row, Config::Bwmon),
                format!("{:+.1}", row.benefit_pct()),
                format!("{:+.1}", row.published_benefit_pct()),
                rate(Config::VBwmon),
                rate(Config::Adaptive),
                format!("{:.1}", 100.0 * cell(row, Config::Adaptive) / cell(row, Config::V)),
            ]
        })
        .collect();
    let right: Vec<&str> = header.iter().copied().filter(|name| *name != "type").collect();
    format!("MB/s as sysbench prints it, higher is better\n{}", table(&header, &right, lines))
}

/// Per configuration and clock: mean level, changes and vote integral, over all rows.
fn clocks(rows: &[RowResult]) -> String {
    let mut lines = Vec::new();
    for config in Config::ALL {
        let cells: Vec<&Cell> = rows.iter().filter_map(|row| row.cell(config)).collect();
        let Some(first) = cells.first() else { continue };
        for (index, clock) in first.clocks.iter().enumerate() {
            let all = || cells.iter().filter_map(|cell| cell.clocks.get(index));
            let count = all().count().max(1) as u64;
            lines.push(vec![
                config.name().to_owned(),
                clock.name.clone(),
                grouped(all().map(|c| c.mean_kbps).sum::<u64>() / count),
                all().map(|c| c.transitions).sum::<u64>().to_string(),
                grouped(all().map(|c| c.vote_integral_kbps_s).sum::<u64>() / count),
            ]);
        }
    }
    let header =
        ["configuration", "clock", "mean level kBps", "transitions", "vote integral kBps s"];
    let title = "Levels in force (all votes together): mean of the rows; transitions of all rows";
    format!("\n{title}\n{}", table(&header, header.get(2..).unwrap_or(&[]), lines))
}
