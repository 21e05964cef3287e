//! The linker that turns LLVM bitcode into a BPF object.

use super::process::Run;
use crate::ctx::{Ctx, cargo};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The newest that links with LLVM 22, the compiler's own; 0.11 and later want LLVM 23.
const VERSION: &str = "0.10.1";

/// Where bpf-linker is, installed under `target/tools` the first time (about a minute and a half).
///
/// # Errors
/// When cargo cannot fetch or build it.
pub(crate) fn bpf_linker(ctx: &Ctx) -> Result<PathBuf> {
    let tools = &ctx.tools;
    let program = tools.join("bin/bpf-linker");
    if Command::new(&program)
        .arg("--version")
        .run_for_output()
        .is_ok_and(|said| said.trim().ends_with(VERSION))
    {
        return Ok(program);
    }
    eprintln!("bpf-linker {VERSION}: installing under {}", tools.display());
    Command::new(cargo())
        .args(["install", "bpf-linker", "--version", VERSION, "--locked", "--force", "--root"])
        .arg(tools)
        .arg("--target-dir")
        .arg(tools.join("build"))
        .current_dir(&ctx.root)
        .run()
        .with_context(|| format!("missing: bpf-linker {VERSION} (cargo install bpf-linker)"))?;
    Ok(program)
}
