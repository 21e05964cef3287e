//! Which version of bwmon this is, and when it was made.

use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::process::Command;

/// What packages are called, and the time in them.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    /// As in the workspace's manifest.
    pub(crate) version: String,
    /// The commit, as `bwmon --version` names it.
    pub(crate) commit: String,
    /// Seconds since 1970: `$SOURCE_DATE_EPOCH`, or the time of the commit.
    pub(crate) epoch: u64,
}

impl Release {
    /// That of the tree at hand.
    ///
    /// # Errors
    /// When git or cargo do not say, or `$SOURCE_DATE_EPOCH` is no number.
    pub(crate) fn of(ctx: &Ctx) -> Result<Release> {
        let git =
            |args: &[&str]| Command::new("git").args(args).current_dir(&ctx.root).run_for_output();
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(given) => given,
            Err(_) => git(&["log", "-1", "--format=%ct"])
                .context("without git, SOURCE_DATE_EPOCH says when this was made")?,
        };
        let commit = match std::env::var("BWMON_COMMIT").ok().filter(|c| !c.is_empty()) {
            Some(given) => given,
            None => git(&["rev-parse", "--short=12", "HEAD"])
                .context("without git, BWMON_COMMIT says what this is")?,
        };
        if git(&["status", "--porcelain"]).is_ok_and(|changes| !changes.trim().is_empty()) {
            eprintln!("dist: the tree has changes that are not in commit {}", commit.trim());
        }
        let package = Command::new(cargo())
            .args(["pkgid", "-p", "bwmon-user"])
            .current_dir(&ctx.root)
            .run_for_output()?;
        let version = package.trim().rsplit(['#', '@']).next().unwrap_or_default();
        Ok(Release {
            version: version.to_owned(),
            commit: commit.trim().to_owned(),
            epoch: epoch.trim().parse().context("SOURCE_DATE_EPOCH is seconds since 1970")?,
        })
    }
}
