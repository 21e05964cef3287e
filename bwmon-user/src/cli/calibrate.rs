//! `bwmon calibrate`.

use super::output::{json, line, say, table};
use super::{Answer, common};
use crate::board::Board;
use crate::calibrate::{Finding, Rig, Subject, Verdict, calibrate};
use crate::decide::Rails;
use crate::live::{
    AgentLock, DEFAULT_STATE_DIR, LiveRig, Machine, Mode, Root, block_state, one_cpu_per_cluster,
    takeover,
};
use crate::sim::SimRig;
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `bwmon calibrate`.
#[derive(clap::Args)]
#[command(
    after_help = "Exit code 0 if every unit that can be told fits, 1 if one is doubtful, 2 if none can \
be told.\nLive, only blocks that no driver holds, or a UIO driver, are read; nothing is voted.\n\nExamples:\n\
\x20 bwmon calibrate --sim sdm845          on the simulator, where the answer is known\n\
\x20 bwmon calibrate                       on this machine, as root"
)]
pub(super) struct Args {
    /// Calibrate a simulated board instead of this machine
    #[arg(long, value_name = "BOARD|FILE", conflicts_with_all = ["board", "root", "cpu"])]
    sim: Option<String>,
    /// Let the simulated blocks count in this unit, whatever the board says
    #[arg(long, value_name = "KB", requires = "sim", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    true_unit_kb: Option<u32>,
    /// The board: a board file or a built-in one [default: by the device tree]
    #[arg(long, value_name = "BOARD|FILE")]
    board: Option<String>,
    /// Make the traffic on this CPU; may be given several times [default: one of each cluster]
    #[arg(long, value_name = "N")]
    cpu: Vec<u32>,
    /// Where the lock is
    #[arg(long, value_name = "DIR", default_value = DEFAULT_STATE_DIR)]
    state_dir: PathBuf,
    /// Look for /sys, /proc and /dev under this folder (a fake tree, for tests)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    board: String,
    /// `sim` or `machine`.
    on: &'static str,
    monitors: Vec<Finding>,
}

pub(super) fn main(args: &Args) -> anyhow::Result<Answer> {
    let (board, on, findings) = match &args.sim {
        Some(name) => {
            let board = common::board(name)?;
            let mut rig = SimRig::new(&board, args.true_unit_kb);
            let findings = run(&mut rig, &board, &[None])?;
            (board, "sim", findings)
        }
        None => live(args)?,
    };
    let report = Report { board: board.id, on, monitors: findings };
    if args.json {
        json(&report)?;
    } else {
        line(&text(&report))?;
    }
    let any = |verdict| report.monitors.iter().any(|finding| finding.verdict == verdict);
    match (any(Verdict::Doubtful), any(Verdict::Fits)) {
        (true, _) => Ok(Answer::No),
        (false, true) => Ok(Answer::Yes),
        (false, false) => bail!("no count unit can be told on {}", report.board),
    }
}

fn run(rig: &mut dyn Rig, board: &Board, cpus: &[Option<u32>]) -> anyhow::Result<Vec<Finding>> {
    let subjects: Vec<Subject> = board
        .monitors
        .iter()
        .map(|m| Subject { monitor: m.name.clone(), unit_kb: m.scale.unit_kb })
        .collect();
    if subjects.is_empty() {
        bail!("board {} has no monitor", board.id);
    }
    calibrate(rig, &subjects, cpus, &mut |what| say(&format!("bwmon: {what}")))
        .map_err(|e| anyhow!(e))
}

fn live(args: &Args) -> anyhow::Result<(Board, &'static str, Vec<Finding>)> {
    let machine = Machine::new(Root::at(&args.root));
    let board = match &args.board {
        Some(name) => common::board(name)?,
        None => common::machine_board(&machine)?,
    };
    let states: Vec<_> =
        board.monitors.iter().map(|own| block_state(machine.root(), own)).collect();
    if !states.iter().any(|state| state.reachable) {
        let why: Vec<String> =
            states.iter().map(|state| format!("{}: {}", state.device, state.how)).collect();
        bail!(
            "no registers to read: {}. A block that the kernel's driver holds is let go of with `echo \
             DEVICE > /sys/bus/platform/drivers/qcom-bwmon/unbind`, which also drops its vote, and \
             given back with `bind`",
            why.join("; ")
        );
    }
    let _lock = AgentLock::take(&args.state_dir)?;
    let board = Arc::new(board);
    // A dry run takes no driver off and votes nothing; free blocks are programmed to count.
    let mode = Mode::DryRun;
    let rails: Vec<Rails> =
        board.domains.iter().map(|domain| Rails::open(&domain.table, mode.unvoted())).collect();
    let taken = takeover(machine.root(), &board, mode, &rails, &args.state_dir, false)?;
    let cpus = match args.cpu.as_slice() {
        [] => one_cpu_per_cluster(machine.root()),
        given => given.to_vec(),
    };
    let cpus: Vec<Option<u32>> = cpus.into_iter().map(Some).collect();
    let mut rig = LiveRig::new(machine.root(), board.clone(), taken.source);
    let findings = run(&mut rig, &board, &cpus)?;
    Ok(((*board).clone(), "machine", findings))
}

fn text(report: &Report) -> String {
    let kb = |kb: f64| if kb < 100.0 { format!("{kb:.1}") } else { format!("{kb:.0}") };
    let bounds = |low: Option<f64>, high: Option<f64>| match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", kb(low), kb(high)),
        _ => "unknown".to_owned(),
    };
    let mut parts = Vec::new();
    for finding in &report.monitors {
        let rows = finding.trials.iter().map(|trial| {
            let unit = trial.unit_kb;
            vec![
                trial.name.clone(),
                kb(trial.moved_kb),
                trial.count.to_string(),
                trial.quiet_count.to_string(),
                trial.silent.clone().unwrap_or_else(|| {
                    bounds(unit.map(|(low, _)| low), unit.map(|(_, high)| high))
                }),
            ]
        });
        let header = ["traffic", "kB a window", "count", "without", "kB a count"];
        let trials = table(&header, &["kB a window", "count", "without"], rows.collect());
        parts.push(format!(
            "monitor {}: {}\n{trials}\n all together: {} kB a count",
            finding.subject.monitor,
            finding.why,
            bounds(finding.low_kb, finding.high_kb)
        ));
    }
    parts.join("\n\n")
}
