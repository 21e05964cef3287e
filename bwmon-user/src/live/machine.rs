//! What machine this is.

use super::root::{Root, names, read_line, strings};
use crate::board::Board;

/// The machine under a root.
#[derive(Clone, Debug)]
pub struct Machine {
    root: Root,
}

impl Machine {
    /// The machine under `root`.
    pub fn new(root: Root) -> Self {
        Self { root }
    }

    /// The kernel's release, if it can be read.
    pub fn kernel(&self) -> Option<String> {
        read_line(&self.root.path("/proc/sys/kernel/osrelease")).ok()
    }

    /// The device tree's root `compatible`, most specific first; empty without a device tree.
    pub fn compatible(&self) -> Vec<String> {
        strings(&self.root.path("/sys/firmware/devicetree/base/compatible"))
    }

    /// The board of this machine ([`Machine::identify`] says why it is this one).
    pub fn board(&self) -> Option<Board> {
        self.identify().board
    }

    /// Platform devices that are BWMON blocks by their `compatible`, with it.
    pub fn bwmon_devices(&self) -> Vec<(String, Vec<String>)> {
        let folder = self.root.path("/sys/bus/platform/devices");
        names(&folder)
            .into_iter()
            .map(|device| {
                let compatible = strings(&folder.join(&device).join("of_node/compatible"));
                (device, compatible)
            })
            .filter(|(_, compatible)| compatible.iter().any(|name| name.ends_with("-bwmon")))
            .collect()
    }

    /// The devfreq devices.
    pub fn devfreq_devices(&self) -> Vec<String> {
        names(&self.root.path("/sys/class/devfreq"))
    }

    /// The process' effective capabilities as a bit mask, if they can be read.
    pub fn effective_capabilities(&self) -> Option<u64> {
        effective_capabilities(&self.root)
    }

    /// The tree.
    pub fn root(&self) -> &Root {
        &self.root
    }
}

/// The process' effective capabilities as a bit mask, if they can be read under `root`.
pub(super) fn effective_capabilities(root: &Root) -> Option<u64> {
    let status = std::fs::read_to_string(root.path("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_is_found_by_the_device_trees_compatible() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        let base = root.path("/sys/firmware/devicetree/base");
        std::fs::create_dir_all(&base).unwrap();
        std::fs::write(base.join("compatible"), b"thundercomm,db845c\0qcom,sdm845\0").unwrap();
        let device = root.path("/sys/bus/platform/devices/1436400.pmu/of_node");
        std::fs::create_dir_all(&device).unwrap();
        std::fs::write(device.join("compatible"), b"qcom,sdm845-cpu-bwmon\0qcom,sdm845-bwmon\0")
            .unwrap();
        let machine = Machine::new(root);
        assert_eq!(machine.board().unwrap().id, "sdm845");
        assert_eq!(machine.bwmon_devices()[0].0, "1436400.pmu");
    }

    #[test]
    fn a_machine_without_a_device_tree_has_no_board() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::new(Root::at(folder.path()));
        assert!(machine.board().is_none());
        assert!(machine.bwmon_devices().is_empty());
    }
}
