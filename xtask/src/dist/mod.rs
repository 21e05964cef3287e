//! `cargo xtask dist`: a tarball and a Debian package per architecture, the same bytes from the same
//! commit.

mod arch;
mod archive;
mod binary;
mod content;
mod deb;
mod payload;
mod release;
mod sanity;
mod trial;
mod twice;

use crate::ctx::Ctx;
use anyhow::{Context, Result, bail};
use arch::{Arch, Which};
use binary::Effort;
use payload::Payload;
use release::Release;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use trial::Held;

/// What to make.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The architecture, or all of them.
    #[arg(long, value_enum, default_value = "all")]
    arch: Which,
    /// Build everything twice in different folders and compare the bytes, and as --trial.
    #[arg(long)]
    check: bool,
    /// Try the package on a clean Debian machine.
    #[arg(long)]
    trial: bool,
}

/// A package, for one machine.
struct Made {
    arch: Arch,
    deb: PathBuf,
    tarball: PathBuf,
    payload: Payload,
}

/// Makes the packages; their paths go to standard output.
///
/// # Errors
/// When something does not build or a check fails.
pub(crate) fn run(ctx: &Ctx, args: &Args) -> Result<()> {
    let release = Release::of(ctx)?;
    let made = make(ctx, &args.arch.archs()?, &release, Effort::Shipped)?;
    for package in &made {
        println!("{}\n{}", package.deb.display(), package.tarball.display());
    }
    if args.check {
        twice::compare(ctx, args.arch, &release, &made)?;
    }
    if args.check || args.trial {
        match made.iter().find(|package| Arch::here().is_ok_and(|here| package.arch == here)) {
            Some(native) => match trial::hold(ctx, native, &release)? {
                Held::Steps(steps) => println!("{}", held(steps)),
                Held::Skipped(why) => bail!("the package cannot be tried here: {why}"),
            },
            None => {
                println!("skipped: the package on a clean Debian machine: another architecture");
            }
        }
    }
    Ok(())
}

fn held(steps: usize) -> String {
    format!("dist: {steps} steps of a package's life held on a clean Debian machine")
}

/// As `cargo xtask dist --trial`, with a program that is built in less time. Where a machine cannot be
/// had, that is said.
///
/// # Errors
/// When something does not build, or a step of the trial does not hold.
pub(crate) fn trial(ctx: &Ctx) -> Result<()> {
    let held = match trial::possible(ctx) {
        Some(why) => Held::Skipped(why),
        None => {
            let release = Release::of(ctx)?;
            let made = make(ctx, &[Arch::here()?], &release, Effort::Trial)?;
            let package = made.first().context("no package was made")?;
            trial::hold(ctx, package, &release)?
        }
    };
    match held {
        Held::Steps(steps) => println!("{}", self::held(steps)),
        Held::Skipped(why) => println!("skipped: the package on a clean Debian machine: {why}"),
    }
    Ok(())
}

/// Builds and packs for `archs`, into `<target>/dist`, or beside the trial's machine.
fn make(ctx: &Ctx, archs: &[Arch], release: &Release, effort: Effort) -> Result<Vec<Made>> {
    let out = ctx.target_dir.join(match effort {
        Effort::Shipped => "dist",
        Effort::Trial => "dist/trial/packages",
    });
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let here = Arch::here()?;
    let native = binary::build(ctx, here, release, effort)?;
    let mut made = Vec::new();
    for arch in archs.iter().copied() {
        let program =
            if arch == here { native.clone() } else { binary::build(ctx, arch, release, effort)? };
        let payload = content::payload(ctx, &program, &native, release, arch)?;
        sanity::check(ctx, &payload, arch)?;
        made.push(pack(ctx, &out, payload, release, arch)?);
    }
    sums(&out, &made)?;
    Ok(made)
}

fn pack(ctx: &Ctx, out: &Path, payload: Payload, release: &Release, arch: Arch) -> Result<Made> {
    let (version, name) = (&release.version, arch.debian());
    let deb = out.join(format!("bwmon_{version}_{name}.deb"));
    let packaging = ctx.root.join("xtask/packaging");
    write(&deb, &deb::deb(&payload, &packaging, release, arch)?)?;
    let folder = format!("bwmon-{version}-{name}");
    let tarball = out.join(format!("{folder}.tar.gz"));
    let tar = archive::tar(&payload, &format!("{folder}/"), release.epoch)?;
    write(&tarball, &archive::gzip(&tar)?)?;
    Ok(Made { arch, deb, tarball, payload })
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// `SHA256SUMS`, as `sha256sum --check` reads it.
fn sums(out: &Path, made: &[Made]) -> Result<()> {
    let mut lines = Vec::new();
    for path in made.iter().flat_map(|package| [&package.deb, &package.tarball]) {
        let name =
            path.file_name().and_then(|name| name.to_str()).context("a package has a name")?;
        lines.push(format!("{:x}  {name}\n", Sha256::digest(fs::read(path)?)));
    }
    lines.sort_by(|a, b| a.get(66..).cmp(&b.get(66..)));
    write(&out.join("SHA256SUMS"), lines.concat().as_bytes())
}
