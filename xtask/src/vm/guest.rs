//! Static aarch64 programs, without an aarch64 standard library from anywhere.

use crate::build_ebpf;
use crate::ctx::{Ctx, cargo};
use crate::tools::{process::Run, rust_src};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// What runs inside.
pub(crate) struct Programs {
    /// The agent.
    pub(crate) bwmon: PathBuf,
    /// PID 1.
    pub(crate) init: PathBuf,
}

/// Builds both. Cargo decides what is up to date.
///
/// # Errors
/// When the library sources or the probes cannot be had, or the build fails.
pub(crate) fn build(ctx: &Ctx) -> Result<Programs> {
    let probes = build_ebpf::build_ebpf(ctx)?;
    let library = rust_src::library_source(ctx)?;
    // A target folder of its own, as for the probes: RUSTC_BOOTSTRAP is part of cargo's keys.
    let build = ctx.target_dir.join("vm/build");
    eprintln!("vm: building the guest's programs");
    Command::new(cargo())
        .args(["build", "--quiet", "--release", "-p", "bwmon-user", "-p", "bwmon-vm", "--bins"])
        // Unwinding stays: the agent catches panics of what scripts call.
        .args(["-Z", "build-std=std,panic_unwind", "--target", TARGET, "--target-dir"])
        .arg(&build)
        .current_dir(&ctx.root)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_TESTS_ONLY_SRC_ROOT", library)
        .env("BWMON_PROBES_OBJECT", probes)
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static")
        .env_remove("RUSTFLAGS")
        .run()
        .context("the guest's programs do not build")?;
    let folder = build.join(TARGET).join("release");
    Ok(Programs { bwmon: folder.join("bwmon"), init: folder.join("bwmon-vm-init") })
}
