//! The kernel modules of the bench, dependencies first.

use super::kernel::Kernel;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// Where each lies under the modules' `drivers/`. The provider comes before its users: imx-bus
/// makes the devfreq device and the interconnect, which icc-bwmon then votes through.
const ORDER: [&str; 6] = [
    "devfreq/governor_userspace",
    "interconnect/imx/imx-interconnect",
    "interconnect/imx/imx8mq-interconnect",
    "devfreq/imx-bus",
    "uio/uio",
    "soc/qcom/icc-bwmon",
];

/// The module files in the order of insertion, packed or not (the guest's kernel unpacks them).
///
/// # Errors
/// When this kernel was built without one of them.
pub(crate) fn files(kernel: &Kernel) -> Result<Vec<PathBuf>> {
    ORDER.iter().map(|name| file(kernel, name)).collect()
}

fn file(kernel: &Kernel, name: &str) -> Result<PathBuf> {
    let suffixes = [".ko.xz", ".ko.zst", ".ko"];
    let paths = suffixes.iter().map(|end| kernel.modules.join(format!("drivers/{name}{end}")));
    match paths.into_iter().find(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => bail!("kernel {} has no module {name}: choose another series", kernel.release),
    }
}
