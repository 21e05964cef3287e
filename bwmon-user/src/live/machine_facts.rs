//! What the machine says about itself, for choosing a product.

use super::machine::Machine;
use super::root::{read_line, strings};
use crate::product::{MachineFacts, clean};

impl Machine {
    /// Device tree, SoC, firmware and kernel, as far as this machine has them.
    pub fn facts(&self) -> MachineFacts {
        let text = |path: &str| {
            let found = read_line(&self.root().path(path)).ok().filter(|text| !text.is_empty());
            found.map(|text| clean(&text))
        };
        // `model` is a device-tree string: it ends with a NUL.
        let model = strings(&self.root().path("/sys/firmware/devicetree/base/model"));
        MachineFacts {
            dt_compatible: self.compatible().iter().map(|name| clean(name)).collect(),
            dt_model: model.first().map(|model| clean(model)),
            soc_id: text("/sys/devices/soc0/soc_id"),
            soc_family: text("/sys/devices/soc0/family"),
            dmi_product: text("/sys/class/dmi/id/product_name"),
            dmi_vendor: text("/sys/class/dmi/id/sys_vendor"),
            kernel: text("/proc/sys/kernel/osrelease"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Root;

    #[test]
    fn facts_are_read_where_they_are_and_unknown_where_they_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::new(Root::at(folder.path()));
        assert_eq!(machine.facts(), MachineFacts::default());
        let files: [(&str, &[u8]); 6] = [
            ("sys/firmware/devicetree/base/compatible", b"acme,tab10\0qcom,sdm845\0"),
            ("sys/firmware/devicetree/base/model", b"Acme Tab 10\0"),
            ("sys/devices/soc0/soc_id", b"321\n"),
            ("sys/devices/soc0/family", b"\n"),
            ("sys/class/dmi/id/product_name", b"Tab 10 \n"),
            ("proc/sys/kernel/osrelease", b"6.12.9-arm64\n"),
        ];
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let wanted = MachineFacts {
            dt_compatible: vec!["acme,tab10".into(), "qcom,sdm845".into()],
            dt_model: Some("Acme Tab 10".into()),
            soc_id: Some("321".into()),
            // An empty file says nothing.
            soc_family: None,
            dmi_product: Some("Tab 10".into()),
            dmi_vendor: None,
            kernel: Some("6.12.9-arm64".into()),
        };
        assert_eq!(machine.facts(), wanted);
    }
}
