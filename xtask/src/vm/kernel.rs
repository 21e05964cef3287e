//! A stock Debian arm64 kernel, fetched once per series and never installed.

use crate::tools::apt::{Found, PrivateApt};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Where kernels newer than a release's own are packaged.
const SUITES: [&str; 3] = ["bookworm-backports", "trixie", "trixie-backports"];

/// An unpacked kernel.
#[derive(Debug)]
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
/// When it is not here and cannot be fetched, or its packages are not laid out as expected.
pub(crate) fn fetch(dir: &Path, series: &str) -> Result<Kernel> {
    let folder = dir.join(format!("kernel-{series}"));
    if let Some(kernel) = Kernel::find(&folder) {
        return Ok(kernel);
    }
    eprintln!("vm: asking Debian for the newest {series} arm64 kernel");
    let mut apt = PrivateApt::new(dir.join("apt-arm64"), "arm64", &SUITES)?;
    apt.update()?;
    for package in packages(&apt, series)? {
        let deb = apt.download(&package.exact())?;
        apt.unpack(&deb, &folder.join(&package.package))?;
        std::fs::remove_file(&deb).with_context(|| format!("remove {}", deb.display()))?;
    }
    Kernel::find(&folder)
        .with_context(|| format!("no kernel in {0}: remove {0} to fetch anew", folder.display()))
}

/// One package, or, from 7.2 on, two: image and modules. The version alone stands between series
/// and flavour, which leaves cloud and realtime kernels out.
fn packages(apt: &PrivateApt, series: &str) -> Result<Vec<Found>> {
    let series = series.replace('.', r"\.");
    let whole = apt.newest(&format!(r"linux-image-{series}\.[^-]*-arm64-unsigned"));
    let Err(none) = whole else { return Ok(vec![whole?]) };
    let Ok(image) = apt.newest(&format!(r"linux-binary-{series}\.[^-]*-arm64")) else {
        return Err(none);
    };
    let modules = image.package.replace("linux-binary-", "linux-modules-");
    let modules = apt.newest(&modules.replace('.', r"\.").replace('+', r"\+"))?;
    Ok(vec![image, modules])
}

impl Kernel {
    /// Looks through the packages unpacked in `folder`.
    fn find(folder: &Path) -> Option<Self> {
        let packages = entries(folder);
        let roots = packages.iter().flat_map(|package| {
            ["usr/lib/modules", "lib/modules"].map(|modules| package.join(modules))
        });
        let mut releases = roots.flat_map(|root| entries(&root));
        let modules = releases.find(|release| release.join("kernel/drivers").is_dir())?;
        let release = modules.file_name()?.to_str()?.to_owned();
        let images =
            [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")];
        let mut images = packages.iter().flat_map(|p| images.iter().map(|image| p.join(image)));
        let image = images.find(|image| image.is_file())?;
        Some(Self { release, image, modules: modules.join("kernel") })
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(dir).into_iter().flatten();
    listed.flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::Kernel;
    use std::path::Path;

    fn put(root: &Path, file: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn whole_and_split_packages_are_found_and_half_a_kernel_is_not() {
        let folder = std::env::temp_dir().join(format!("bwmon-kernel-{}", std::process::id()));
        put(&folder, "7.3/binary/usr/lib/modules/7.3.4/vmlinuz");
        assert!(Kernel::find(&folder.join("7.3")).is_none());
        put(&folder, "7.3/modules/usr/lib/modules/7.3.4/kernel/drivers/a.ko");
        let split = Kernel::find(&folder.join("7.3")).unwrap();
        put(&folder, "6.12/image/boot/vmlinuz-6.12.1");
        put(&folder, "6.12/image/lib/modules/6.12.1/kernel/drivers/a.ko");
        let whole = Kernel::find(&folder.join("6.12")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((split.release.as_str(), whole.release.as_str()), ("7.3.4", "6.12.1"));
    }
}
