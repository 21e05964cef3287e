//! The sources of Rust's own library, of exactly the compiler's version, for `-Z build-std`.

use super::apt::{Found, PrivateApt, machine_archive};
use super::process::{Run, on_path};
use crate::ctx::Ctx;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where newer compilers than the machine's own release has may be packaged, nearest first.
const SUITES: [&str; 4] = ["bookworm-backports", "trixie", "trixie-backports", "sid"];

/// The `library` folder (it holds `core`, `std`, …). Hand it to cargo as
/// `__CARGO_TESTS_ONLY_SRC_ROOT`, together with `RUSTC_BOOTSTRAP=1`.
///
/// Tried in turn: the toolchain's own copy, what an earlier run fetched, `rustup component add
/// rust-src`, and Debian's `rust-src` package of this version, unpacked under `target/tools`.
///
/// # Errors
/// When none of these works: one line says how to get it.
pub(crate) fn library_source(ctx: &Ctx) -> Result<PathBuf> {
    let version = rustc_version()?;
    let own = sysroot()?.join("lib/rustlib/src/rust/library");
    let unpacked = ctx.tools.join(format!("rust-src-{version}"));
    let debian = unpacked.join(format!("usr/src/rustc-{version}/library"));
    if let Some(there) = [&own, &debian].into_iter().find(|dir| is_library(dir)) {
        return Ok(there.clone());
    }
    if on_path("rustup") {
        eprintln!("library sources of rustc {version}: asking rustup");
        let added = Command::new("rustup").args(["component", "add", "rust-src"]).run_for_output();
        if added.is_ok() && is_library(&own) {
            return Ok(own);
        }
    }
    eprintln!("library sources of rustc {version}: asking Debian");
    let why = match from_debian(ctx, &version, &unpacked) {
        Ok(()) if is_library(&debian) => return Ok(debian),
        Ok(()) => "the package does not hold the folder that was expected".to_owned(),
        Err(e) => format!("{e:#}"),
    };
    bail!(
        "missing: the library sources of rustc {version}; `rustup component add rust-src` gets \
         them where rustup's server can be reached (Debian's package: {why})"
    )
}

/// The compiler's version, e.g. `1.95.0`.
///
/// # Errors
/// When rustc cannot be run or does not say.
pub(crate) fn rustc_version() -> Result<String> {
    rustc_line("release: ")
}

/// What stands behind `key` in the lines of `rustc -vV`.
///
/// # Errors
/// As [`rustc_version`].
pub(crate) fn rustc_line(key: &str) -> Result<String> {
    let text = rustc(&["-vV"])?;
    text.lines()
        .find_map(|l| l.strip_prefix(key))
        .map(str::to_owned)
        .with_context(|| format!("rustc -vV has no line `{key}`"))
}

/// The compiler's installation folder.
///
/// # Errors
/// When rustc cannot be run.
pub(crate) fn sysroot() -> Result<PathBuf> {
    Ok(PathBuf::from(rustc(&["--print", "sysroot"])?.trim()))
}

fn rustc(args: &[&str]) -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(rustc).args(args).run_for_output()
}

/// Not the folder alone: a removed component may leave an empty one.
fn is_library(dir: &Path) -> bool {
    dir.join("core/src/lib.rs").is_file() && dir.join("Cargo.lock").is_file()
}

/// One suite after the other, so that the larger lists are fetched only when they are needed.
fn from_debian(ctx: &Ctx, version: &str, into: &Path) -> Result<()> {
    let own = machine_archive()?.release;
    let same = |found: &Found| found.upstream() == version;
    for suite in std::iter::once(own.as_str()).chain(SUITES) {
        let dir = ctx.tools.join("apt").join(format!("rust-src-{suite}"));
        // The package is the same for all architectures; any list names it.
        let mut apt = PrivateApt::new(dir, "amd64", &[suite])?;
        let Ok(()) = apt.update() else { continue };
        let Ok(found) = apt.newest_where("rust-src", same) else { continue };
        let deb = apt.download(&found.exact())?;
        return apt.unpack(&deb, into);
    }
    bail!("none of its suites has rust-src {version}")
}
