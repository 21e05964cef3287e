//! `cargo xtask check`: format, lints, documentation.

use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::process::Command;

/// rustfmt, clippy and rustdoc over the whole workspace; any warning is an error. cargo-deny too,
/// where it is installed.
///
/// # Errors
/// What is not clean.
pub(crate) fn check(ctx: &Ctx) -> Result<()> {
    step(ctx, &["fmt", "--all", "--check"], "run `cargo fmt --all`")?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"];
    step(ctx, &clippy, "clippy has something to say")?;
    docs(ctx)?;
    if crate::tools::process::on_path("cargo-deny") {
        step(ctx, &["deny", "--offline", "check", "licenses", "bans"], "cargo-deny objects")?;
    }
    Ok(())
}

fn docs(ctx: &Ctx) -> Result<()> {
    Command::new(cargo())
        .args(["doc", "--quiet", "--no-deps", "-p", "bwmon-user", "-p", "bwmon-common"])
        .current_dir(&ctx.root)
        .env("RUSTDOCFLAGS", "-D warnings")
        .run()
        .context("the documentation has broken links")
}

fn step(ctx: &Ctx, args: &[&str], what: &'static str) -> Result<()> {
    eprintln!("xtask: cargo {}", args.join(" "));
    Command::new(cargo()).args(args).current_dir(&ctx.root).run().context(what)
}
