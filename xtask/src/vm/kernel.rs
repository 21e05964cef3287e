//! A stock Debian arm64 kernel, fetched once per series and never installed.

use crate::tools::apt::{Found, PrivateApt};
use crate::tools::suites;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The series that stands for the newest kernel of all suites.
pub(crate) const NEWEST: &str = "newest";

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

/// The kernel of this series: the one of an earlier run, or the newest of the nearest suite that
/// has the series. The machine's own suites come first because their compilers run here.
///
/// # Errors
/// When it is not here and cannot be fetched, or its packages are not laid out as expected.
pub(crate) fn fetch(dir: &Path, series: &str) -> Result<Kernel> {
    let folder = dir.join(format!("kernel-{series}"));
    if let Some(kernel) = Kernel::find(&folder) {
        return Ok(kernel);
    }
    eprintln!("vm: asking Debian for the newest arm64 kernel ({series})");
    let (apt, packages) = match series {
        NEWEST => newest(dir)?,
        series => suites::nearest(dir, "arm64", |apt| {
            with_modules(apt, apt.newest(&image(&series.replace('.', r"\.")))?)
        })?,
    };
    for package in packages {
        let deb = apt.download(&package.exact())?;
        apt.unpack(&deb, &folder.join(&package.package))?;
        std::fs::remove_file(&deb).with_context(|| format!("remove {}", deb.display()))?;
    }
    Kernel::find(&folder)
        .with_context(|| format!("no kernel in {0}: remove {0} to fetch anew", folder.display()))
}

/// What the packages of a series' images are called. The version, with an ABI number in older
/// ones, stands alone between series and flavour, which leaves cloud and realtime kernels out.
fn image(series: &str) -> String {
    format!(r"linux-(image-{series}\.[^-]*(-[0-9]+)?-arm64-unsigned|binary-{series}\.[^-]*-arm64)")
}

/// One package, or, from 7.2 on, two: image and modules.
fn with_modules(apt: &PrivateApt, image: Found) -> Result<Vec<Found>> {
    let Some(release) = image.package.strip_prefix("linux-binary-") else {
        return Ok(vec![image]);
    };
    let release = release.replace('.', r"\.").replace('+', r"\+");
    let modules = apt.newest(&format!("linux-modules-{release}"))?;
    Ok(vec![image, modules])
}

fn newest(dir: &Path) -> Result<(PrivateApt, Vec<Found>)> {
    let mut best: Option<(PrivateApt, Found)> = None;
    for (apt, found) in suites::all(dir, "arm64", |apt| apt.newest(&image(r"[0-9]+\.[0-9]+")))? {
        let newer = match &best {
            None => true,
            Some((_, other)) => found.newer_than(other)?,
        };
        if newer {
            best = Some((apt, found));
        }
    }
    let (apt, found) = best.context("no suite has an arm64 kernel")?;
    let packages = with_modules(&apt, found)?;
    Ok((apt, packages))
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
