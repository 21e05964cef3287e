//! Watching: the kernel's driver governs real traffic; our probes report all that it does, and a
//! shadow run makes its own decisions from that, writing nothing.

use crate::machine::Snapshot;
use crate::player::{self, Wire};
use crate::tracefs::Truth;
use crate::verdict::Figures;
use anyhow::{Result, ensure};
use serde_json::json;
use std::time::Duration;

/// How long the player may take for its rounds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the scenario.
pub(crate) fn run() -> Result<Figures> {
    let before = Snapshot::without_votes()?;
    let truth = Truth::start("watching")?;
    let mut player = player::start(1, Wire::Connected)?;
    player.must_succeed(PATIENCE)?;
    truth.stop()?;
    println!("{}", player.stdout()?);
    let lines = truth.lines()?;
    let mut figures = Figures::new();
    for event in ["qcom_bwmon_update", "icc_set_bw", "icc_set_bw_end", "devfreq_frequency"] {
        let count = lines.iter().filter(|line| line.event == event).count();
        figures.insert(event.into(), json!(count));
    }
    ensure!(truth.lost()? == 0, "the kernel's own trace lost events");
    Snapshot::without_votes()?.must_equal(&before)?;
    Ok(figures)
}
