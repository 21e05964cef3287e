//! What is in a package, and where.

use super::arch::Arch;
use super::archive::gzip;
use super::payload::Payload;
use super::release::Release;
use crate::ctx::{Ctx, cargo};
use crate::tools::process::Run;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where the documents go.
const DOC: &str = "usr/share/doc/bwmon";

/// Programs for completions, with the file of each.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/bwmon"),
    ("zsh", "usr/share/zsh/vendor-completions/_bwmon"),
    ("fish", "usr/share/fish/vendor_completions.d/bwmon.fish"),
];

/// All files: `program` is what is shipped, `native` the same for this machine, which writes the pages.
///
/// # Errors
/// When a file cannot be read or a page cannot be written.
pub(crate) fn payload(
    ctx: &Ctx,
    program: &Path,
    native: &Path,
    release: &Release,
    arch: Arch,
) -> Result<Payload> {
    let mut payload = Payload::default();
    let bytes = fs::read(program).with_context(|| format!("read {}", program.display()))?;
    payload.program("usr/bin/bwmon", bytes);
    service(ctx, &mut payload)?;
    pages(ctx, native, &mut payload)?;
    for (shell, path) in SHELLS {
        let text = Command::new(native).args(["completions", shell]).run_for_output()?;
        payload.file(path, text);
    }
    payload.copy_folder(&ctx.root.join("policies"), "usr/share/bwmon/policies")?;
    let module = ctx.root.join("bwmon-user/kmod/bwmon_vote");
    payload.copy_folder(&module, &format!("usr/src/bwmon-vote-{}", release.version))?;
    documents(ctx, &mut payload, release)?;
    payload.file(format!("{DOC}/third-party.txt"), third_party(ctx, arch)?);
    Ok(payload)
}

fn service(ctx: &Ctx, payload: &mut Payload) -> Result<()> {
    let packaging = ctx.root.join("xtask/packaging");
    payload.copy(&packaging.join("bwmon.service"), "usr/lib/systemd/system/bwmon.service")?;
    payload.copy(&packaging.join("sysusers.conf"), "usr/lib/sysusers.d/bwmon.conf")?;
    payload.copy(&packaging.join("tmpfiles.conf"), "usr/lib/tmpfiles.d/bwmon.conf")?;
    let example = ctx.root.join("bwmon-user/src/config/example.toml");
    payload.copy(&example, "etc/bwmon/bwmon.toml")?;
    for folder in ["etc/bwmon/keys", "etc/bwmon/products"] {
        payload.folder(folder);
    }
    Ok(())
}

fn pages(ctx: &Ctx, native: &Path, payload: &mut Payload) -> Result<()> {
    let folder = ctx.target_dir.join("dist/man");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    Command::new(native).args(["man", "--out"]).arg(&folder).run()?;
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).context("a page has a name")?;
        let section = name.rsplit('.').next().unwrap_or("1");
        let page = gzip(&fs::read(&path)?)?;
        payload.file(format!("usr/share/man/man{section}/{name}.gz"), page);
    }
    Ok(())
}

fn documents(ctx: &Ctx, payload: &mut Payload, release: &Release) -> Result<()> {
    // What changed stands in our own changelog; Debian's has to be there.
    let at = format!("@{}", release.epoch);
    let mut date = Command::new("date");
    date.args(["--utc", "-R", "-d", &at]).env("LC_ALL", "C");
    let debian = format!(
        "bwmon ({}) unstable; urgency=medium\n\n  * See CHANGELOG.md, commit {}.\n\n -- {}  {}",
        release.version,
        release.commit,
        super::deb::MAINTAINER,
        date.run_for_output()?
    );
    payload.file(format!("{DOC}/changelog.gz"), gzip(debian.as_bytes())?);
    payload.copy(&ctx.root.join("CHANGELOG.md"), format!("{DOC}/CHANGELOG.md"))?;
    payload.copy(&ctx.root.join("xtask/packaging/copyright"), format!("{DOC}/copyright"))?;
    payload.copy(&ctx.root.join("README.md"), format!("{DOC}/README.md"))?;
    payload.copy_folder(&ctx.root.join("docs"), &format!("{DOC}/docs"))
}

/// The crates in the program, with their versions and licences.
fn third_party(ctx: &Ctx, arch: Arch) -> Result<String> {
    let said = Command::new(cargo())
        .args(["tree", "--quiet", "--locked", "-p", "bwmon-user", "--edges", "normal"])
        .args(["--prefix", "none", "--format", "{p}: {l}", "--target", arch.triple()])
        .current_dir(&ctx.root)
        .run_for_output()?;
    // Our own are named with their path.
    let crates: BTreeSet<&str> = said
        .lines()
        .map(|line| line.trim_end_matches(" (*)").trim())
        .filter(|line| !line.is_empty() && !line.contains(" (/"))
        .collect();
    let mut text = "The Rust crates in /usr/bin/bwmon, with their licences.\n\n".to_owned();
    for name in crates {
        text += name;
        text.push('\n');
    }
    Ok(text)
}
