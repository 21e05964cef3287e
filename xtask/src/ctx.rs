//! Where the project lies on this machine.

use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders that every verb needs.
pub(crate) struct Ctx {
    /// The workspace's root.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, as configured (flags, environment, config files).
    pub(crate) target_dir: PathBuf,
    /// Where fetched tools live: nothing is installed outside the target folder.
    pub(crate) tools: PathBuf,
}

impl Ctx {
    /// Asks cargo itself, so that a `CARGO_TARGET_DIR` or a config file is honoured.
    ///
    /// # Errors
    /// When cargo cannot be run or answers something that is not its metadata.
    pub(crate) fn new() -> Result<Ctx> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = Command::new(cargo())
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .current_dir(here)
            .run_for_output()?;
        let meta: serde_json::Value =
            serde_json::from_str(&text).context("cargo metadata did not answer JSON")?;
        let dir = |key: &str| {
            meta.get(key)
                .and_then(|v| v.as_str())
                .map(PathBuf::from)
                .with_context(|| format!("cargo metadata has no `{key}`"))
        };
        let (root, target_dir) = (dir("workspace_root")?, dir("target_directory")?);
        let tools = target_dir.join("tools");
        Ok(Ctx { root, target_dir, tools })
    }

    /// The tree at `root` built with a target folder of its own, with the same tools.
    pub(crate) fn elsewhere(&self, root: PathBuf) -> Ctx {
        let target_dir = root.join("target");
        Ctx { root, target_dir, tools: self.tools.clone() }
    }
}

/// The cargo that runs this task, or the one on the path.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
