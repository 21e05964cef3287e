//! Embeds the probes' BPF object, or an empty stub: `cargo check`, clippy and docs need no BPF
//! linker, and an agent built without probes says so when asked for them.
//!
//! Looked for at `$BWMON_PROBES_OBJECT`, then at `<target>/bpf/bwmon-probes`, where
//! `cargo xtask build-ebpf` puts it. One built later is picked up by the next build.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script reads files and the environment; the lint guards the agent's road"
)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const OVERRIDE: &str = "BWMON_PROBES_OBJECT";
const OBJECT: &str = "bpf/bwmon-probes";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={OVERRIDE}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let bytes = match env::var_os(OVERRIDE).filter(|v| !v.is_empty()) {
        Some(path) => {
            let path = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", path.display());
            fs::read(&path).map_err(|e| format!("{OVERRIDE}={}: {e}", path.display()))?
        }
        None => from_target_dir(&out),
    };
    fs::write(out.join("bwmon-probes"), bytes)?;
    println!("cargo::rerun-if-env-changed=BWMON_COMMIT");
    println!("cargo::rustc-env=BWMON_COMMIT={}", commit());
    Ok(())
}

/// The commit that is built: `$BWMON_COMMIT` (for builds from an archive), else what git says.
fn commit() -> String {
    if let Some(commit) = env::var("BWMON_COMMIT").ok().filter(|c| !c.is_empty()) {
        return commit;
    }
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
    git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown commit".into())
}

/// The object in the target folder; empty when there is none.
fn from_target_dir(out: &Path) -> Vec<u8> {
    // A cross build nests `<target>/<triple>/…`, and xtask nests whole target folders in `target`,
    // so every folder above may be the one.
    let mut objects = out.ancestors().map(|dir| dir.join(OBJECT));
    let built = objects.find(|object| object.metadata().is_ok_and(|meta| meta.len() > 0));
    let Some(object) = built.or_else(|| Some(target_dir(out)?.join(OBJECT))) else {
        return Vec::new();
    };
    if !object.exists() {
        // Cargo runs a build script each time when a file that it watches is missing, so an empty
        // one is put there. Where that fails, only this convenience is lost.
        let folder = object.parent().unwrap_or(out);
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&object, b""));
    }
    println!("cargo::rerun-if-changed={}", object.display());
    fs::read(&object).unwrap_or_default()
}

/// The outermost folder above `OUT_DIR` that cargo marked as a target folder.
fn target_dir(out: &Path) -> Option<PathBuf> {
    let marked = out.ancestors().filter(|dir| dir.join("CACHEDIR.TAG").is_file()).last();
    marked.map(Path::to_owned).or_else(|| {
        // A build folder split from the target folder carries no mark that leads there.
        let configured = PathBuf::from(env::var_os("CARGO_TARGET_DIR")?);
        configured.is_absolute().then_some(configured)
    })
}
