//! Paths of this machine, kept out of what is built: panic messages and debug information name files.

use super::process::Run;
use super::rust_src;
use crate::ctx::{Ctx, cargo};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for rustc: the workspace as `/bwmon`, crates as `/crates`, Rust's library as the compiler's
/// own packages name it.
///
/// # Errors
/// When the crates cannot be fetched, or the compiler does not say where it is.
pub(crate) fn flags(ctx: &Ctx) -> Result<Vec<String>> {
    // Their folder carries the registry's name, and is there only once they are.
    Command::new(cargo()).args(["fetch", "--quiet"]).current_dir(&ctx.root).run()?;
    let mut flags = vec![flag(&ctx.root, "/bwmon"), flag(&ctx.target_dir, "/target")];
    let sources = cargo_home()?.join("registry/src");
    let registries = std::fs::read_dir(&sources);
    for registry in registries.with_context(|| format!("read {}", sources.display()))? {
        flags.push(flag(&registry?.path(), "/crates"));
    }
    let commit = rust_src::rustc_line("commit-hash: ")?;
    let library = format!("/rustc/{commit}");
    flags.push(flag(&rust_src::sysroot()?.join("lib/rustlib/src/rust"), &library));
    // Debian's package, unpacked (rust_src.rs).
    let unpacked = format!("rust-src-{0}/usr/src/rustc-{0}", rust_src::rustc_version()?);
    flags.push(flag(&ctx.tools.join(unpacked), &library));
    Ok(flags)
}

fn flag(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = std::env::var_os("HOME").context("neither CARGO_HOME nor HOME is set")?;
    Ok(Path::new(&home).join(".cargo"))
}
