//! Programs of Debian that tests need: installed if we may, named if not.

use super::process::{Run, on_path};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// A Debian package and how to see that it is there.
pub(crate) struct Need {
    package: &'static str,
    present: fn() -> bool,
}

/// What links a static program for arm64.
pub(crate) const CROSS: [Need; 2] = [
    Need { package: "gcc-aarch64-linux-gnu", present: || on_path("aarch64-linux-gnu-gcc") },
    Need {
        package: "libc6-dev-arm64-cross",
        present: || Path::new("/usr/aarch64-linux-gnu/lib/libc.a").exists(),
    },
];

/// What makes a clean Debian root.
pub(crate) const CLEAN_ROOT: [Need; 1] =
    [Need { package: "debootstrap", present: || Path::new("/usr/sbin/debootstrap").exists() }];

/// What the virtual machine is made with.
pub(crate) const BENCH: [Need; 5] = [
    Need { package: "qemu-system-arm", present: || on_path("qemu-system-aarch64") },
    Need { package: "make", present: || on_path("make") },
    Need { package: "device-tree-compiler", present: || on_path("dtc") },
    Need { package: "gcc-aarch64-linux-gnu", present: || on_path("aarch64-linux-gnu-gcc") },
    Need {
        package: "libc6-dev-arm64-cross",
        present: || Path::new("/usr/aarch64-linux-gnu/lib/libc.a").exists(),
    },
];

/// A real workload, for an experiment on this machine.
pub(crate) const WORKLOADS: [Need; 1] =
    [Need { package: "sysbench", present: || on_path("sysbench") }];

/// Makes sure that all of `needs` are there.
///
/// # Errors
/// One line that says what is missing and how to get it.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    let hint = format!("missing: {0} (apt-get install {0})", missing.join(" "));
    if !is_root() || !on_path("apt-get") {
        bail!(hint);
    }
    eprintln!("xtask: installing {}", missing.join(" "));
    apt(&["update"])
        .and_then(|()| {
            apt(&[&["install", "-y", "--no-install-recommends"], missing.as_slice()].concat())
        })
        .context(hint.clone())?;
    if !self::missing(needs).is_empty() {
        bail!("{hint}: apt installed them, but they are still not found");
    }
    Ok(())
}

fn missing(needs: &[Need]) -> Vec<&'static str> {
    needs.iter().filter(|need| !(need.present)()).map(|need| need.package).collect()
}

fn apt(words: &[&str]) -> Result<()> {
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(words).run_for_output()?;
    Ok(())
}

/// Whether packages can be installed: asked of `id`, since the standard library does not say.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").run_for_output().is_ok_and(|said| said.trim() == "0")
}
