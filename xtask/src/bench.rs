//! `cargo xtask bench`: the benchmarks, and the ratios of one run.

use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::process::Command;

/// Runs criterion and prints medians with the script's ratio to the native rule.
///
/// # Errors
/// When the benchmarks do not build or run, or left no result.
pub(crate) fn bench(ctx: &Ctx) -> Result<()> {
    Command::new(cargo())
        .args(["bench", "--quiet", "-p", "bwmon-user", "--bench", "road"])
        .current_dir(&ctx.root)
        .run()
        .context("the benchmarks do not run")?;
    for (group, unit, per) in [("road_tick", "ns a tick", 1.0), ("sim_ticks", "ns a tick", 1e4)] {
        let native = median_ns(ctx, group, "native")? / per;
        let script = median_ns(ctx, group, "bwmon")? / per;
        println!(
            "{group}: native {native:.0} {unit}, bwmon.rhai {script:.0} {unit}, ratio {:.1}",
            script / native
        );
    }
    let binary = crate::demo::build_bwmon(ctx)?;
    let size = std::fs::metadata(&binary).context("no binary")?.len();
    println!("release binary: {:.1} MB", size as f64 / 1e6);
    Ok(())
}

fn median_ns(ctx: &Ctx, group: &str, name: &str) -> Result<f64> {
    let path = ctx.target_dir.join("criterion").join(group).join(name).join("new/estimates.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("criterion left no {}", path.display()))?;
    let value: serde_json::Value = serde_json::from_str(&text)?;
    value
        .pointer("/median/point_estimate")
        .and_then(serde_json::Value::as_f64)
        .with_context(|| format!("{} holds no median", path.display()))
}
