//! The kernel modules of the bench, dependencies first.

use super::kernel::Kernel;
use anyhow::{Result, bail, ensure};
use std::path::PathBuf;

/// Where each lies under the modules' `drivers/`. The provider comes before its users: imx-bus
/// makes the devfreq device and the interconnect, which icc-bwmon then votes through.
const ORDER: [&str; 5] = [
    "devfreq/governor_userspace",
    "interconnect/imx/imx-interconnect",
    "interconnect/imx/imx8mq-interconnect",
    "devfreq/imx-bus",
    "uio/uio",
];
/// The kernel's own driver comes last.
const DRIVER: &str = "soc/qcom/icc-bwmon";
/// Series that Debian builds without it (CONFIG_QCOM_ICC_BWMON is not set).
const WITHOUT_DRIVER: [&str; 1] = ["6.1."];

/// What a kernel has of them.
pub(crate) struct Modules {
    /// The files in the order of insertion, packed or not (the guest's kernel unpacks them).
    pub(crate) files: Vec<PathBuf>,
    /// Whether the kernel's own driver is among them.
    pub(crate) driver: bool,
}

/// Looks for them.
///
/// # Errors
/// When this kernel was built without one that is needed, or is not as expected about its driver:
/// then the scenarios would silently show something else.
pub(crate) fn find(kernel: &Kernel) -> Result<Modules> {
    let mut files = Vec::new();
    for name in ORDER {
        match file(kernel, name) {
            Some(file) => files.push(file),
            None => bail!("kernel {} has no module {name}: choose another series", kernel.release),
        }
    }
    let driver = file(kernel, DRIVER);
    let expected = !WITHOUT_DRIVER.iter().any(|series| kernel.release.starts_with(series));
    ensure!(
        driver.is_some() == expected,
        "kernel {}: {DRIVER} is {}, which xtask/src/vm/modules.rs does not expect",
        kernel.release,
        if driver.is_some() { "there" } else { "missing" }
    );
    files.extend(driver);
    Ok(Modules { files, driver: expected })
}

fn file(kernel: &Kernel, name: &str) -> Option<PathBuf> {
    let suffixes = [".ko.xz", ".ko.zst", ".ko"];
    let mut paths = suffixes.iter().map(|end| kernel.modules.join(format!("drivers/{name}{end}")));
    paths.find(|path| path.is_file())
}
