//! A Debian package, as `deb(5)` has it.

use super::arch::Arch;
use super::archive::{ar, gzip, tar};
use super::payload::Payload;
use super::release::Release;
use anyhow::{Context, Result};
use md5::{Digest, Md5};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Scripts that dpkg runs, by their names in `xtask/packaging`.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Who answers for a package.
pub(crate) const MAINTAINER: &str = "the bwmon authors <bwmon@localhost.localdomain>";

/// The package of `payload`.
///
/// # Errors
/// When the scripts in `packaging` cannot be read.
pub(crate) fn deb(
    payload: &Payload,
    packaging: &Path,
    release: &Release,
    arch: Arch,
) -> Result<Vec<u8>> {
    let mut inner = Payload::default();
    inner.file("control", control(payload, release, arch));
    inner.file("conffiles", conffiles(payload));
    inner.file("md5sums", sums(payload)?);
    for script in SCRIPTS {
        let path = packaging.join(script);
        let text = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        inner.program(script, text);
    }
    let inner = gzip(&tar(&inner, "./", release.epoch)?)?;
    let data = gzip(&tar(payload, "./", release.epoch)?)?;
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", &inner), ("data.tar.gz", &data)];
    Ok(ar(&members, release.epoch))
}

fn control(payload: &Payload, release: &Release, arch: Arch) -> String {
    let kib = |bytes: usize| bytes.div_ceil(1024);
    let size: usize = payload.files().values().map(|item| kib(item.content.len())).sum::<usize>()
        + payload.folders().len();
    format!(
        "Package: bwmon\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {size}\n\
         Depends: passwd\n\
         Suggests: dkms\n\
         Section: admin\n\
         Priority: optional\n\
         Description: adaptive memory-bandwidth governor for Qualcomm SoCs\n \
         bwmon measures memory traffic with the SoC's bandwidth monitors and kernel\n \
         probes, lets a policy written as a script decide, and votes for interconnect\n \
         and cache frequencies. Whatever it changes is put back when it stops.\n \
         .\n \
         The program is one static binary with the probes inside. The service is\n \
         installed and not enabled.\n",
        release.version,
        arch.debian(),
    )
}

/// What dpkg asks about before it replaces it.
fn conffiles(payload: &Payload) -> String {
    let paths = payload.files().keys().filter(|path| path.starts_with("etc/"));
    paths.map(|path| format!("/{path}\n")).collect()
}

fn sums(payload: &Payload) -> Result<String> {
    let mut text = String::new();
    for (path, item) in payload.files().iter().filter(|(path, _)| !path.starts_with("etc/")) {
        writeln!(text, "{:x}  {path}", Md5::digest(&item.content))?;
    }
    Ok(text)
}
