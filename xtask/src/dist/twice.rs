//! The same bytes again: built from a copy of the tree in another folder.

use super::arch::Which;
use super::binary::Effort;
use super::release::Release;
use super::{Made, make};
use crate::ctx::Ctx;
use crate::tools::process::Run;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds everything once more, from the sources to the archives, and compares with `made`.
///
/// # Errors
/// When it does not build there, or a byte differs.
pub(super) fn compare(ctx: &Ctx, which: Which, release: &Release, made: &[Made]) -> Result<()> {
    let other = ctx.target_dir.join("dist/another folder/of-another-name/bwmon");
    if other.exists() {
        fs::remove_dir_all(&other)?;
    }
    copy_tree(&ctx.root, &other)?;
    eprintln!("dist: building again in {}", other.display());
    let again = make(&ctx.elsewhere(other.clone()), &which.archs()?, release, Effort::Shipped)?;
    for (first, second) in made.iter().zip(&again) {
        for (one, two) in [(&first.deb, &second.deb), (&first.tarball, &second.tarball)] {
            same(one, two)?;
        }
    }
    println!("dist: {} packages are the same when they are built again elsewhere", made.len() * 2);
    fs::remove_dir_all(&other).context("remove the second tree")
}

fn same(one: &Path, two: &Path) -> Result<()> {
    if fs::read(one)? != fs::read(two)? {
        bail!("{} and {} differ; `diffoscope` tells where", one.display(), two.display());
    }
    Ok(())
}

/// What git tracks, or would.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(from)
        .run_for_output()?;
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (source, copy): (PathBuf, PathBuf) = (from.join(name), to.join(name));
        if !source.is_file() {
            continue;
        }
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(&source, &copy).with_context(|| format!("copy {name}"))?;
    }
    Ok(())
}
