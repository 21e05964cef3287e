//! `cargo xtask test`: everything that guards the project, the same here and in CI.

use crate::build_ebpf::build_ebpf;
use crate::check::check;
use crate::ctx::{Ctx, cargo};
use crate::dist;
use crate::tools::needs;
use crate::vm;
use anyhow::{Context, Result, bail};
use std::process::Command;

/// Lints, unit, property and command-line tests, the probes on this machine's kernel, a package's life
/// on a clean Debian machine, and the virtual machine. What cannot run here says why; in CI (`CI=true`) that is a failure, but
/// for the trial, which needs more of a machine than being root.
///
/// # Errors
/// What failed, or what could not run in CI.
pub(crate) fn test(ctx: &Ctx, without_vm: bool) -> Result<()> {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    if let Err(error) = build_ebpf(ctx) {
        if ci {
            return Err(error.context("the probes cannot be built, and CI skips nothing"));
        }
        eprintln!("skipped: tests of the probes: {error:#}");
    }
    check(ctx)?;
    if let Err(error) = needs::ensure(&needs::WORKLOADS) {
        if ci {
            return Err(error.context("an experiment has no workload, and CI skips nothing"));
        }
        eprintln!("skipped: an experiment with sysbench: {error:#}");
    }
    // The tests of the command line run the binary that this builds.
    cargo_step(ctx, &["build", "--quiet", "-p", "bwmon-user"])?;
    cargo_step(ctx, &["test", "--quiet", "--workspace"])?;
    // The one feature that is off by default.
    let parquet = ["test", "--quiet", "-p", "bwmon-user", "--features", "parquet", "--lib"];
    cargo_step(ctx, &[&parquet[..], &["report::parquet"]].concat())?;
    dist::trial(ctx)?;
    if without_vm {
        if ci {
            bail!("--without-vm leaves tests out, and CI skips nothing");
        }
        println!("skipped: virtual machine: --without-vm");
        return Ok(());
    }
    vm::run(ctx, &vm::Args::default())
}

fn cargo_step(ctx: &Ctx, args: &[&str]) -> Result<()> {
    eprintln!("xtask: cargo {}", args.join(" "));
    // Standard output stays standard output: the summary lines are what a reader looks for.
    let status = Command::new(cargo())
        .args(args)
        .current_dir(&ctx.root)
        .stdin(std::process::Stdio::null())
        .status()
        .context("cannot start cargo")?;
    if !status.success() {
        bail!("cargo {} failed: {status}", args.join(" "));
    }
    Ok(())
}
