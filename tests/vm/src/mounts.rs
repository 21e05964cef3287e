//! The file systems that init has to mount itself.

use anyhow::{Context, Result};
use rustix::mount::{MountFlags, mount};

/// File system type and mount point, in an order in which each point exists.
const MOUNTS: [(&str, &str); 8] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("debugfs", "/sys/kernel/debug"),
    ("tracefs", "/sys/kernel/tracing"),
    ("bpf", "/sys/fs/bpf"),
];

/// Mounts all of [`MOUNTS`].
pub(crate) fn mount_all() -> Result<()> {
    for (kind, point) in MOUNTS {
        if !point.starts_with("/sys/") {
            std::fs::create_dir_all(point).with_context(|| format!("create {point}"))?;
        }
        mount(kind, point, kind, MountFlags::empty(), None)
            .with_context(|| format!("mount {kind} on {point}"))?;
    }
    Ok(())
}
