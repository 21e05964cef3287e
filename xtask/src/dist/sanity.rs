//! What holds for every package, looked at before it is written.

use super::arch::Arch;
use super::payload::Payload;
use crate::ctx::Ctx;
use crate::tools::process::{Run, on_path};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The unit's exposure, in tenths, that `systemd-analyze security` may find at most. What is left is
/// root, the probes, `/dev/mem`, metrics on loopback, and journals that the group may read.
const EXPOSURE: u32 = 24;

/// The program is one, for its machine, whole in itself and with the probes inside; no file names a
/// folder of this machine; scripts and unit have no fault.
///
/// # Errors
/// What does not hold.
pub(super) fn check(ctx: &Ctx, payload: &Payload, arch: Arch) -> Result<()> {
    let program = payload.files().get("usr/bin/bwmon").context("no program")?;
    executable(&program.content, arch)?;
    let probes = fs::read(ctx.target_dir.join("bpf/bwmon-probes")).context("no probes")?;
    ensure!(holds(&program.content, &probes), "the program has no probes, or others");
    let home = std::env::var("HOME").unwrap_or_default();
    let root = ctx.root.display().to_string();
    // Where there are no folders, every file names them.
    for place in [home, root].into_iter().filter(|place| place.len() > 4) {
        let place = format!("{place}/");
        if let Some((path, _)) =
            payload.files().iter().find(|(_, item)| holds(&item.content, place.as_bytes()))
        {
            bail!("{path} names {place}, a folder of this machine");
        }
    }
    let packaging = ctx.root.join("xtask/packaging");
    for script in ["postinst", "prerm", "postrm"] {
        Command::new("sh").arg("-n").arg(packaging.join(script)).run()?;
    }
    unit(&packaging.join("bwmon.service"))
}

/// systemd's own opinion, where there is systemd.
fn unit(unit: &Path) -> Result<()> {
    if !on_path("systemd-analyze") {
        eprintln!("dist: no systemd-analyze to look at the unit with");
        return Ok(());
    }
    Command::new("systemd-analyze")
        .args(["security", "--no-pager", "--offline=true", &format!("--threshold={EXPOSURE}")])
        .arg(unit)
        .run_for_output()
        .context("the unit is more exposed than it was")?;
    Ok(())
}

fn holds(content: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(content, part).is_some()
}

/// An ELF file for `arch` that names no interpreter: no dynamic linker is asked for.
fn executable(elf: &[u8], arch: Arch) -> Result<()> {
    // elf(5): e_machine, e_phoff, e_phentsize, e_phnum of a 64-bit little-endian file.
    let half = |at: usize| {
        let bytes = elf.get(at..at + 2).and_then(|b| b.try_into().ok()).context("no ELF file")?;
        anyhow::Ok(usize::from(u16::from_le_bytes(bytes)))
    };
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "the program is no 64-bit ELF file");
    let machine = match arch {
        Arch::Amd64 => 62,
        Arch::Arm64 => 183,
    };
    ensure!(half(18)? == machine, "the program is for another machine than {}", arch.debian());
    let table = elf.get(32..40).and_then(|b| b.try_into().ok()).context("no ELF file")?;
    let table = usize::try_from(u64::from_le_bytes(table))?;
    let (size, count) = (half(54)?, half(56)?);
    for entry in 0..count {
        // PT_INTERP is 3; types fit into the lower half here.
        ensure!(half(table + entry * size)? != 3, "the program is not static");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head of 64 bytes and one program header of type `kind`.
    fn elf(machine: u8, kind: u8) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (bytes[18], bytes[32], bytes[54], bytes[56], bytes[64]) = (machine, 64, 56, 1, kind);
        bytes
    }

    #[test]
    fn a_program_is_for_its_machine_and_asks_for_no_linker() {
        assert!(executable(&elf(62, 1), Arch::Amd64).is_ok());
        assert!(executable(&elf(183, 1), Arch::Arm64).is_ok());
        assert!(executable(&elf(62, 1), Arch::Arm64).is_err());
        assert!(executable(&elf(62, 3), Arch::Amd64).is_err());
        assert!(executable(b"#!/bin/sh\n", Arch::Amd64).is_err());
    }
}
