//! A package's life on a clean Debian machine: installed, started, upgraded, removed, purged. systemd
//! itself runs the unit, in namespaces, on a machine whose `/sys` and `/dev/mem` are files.

mod machine;
mod root;

use super::deb::deb;
use super::release::Release;
use super::{Made, write};
use crate::ctx::Ctx;
use crate::tools::needs;
use crate::tools::process::on_path;
use anyhow::{Context, Result, bail};
use machine::Machine;
use std::fs;
use std::path::Path;

const BOARD: &str = include_str!("board.toml");
const BOOT: &str = include_str!("boot.sh");
const STEPS: &str = include_str!("steps.sh");

/// Why a trial cannot be held here, if it cannot.
fn obstacle() -> Option<String> {
    if !needs::is_root() {
        return Some("it makes namespaces and a Debian root, which root alone may".to_owned());
    }
    let lacking = ["unshare", "nsenter"].into_iter().find(|program| !on_path(program))?;
    Some(format!("there is no {lacking} (util-linux)"))
}

/// Holds the trial of `made`, which is for this machine; what does not hold is an error. Where it
/// cannot be held, that is said, and in CI it is an error too.
///
/// # Errors
/// The first step that does not hold, with what was said.
pub(super) fn hold(ctx: &Ctx, made: &Made, release: &Release, ci: bool) -> Result<()> {
    if let Some(why) = obstacle() {
        if ci {
            bail!("the package cannot be tried: {why}; CI skips nothing");
        }
        println!("skipped: the package in a clean Debian root: {why}");
        return Ok(());
    }
    let dir = ctx.target_dir.join("dist/trial");
    let root = root::fresh(&dir)?;
    furnish(ctx, &root, made, release)?;
    let machine = Machine::boot(&dir, &root)?;
    let steps = machine.run("/trial/steps.sh").context("the package's trial")?;
    println!("dist: {} steps of a package's life held on a clean Debian machine", steps.held());
    Ok(())
}

/// Puts the packages and the board into the machine. The second package is a later version with
/// another configuration.
fn furnish(ctx: &Ctx, root: &Path, made: &Made, release: &Release) -> Result<()> {
    let trial = root.join("trial");
    fs::create_dir_all(&trial)?;
    write(&trial.join("board.toml"), BOARD.as_bytes())?;
    write(&trial.join("boot.sh"), BOOT.as_bytes())?;
    write(&trial.join("steps.sh"), STEPS.as_bytes())?;
    fs::copy(&made.deb, trial.join("first.deb")).context("copy the package")?;
    let later = Release { version: format!("{}+second", release.version), ..release.clone() };
    let mut payload = made.payload.clone();
    let config = payload.files().get("etc/bwmon/bwmon.toml").context("no configuration")?;
    let mut text = config.content.clone();
    text.extend(b"# second\n");
    payload.file("etc/bwmon/bwmon.toml", text);
    let packaging = ctx.root.join("xtask/packaging");
    write(&trial.join("second.deb"), &deb(&payload, &packaging, &later, made.arch)?)
}
