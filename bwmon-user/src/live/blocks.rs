//! The state of a machine's BWMON blocks: is there a device, who has it, can its registers be reached.

use super::binding::{Binding, KERNEL_DRIVER};
use super::registers::MappedRegisters;
use super::root::{Root, names};
use crate::board::Monitor;
use serde::Serialize;

/// Drivers that hand a block to user space: the kernel's, and bwmon's own module (kmod/bwmon_vote).
const UIO_DRIVERS: [&str; 2] = ["uio_pdrv_genirq", "bwmon-vote"];

/// The state of one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockState {
    /// The monitor's name.
    pub monitor: String,
    /// The platform device.
    pub device: String,
    /// Whether the kernel has that device.
    pub present: bool,
    /// The driver that is bound.
    pub driver: Option<String>,
    /// Whether its registers can be reached now, without taking a driver off.
    pub reachable: bool,
    /// How, or why not.
    pub how: String,
}

/// Looks at the block of `monitor`. Its registers are mapped and unmapped, neither read nor written.
pub fn block_state(root: &Root, monitor: &Monitor) -> BlockState {
    let device = monitor.device();
    let binding = Binding::new(root, &device);
    let (present, driver) = (binding.present(), binding.driver());
    let (reachable, how) = match driver.as_deref() {
        _ if !present => (false, format!("the kernel has no device {device}")),
        Some(KERNEL_DRIVER) => {
            let how =
                "the kernel's driver holds them; `bwmon run` takes it off, with a floor in place";
            (false, how.to_owned())
        }
        Some(driver) if UIO_DRIVERS.contains(&driver) => uio(root, &device, driver),
        Some(other) => (false, format!("the driver {other} holds them")),
        None => match MappedRegisters::open(root, monitor) {
            Ok(_) => (true, "through /dev/mem".to_owned()),
            Err(error) => (false, error.to_string()),
        },
    };
    BlockState { monitor: monitor.name.clone(), device, present, driver, reachable, how }
}

fn uio(root: &Root, device: &str, driver: &str) -> (bool, String) {
    let folder = root.path("/sys/bus/platform/devices").join(device).join("uio");
    match names(&folder).first() {
        Some(name) => (true, format!("through /dev/{name}")),
        None => (false, format!("the driver {driver} holds them and made no /dev/uio of it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn monitor() -> Monitor {
        let mut monitor = builtin("sdm845").unwrap().unwrap().monitors.remove(0);
        monitor.reg = vec![(0x1400, 0x600)];
        monitor.node = "pmu@1400".into();
        monitor
    }

    fn tree(driver: Option<&str>) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let device = root.path("/sys/bus/platform/devices/1400.pmu");
        fs::create_dir_all(&device).unwrap();
        if let Some(driver) = driver {
            symlink(format!("../../drivers/{driver}"), device.join("driver")).unwrap();
        }
        fs::create_dir_all(root.path("/dev")).unwrap();
        fs::write(root.path("/dev/mem"), vec![0; 0x3000]).unwrap();
        (folder, root)
    }

    fn how(driver: Option<&str>) -> (bool, String) {
        let (_folder, root) = tree(driver);
        let state = block_state(&root, &monitor());
        assert_eq!((state.present, state.driver.as_deref()), (true, driver));
        (state.reachable, state.how)
    }

    #[test]
    fn a_free_block_is_reached_and_a_held_one_names_its_holder() {
        assert_eq!(how(None), (true, "through /dev/mem".into()));
        let (reachable, why) = how(Some("qcom-bwmon"));
        assert!(!reachable && why.contains("the kernel's driver holds them"), "{why}");
        assert_eq!(how(Some("acme")), (false, "the driver acme holds them".into()));
        let (reachable, why) = how(Some("uio_pdrv_genirq"));
        assert!(!reachable && why.contains("made no /dev/uio"), "{why}");
    }

    #[test]
    fn what_keeps_the_registers_away_is_said() {
        let (_folder, root) = tree(None);
        fs::remove_file(root.path("/dev/mem")).unwrap();
        let state = block_state(&root, &monitor());
        assert!(!state.reachable && state.how.contains("CONFIG_DEVMEM"), "{}", state.how);
        fs::remove_dir_all(root.path("/sys")).unwrap();
        assert_eq!(block_state(&root, &monitor()).how, "the kernel has no device 1400.pmu");
    }

    #[test]
    fn a_uio_device_is_named() {
        let (_folder, root) = tree(Some("uio_pdrv_genirq"));
        let uio = root.path("/sys/bus/platform/devices/1400.pmu/uio/uio3");
        fs::create_dir_all(uio).unwrap();
        let state = block_state(&root, &monitor());
        assert_eq!((state.reachable, state.how.as_str()), (true, "through /dev/uio3"));
    }
}
