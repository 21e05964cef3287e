//! The project's kernel module, built for the guest's kernel.

use super::{foreign, headers, kernel::Kernel};
use crate::ctx::Ctx;
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where its sources lie in the repository.
const SOURCES: &str = "bwmon-user/kmod/bwmon_vote";
/// The module.
pub(crate) const MODULE: &str = "bwmon_vote.ko";

/// Builds the module and says where it is. `make` decides what is up to date; a warning is an error.
///
/// # Errors
/// When headers or compiler cannot be had, or it does not build.
pub(crate) fn build(ctx: &Ctx, dir: &Path, kernel: &Kernel) -> Result<PathBuf> {
    let headers = headers::fetch(dir, &kernel.release)?;
    let compiler = foreign::compiler(dir, &headers)?;
    let folder = dir.join("kmod").join(&kernel.release);
    copy(&ctx.root.join(SOURCES), &folder)?;
    let mut make = Command::new("make");
    make.arg("-C").arg(headers.flavour()).arg("-f").arg(headers.makefile());
    make.arg(format!("KBUILD_OUTPUT={}", headers.flavour().display()));
    make.args(["CROSS_COMPILE=aarch64-linux-gnu-", "KCFLAGS=-Werror"]);
    make.arg(format!("M={}", folder.display())).arg("modules");
    // A make around this one must not lend its flags.
    make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env("LC_ALL", "C");
    if let Some(bin) = compiler {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(bin).chain(std::env::split_paths(&path));
        make.env("PATH", std::env::join_paths(all).context("PATH")?);
    }
    make.run_for_output()
        .with_context(|| format!("{SOURCES} does not build for {}", kernel.release))?;
    let module = folder.join(MODULE);
    anyhow::ensure!(module.is_file(), "make left no {}", module.display());
    Ok(module)
}

/// Copies what differs: the build's products do not belong into the repository.
fn copy(from: &Path, into: &Path) -> Result<()> {
    fs::create_dir_all(into).with_context(|| format!("cannot create {}", into.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let source = path.extension().is_some_and(|end| end == "c" || end == "h");
        if !source && name != "Kbuild" {
            continue;
        }
        let text = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        let copy = into.join(name);
        if fs::read(&copy).ok().as_ref() != Some(&text) {
            fs::write(&copy, text).with_context(|| format!("write {}", copy.display()))?;
        }
    }
    Ok(())
}
