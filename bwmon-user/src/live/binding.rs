//! The kernel's own driver: is it bound to a monitor, letting go of it, giving it back.

use super::root::{Root, read_line, strings, write_value};
use std::io;
use std::path::PathBuf;

/// The mainline driver's name on the platform bus.
pub(super) const KERNEL_DRIVER: &str = "qcom-bwmon";

/// A platform device and what drives it.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    root: Root,
    /// The device, `<address>.<node name>`.
    pub(super) device: String,
}

impl Binding {
    pub(super) fn new(root: &Root, device: &str) -> Self {
        Self { root: root.clone(), device: device.to_owned() }
    }

    /// Whether the device exists.
    pub(super) fn present(&self) -> bool {
        self.device_dir().exists()
    }

    /// Its device-tree node's `compatible`; empty where there is no node.
    pub(super) fn compatible(&self) -> Vec<String> {
        strings(&self.device_dir().join("of_node/compatible"))
    }

    /// The driver that is bound, if one is.
    pub(super) fn driver(&self) -> Option<String> {
        let link = std::fs::read_link(self.device_dir().join("driver")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    }

    /// Takes the device away from `driver`.
    pub(super) fn unbind(&self, driver: &str) -> io::Result<()> {
        write_value(&self.driver_dir(driver).join("unbind"), &self.device)?;
        match self.driver() {
            None => Ok(()),
            Some(still) => {
                Err(io::Error::other(format!("{still} is still bound after unbind said yes")))
            }
        }
    }

    /// Gives the device to `driver`; nothing to do if it has it.
    pub(super) fn bind(&self, driver: &str) -> io::Result<()> {
        if self.driver().as_deref() == Some(driver) {
            return Ok(());
        }
        let folder = self.driver_dir(driver);
        if !folder.exists() {
            let error = format!("the driver {driver} is not loaded (its module was removed?)");
            return Err(io::Error::new(io::ErrorKind::NotFound, error));
        }
        write_value(&folder.join("bind"), &self.device)?;
        match self.driver() {
            Some(bound) if bound == driver => Ok(()),
            _ => Err(io::Error::other("bind said yes, but the device has no driver")),
        }
    }

    /// Whether `driver` is there to be bound to something.
    pub(super) fn has_driver(&self, driver: &str) -> bool {
        self.driver_dir(driver).exists()
    }

    /// The one driver that may have the device, if there is such a word (`driver_override`).
    pub(super) fn only(&self) -> Option<String> {
        let name = read_line(&self.device_dir().join("driver_override")).ok()?;
        (!name.is_empty() && name != "(null)").then_some(name)
    }

    /// Lets no driver but `driver` have the device; any, with `None`. Binds nothing.
    pub(super) fn allow_only(&self, driver: Option<&str>) -> io::Result<()> {
        let name = driver.unwrap_or("\n");
        write_value(&self.device_dir().join("driver_override"), name)
    }

    fn device_dir(&self) -> PathBuf {
        self.root.path("/sys/bus/platform/devices").join(&self.device)
    }

    fn driver_dir(&self, driver: &str) -> PathBuf {
        self.root.path("/sys/bus/platform/drivers").join(driver)
    }
}
