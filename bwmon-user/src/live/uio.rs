//! A monitor's block as a UIO device: what our kernel module offers, and `uio_pdrv_genirq` too.

use super::mapping::Mapping;
use super::root::{Root, names, read_line};
use anyhow::{Context, bail, ensure};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// An open UIO device.
#[derive(Debug)]
pub(super) struct Uio {
    /// Its folder in sysfs; it goes when the driver lets go of the device.
    dir: PathBuf,
    /// Its node in `/dev`.
    node: PathBuf,
    file: OwnedFd,
}

/// The UIO device's folder of the platform device, if a driver offers one.
pub(super) fn find(root: &Root, device: &str) -> Option<PathBuf> {
    let folder = root.path("/sys/bus/platform/devices").join(device).join("uio");
    let name = names(&folder).into_iter().next()?;
    Some(folder.join(name))
}

impl Uio {
    /// Opens the one in `dir`, as [`find`] gave it.
    ///
    /// # Errors
    /// Why not: no rights, or another program has it.
    pub(super) fn open(root: &Root, dir: PathBuf) -> anyhow::Result<Self> {
        let node = root.path("/dev").join(dir.file_name().unwrap_or_default());
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&node, flags, Mode::empty());
        let file = opened.map_err(|error| match error {
            Errno::BUSY => anyhow::anyhow!("another program has the block open"),
            error => anyhow::Error::from(error),
        });
        let file = file.with_context(|| format!("open {}", node.display()))?;
        Ok(Self { dir, node, file })
    }

    /// Its node in `/dev`.
    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// A file that can be read when the block has interrupted; `None` if this device has no interrupt.
    pub(super) fn events(&self) -> Option<OwnedFd> {
        let mut count = [0; 4];
        // Without an interrupt this is EIO (drivers/uio/uio.c).
        match rustix::io::read(&self.file, &mut count) {
            Ok(4) | Err(Errno::AGAIN | Errno::INTR) => {
                rustix::io::fcntl_dupfd_cloexec(&self.file, 0).ok()
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Lets the next interrupt through, where the driver masked the line; ours masks the block.
    pub(super) fn unmask(&self) {
        // A device that is gone has nothing to unmask, and that is seen before the next reading.
        let _ = rustix::io::write(&self.file, &1_i32.to_ne_bytes());
    }

    /// The driver that offers it.
    pub(super) fn driver(&self) -> Option<String> {
        let link = std::fs::read_link(self.dir.join("device/driver")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    }

    /// Whether the device is still there.
    pub(super) fn alive(&self) -> bool {
        self.dir.exists()
    }

    /// Maps the region `index`, which has to lie at the board's `address` and be as large.
    ///
    /// # Errors
    /// When it is another region, or cannot be mapped.
    pub(super) fn map(&self, index: usize, (address, size): (u64, u64)) -> anyhow::Result<Mapping> {
        let dir = self.dir.join(format!("maps/map{index}"));
        let number = |name: &str| {
            let text = read_line(&dir.join(name))
                .with_context(|| format!("{}: it offers no such region", dir.display()))?;
            let hex = text.trim_start_matches("0x");
            u64::from_str_radix(hex, 16).with_context(|| format!("{name} is {text:?}"))
        };
        let (page, offset, length) = (number("addr")?, number("offset")?, number("size")?);
        let found = page.saturating_add(offset);
        ensure!(
            found == address,
            "{} maps registers at {found:#x}, the board has them at {address:#x}",
            self.node.display()
        );
        if offset.checked_add(size).is_none_or(|end| end > length) {
            bail!("{} maps {length:#x} bytes: too few for the block", self.node.display());
        }
        // The offset in the file chooses the region, in pages.
        let start = index as u64 * rustix::param::page_size() as u64;
        Mapping::new(&self.file, start, length as usize, offset as usize, size as usize)
            .with_context(|| format!("map {}", self.node.display()))
    }
}

#[cfg(test)]
#[path = "uio_tests.rs"]
mod tests;
