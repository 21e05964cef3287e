//! `cargo xtask demo`: the main job on whatever machine this is.

use crate::build_ebpf::build_ebpf;
use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds both halves, says what this machine offers, offers the live run where there is hardware,
/// and runs the agent on the SDM845 model.
///
/// # Errors
/// When the user half does not build or does not run. Probes that cannot be built are said, and
/// the rest goes on.
pub(crate) fn demo(ctx: &Ctx) -> Result<()> {
    if let Err(error) = build_ebpf(ctx) {
        eprintln!("no probes in this build: {error:#}");
    }
    let bwmon = build_bwmon(ctx)?;
    section("What this machine could do of the real thing: bwmon doctor");
    let report = doctor(&bwmon)?;
    section("The main job on the built-in SDM845 model: bwmon sim --phases");
    show(Command::new(&bwmon).args(["sim", "--board", "sdm845", "--phases"]))?;
    section("Next");
    let is = |key: &str| report.get(key).and_then(serde_json::Value::as_bool) == Some(true);
    if is("can_govern") {
        println!("This machine has BWMON hardware and a vote path. To govern it for ten seconds:");
        println!("  sudo {} run --duration-ms 10000", shown(ctx, &bwmon));
    } else if is("can_shadow") {
        println!("The kernel's driver governs this machine. To judge a policy beside it, without");
        println!("a single write:");
        println!("  sudo {} run --shadow --duration-ms 10000", shown(ctx, &bwmon));
    } else {
        println!("No BWMON hardware here. The real driver on a stock arm64 kernel, governed by");
        println!("this agent in a virtual machine:");
        println!("  cargo xtask vm");
    }
    println!("Your own policy: copy policies/bwmon.rhai, change it, then");
    println!("  {0} policy check my.rhai && {0} sim --policy my.rhai --phases", shown(ctx, &bwmon));
    Ok(())
}

/// The release binary.
pub(crate) fn build_bwmon(ctx: &Ctx) -> Result<PathBuf> {
    Command::new(cargo())
        .args(["build", "--release", "--quiet", "-p", "bwmon-user"])
        .current_dir(&ctx.root)
        .run()
        .context("the user half does not build")?;
    Ok(ctx.target_dir.join("release").join("bwmon"))
}

/// Prints what `doctor` says and answers its JSON. Exit code 1 is its "no", not a failure.
fn doctor(bwmon: &Path) -> Result<serde_json::Value> {
    let run = |json: bool| {
        Command::new(bwmon)
            .arg("doctor")
            .args(json.then_some("--json"))
            .stdin(Stdio::null())
            .output()
            .context("cannot start bwmon")
    };
    print!("{}", String::from_utf8_lossy(&run(false)?.stdout));
    serde_json::from_slice(&run(true)?.stdout).context("bwmon doctor --json did not answer JSON")
}

fn show(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().context("cannot start bwmon")?;
    anyhow::ensure!(status.success(), "bwmon sim failed: {status}");
    Ok(())
}

fn section(title: &str) {
    println!("\n== {title}\n");
}

fn shown(ctx: &Ctx, path: &Path) -> String {
    path.strip_prefix(&ctx.root).unwrap_or(path).display().to_string()
}
