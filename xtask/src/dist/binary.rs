//! The program that is shipped: static, with the probes inside, and the same bytes wherever it is built.

use super::arch::Arch;
use super::release::Release;
use crate::build_ebpf::build_ebpf;
use crate::ctx::{Ctx, cargo};
use crate::tools::process::{Run, on_path};
use crate::tools::{needs, remap, rust_src};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// How much time building may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As it is shipped.
    Shipped,
    /// Hardly optimised, for a trial of everything but speed.
    Trial,
}

/// Builds it for `arch`. This machine's own architecture takes the toolchain's standard library, the
/// other one builds it from its sources: no second toolchain is needed.
///
/// # Errors
/// When something is missing, or it does not build.
pub(crate) fn build(ctx: &Ctx, arch: Arch, release: &Release, effort: Effort) -> Result<PathBuf> {
    let probes = build_ebpf(ctx).context("a package without probes is none")?;
    let build = ctx.target_dir.join(match effort {
        Effort::Shipped => "static",
        Effort::Trial => "static/trial",
    });
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    flags.extend(remap::flags(ctx)?);
    let mut command = Command::new(cargo());
    command
        .args(["build", "--quiet", "--locked", "--profile", "dist", "-p", "bwmon-user"])
        // With a target named, the flags are the program's and not those of build scripts.
        .args(["--bin", "bwmon", "--target", arch.triple(), "--target-dir"])
        .arg(&build)
        .current_dir(&ctx.root)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env("BWMON_PROBES_OBJECT", probes)
        .env("BWMON_COMMIT", &release.commit)
        // Keys of ahash's tables (through rhai) are drawn when it is built, unless they have a seed.
        .env("CONST_RANDOM_SEED", "bwmon")
        .env_remove("RUSTFLAGS");
    if effort == Effort::Trial {
        command
            .env("CARGO_PROFILE_DIST_LTO", "off")
            .env("CARGO_PROFILE_DIST_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DIST_CODEGEN_UNITS", "16");
    }
    if arch != Arch::here()? {
        if !on_path(arch.cross_linker()) {
            needs::ensure(&needs::CROSS)?;
        }
        command
            // Unwinding stays: the agent catches panics of what scripts call.
            .args(["-Z", "build-std=std,panic_unwind"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("__CARGO_TESTS_ONLY_SRC_ROOT", rust_src::library_source(ctx)?)
            .env(arch.linker_variable(), arch.cross_linker());
    }
    eprintln!("dist: building bwmon for {}", arch.debian());
    command.run().with_context(|| format!("bwmon for {} does not build", arch.debian()))?;
    Ok(build.join(arch.triple()).join("dist/bwmon"))
}
