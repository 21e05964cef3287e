//! What a module is built against: the headers of exactly one kernel, unpacked and not installed.

use crate::tools::apt::PrivateApt;
use crate::tools::suites;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The file in which the suite that the packages came from is noted.
const SUITE: &str = "suite";

/// Unpacked headers.
pub(crate) struct Headers {
    root: PathBuf,
    release: String,
}

/// The headers of the kernel `release`: those of an earlier run, or Debian's.
///
/// # Errors
/// When they are not here and cannot be fetched: mirrors drop old kernels.
pub(crate) fn fetch(dir: &Path, release: &str) -> Result<Headers> {
    let headers =
        Headers { root: dir.join(format!("headers-{release}")), release: release.to_owned() };
    if headers.root.is_dir() {
        return Ok(headers);
    }
    let flavour = format!("linux-headers-{release}");
    let (apt, deb) =
        suites::nearest(dir, "arm64", |apt| apt.download(&flavour)).with_context(|| {
            format!("no {flavour} any more? Remove the kernel's folder under {}", dir.display())
        })?;
    let suite = apt.first_suite().to_owned();
    let common = apt.download(&format!("linux-headers-{}-common", headers.version()))?;
    let host = suites::around(dir, &suites::own_architecture()?, &suite)?;
    let kbuild = headers.download_kbuild(&host)?;
    let debs = [deb, common, kbuild];
    let partial = dir.join(format!("headers-{release}.new"));
    apt.unpack_all(&debs, &partial)?;
    fs::write(partial.join(SUITE), &suite)?;
    // Only BTF needs it, which these modules go without: pahole is one more thing to install.
    let image = partial.join(headers.flavour_path()).join("vmlinux");
    if image.exists() {
        fs::remove_file(image)?;
    }
    fs::rename(&partial, &headers.root)
        .with_context(|| format!("cannot create {}", headers.root.display()))?;
    for deb in debs {
        fs::remove_file(&deb).with_context(|| format!("remove {}", deb.display()))?;
    }
    Ok(headers)
}

impl Headers {
    /// The folder in which `make` is to run: configuration and symbols.
    pub(crate) fn flavour(&self) -> PathBuf {
        self.root.join(self.flavour_path())
    }

    /// The kernel's own Makefile. The flavour's points to where the package would be installed.
    pub(crate) fn makefile(&self) -> PathBuf {
        self.root.join(format!("usr/src/linux-headers-{}-common/Makefile", self.version()))
    }

    /// The suite that they came from.
    ///
    /// # Errors
    /// When that is not noted.
    pub(crate) fn suite(&self) -> Result<String> {
        let path = self.root.join(SUITE);
        fs::read_to_string(&path).with_context(|| {
            format!("read {}: remove {} to fetch anew", path.display(), self.root.display())
        })
    }

    /// The major version of the compiler that the kernel was built with.
    ///
    /// # Errors
    /// When the package does not say.
    pub(crate) fn compiler(&self) -> Result<u32> {
        let path = self.flavour().join(".kernelvariables");
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        compiler(&text).with_context(|| format!("{} names no compiler", path.display()))
    }

    fn flavour_path(&self) -> String {
        format!("usr/src/linux-headers-{}", self.release)
    }

    /// The release without its flavour.
    fn version(&self) -> &str {
        self.release.strip_suffix("-arm64").unwrap_or(&self.release)
    }

    /// The build's own programs, for this machine. Older releases share one per series.
    fn download_kbuild(&self, host: &PrivateApt) -> Result<PathBuf> {
        let version = self.version();
        let series: Vec<&str> = version.splitn(3, '.').take(2).collect();
        host.download(&format!("linux-kbuild-{version}"))
            .or_else(|_| host.download(&format!("linux-kbuild-{}", series.join("."))))
    }
}

/// Reads `CC = … $(CROSS_COMPILE)gcc-12`.
fn compiler(variables: &str) -> Option<u32> {
    let line = variables.lines().find(|line| line.starts_with("CC ="))?;
    line.rsplit_once("gcc-")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_compiler_is_the_one_that_the_package_names() {
        let text = "override ARCH = arm64\nCCACHE = ccache\n\
                    CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-14\n";
        assert_eq!(super::compiler(text), Some(14));
        assert_eq!(super::compiler("CC = clang\n"), None);
    }
}
