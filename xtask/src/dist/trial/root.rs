//! A clean Debian root: made once, copied for every trial.

use crate::tools::apt::machine_archive;
use crate::tools::needs;
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a Debian machine has beyond the least.
const INCLUDED: &str = "systemd";

/// A root under `dir` in which nothing has been done yet.
///
/// # Errors
/// When the machine's Debian archive is not known, or debootstrap fails.
pub(super) fn fresh(dir: &Path) -> Result<()> {
    let archive = machine_archive()?;
    let clean = dir.join(format!("clean-{}", archive.release));
    if !clean.is_dir() {
        needs::ensure(&needs::CLEAN_ROOT)?;
        make(&clean, &archive.release, archive.uri())?;
    }
    let root = path(dir);
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("remove {}", root.display()))?;
    }
    Command::new("cp").arg("-a").arg("--reflink=auto").arg(&clean).arg(&root).run()
}

/// Where that root is.
pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join("root")
}

fn make(clean: &Path, release: &str, uri: &str) -> Result<()> {
    let partial = clean.with_added_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(&partial)?;
    eprintln!("dist: a clean Debian root ({release}), once");
    Command::new("debootstrap")
        .args(["--variant=minbase", &format!("--include={INCLUDED}"), release])
        .arg(&partial)
        .arg(uri)
        .run_for_output()?;
    // What was downloaded is unpacked.
    let _ = fs::remove_dir_all(partial.join("var/cache/apt/archives"));
    fs::rename(&partial, clean).with_context(|| format!("cannot create {}", clean.display()))
}
