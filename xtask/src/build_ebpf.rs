//! `cargo xtask build-ebpf`: the kernel probes as one BPF object.

use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use crate::tools::{bpf_linker, remap, rust_src};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "bpfel-unknown-none";
const OBJECT: &str = "bwmon-probes";

/// Builds the probes and says where the object is: `<target>/bpf/bwmon-probes`, where
/// `bwmon-user/build.rs` looks for it. Cargo decides what is up to date.
///
/// # Errors
/// When the linker or the library sources cannot be had, or the build fails.
pub(crate) fn build_ebpf(ctx: &Ctx) -> Result<PathBuf> {
    let linker = bpf_linker::bpf_linker(ctx)?;
    let library = rust_src::library_source(ctx)?;
    let bpf = ctx.target_dir.join("bpf");
    // A target folder of its own: RUSTC_BOOTSTRAP would make cargo rebuild the workspace's
    // build scripts each time that the two kinds of build alternate.
    let build = bpf.join("build");
    // Debug information is what BTF is made from; the linker writes it out.
    let mut flags = vec!["-Cdebuginfo=2".to_owned(), "-Clink-arg=--btf".to_owned()];
    flags.extend(remap::flags(ctx)?);
    Command::new(cargo())
        .args(["build", "-p", "bwmon-ebpf", "--release", "-Z", "build-std=core"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&build)
        .current_dir(&ctx.root)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_TESTS_ONLY_SRC_ROOT", library)
        .env("CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER", linker)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env_remove("RUSTFLAGS")
        .env("LD_LIBRARY_PATH", compiler_libraries()?)
        .run()
        .context("the probes do not build")?;
    publish(&build.join(TARGET).join("release").join(OBJECT), bpf.join(OBJECT))
}

/// bpf-linker loads the compiler's own LLVM, which it looks for along this path. rustup's wrappers
/// set it; a cargo that is called directly does not.
fn compiler_libraries() -> Result<OsString> {
    let own = rust_src::sysroot()?.join("lib");
    let before = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let before = std::env::split_paths(&before).filter(|p| !p.as_os_str().is_empty());
    std::env::join_paths(std::iter::once(own).chain(before))
        .context("the toolchain's path holds a colon")
}

/// Copies only what changed, so that an unchanged object does not rebuild the agent.
fn publish(built: &Path, object: PathBuf) -> Result<PathBuf> {
    let new = std::fs::read(built)
        .with_context(|| format!("the build left no object at {}", built.display()))?;
    if std::fs::read(&object).ok().as_deref() != Some(new.as_slice()) {
        std::fs::write(&object, new)
            .with_context(|| format!("cannot write {}", object.display()))?;
    }
    Ok(object)
}
