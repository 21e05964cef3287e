//! The device tree: QEMU's own, and our nodes behind it.

use super::qemu;
use crate::ctx::Ctx;
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the tree and says where it is. It takes a tenth of a second: nothing is cached.
///
/// # Errors
/// When QEMU or dtc fails; dtc names the line of the nodes that it does not like.
pub(crate) fn build(ctx: &Ctx, dir: &Path) -> Result<PathBuf> {
    let base = dir.join("base.dtb");
    qemu::command(&format!(",dumpdtb={}", base.display()))
        .run_for_output()
        .context("QEMU does not write its device tree")?;
    let own = Command::new("dtc")
        .args(["-q", "-I", "dtb", "-O", "dts"])
        .arg(&base)
        .run_for_output()
        .context("QEMU's device tree cannot be read")?;
    let nodes = ctx.root.join("tests/vm/nodes.dts");
    let nodes = std::fs::read_to_string(&nodes)
        .with_context(|| format!("cannot read {}", nodes.display()))?;
    let source = dir.join("machine.dts");
    std::fs::write(&source, own + &nodes)
        .with_context(|| format!("cannot write {}", source.display()))?;
    let tree = dir.join("machine.dtb");
    Command::new("dtc")
        .args(["-q", "-I", "dts", "-O", "dtb", "-o"])
        .args([&tree, &source])
        .run_for_output()
        .context("tests/vm/nodes.dts does not build")?;
    Ok(tree)
}
