//! A stock Debian arm64 kernel, fetched once per series and never installed.

use crate::tools::apt::PrivateApt;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Where kernels newer than a release's own are packaged.
const SUITES: [&str; 3] = ["bookworm-backports", "trixie", "trixie-backports"];

/// An unpacked kernel package.
pub(crate) struct Kernel {
    /// `uname -r` of it.
    pub(crate) release: String,
    /// The image for QEMU's `-kernel`.
    pub(crate) image: PathBuf,
    /// The folder of its modules' `kernel/`.
    pub(crate) modules: PathBuf,
}

/// The kernel of this series: the one of an earlier run, or the newest that Debian has.
///
/// # Errors
/// When it is not here and cannot be fetched, or the package is not laid out as expected.
pub(crate) fn fetch(dir: &Path, series: &str) -> Result<Kernel> {
    let unpacked = dir.join(format!("kernel-{series}"));
    if !unpacked.is_dir() {
        eprintln!("vm: asking Debian for the newest {series} arm64 kernel");
        let mut apt = PrivateApt::new(dir.join("apt-arm64"), "arm64", &SUITES)?;
        apt.update()?;
        let pattern = series.replace('.', r"\.");
        // The version alone stands between series and flavour: no cloud and no realtime kernel.
        let newest = apt.newest(&format!(r"linux-image-{pattern}[^-]*-arm64-unsigned"))?;
        let deb = apt.download(&newest.exact())?;
        apt.unpack(&deb, &unpacked)?;
        std::fs::remove_file(&deb).with_context(|| format!("remove {}", deb.display()))?;
    }
    let kernel = Kernel::find(&unpacked);
    kernel
        .with_context(|| format!("no kernel in {0}: remove {0} to fetch anew", unpacked.display()))
}

impl Kernel {
    fn find(unpacked: &Path) -> Option<Self> {
        let modules = ["usr/lib/modules", "lib/modules"];
        let folder = modules.iter().find_map(|dir| only_entry(&unpacked.join(dir)))?;
        let release = folder.file_name()?.to_str()?.to_owned();
        let image = unpacked.join("boot").join(format!("vmlinuz-{release}"));
        image.is_file().then(|| Self { release, image, modules: folder.join("kernel") })
    }
}

fn only_entry(dir: &Path) -> Option<PathBuf> {
    Some(std::fs::read_dir(dir).ok()?.next()?.ok()?.path())
}
