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
use anyhow::{Context, Result};
use machine::Machine;
use std::fs;
use std::path::{Path, PathBuf};

const BOARD: &str = include_str!("board.toml");
const BOOT: &str = include_str!("boot.sh");
const STEPS: &str = include_str!("steps.sh");

/// What became of a trial.
pub(super) enum Held {
    /// So many steps held.
    Steps(usize),
    /// There is no machine to hold it on.
    Skipped(String),
}

/// Why a trial cannot be held here, as far as that can be told before a package is made.
pub(super) fn possible(ctx: &Ctx) -> Option<String> {
    if !needs::is_root() {
        return Some("it makes namespaces and a Debian root, which root alone may".to_owned());
    }
    if let Some(lacking) = ["unshare", "nsenter"].into_iter().find(|program| !on_path(program)) {
        return Some(format!("there is no {lacking} (util-linux)"));
    }
    root::fresh(&dir(ctx)).err().map(|error| format!("{error:#}"))
}

fn dir(ctx: &Ctx) -> PathBuf {
    ctx.target_dir.join("dist/trial")
}

/// Holds the trial of `made`, which is for this machine.
///
/// # Errors
/// The first step that does not hold, with what was said.
pub(super) fn hold(ctx: &Ctx, made: &Made, release: &Release) -> Result<Held> {
    if let Some(why) = possible(ctx) {
        return Ok(Held::Skipped(why));
    }
    let root = root::path(&dir(ctx));
    furnish(ctx, &root, made, release)?;
    let machine = match Machine::boot(&dir(ctx), &root) {
        Ok(machine) => machine,
        Err(error) => return Ok(Held::Skipped(format!("{error:#}"))),
    };
    let steps = machine.run("/trial/steps.sh").context("the package's trial")?;
    Ok(Held::Steps(steps.held()))
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
