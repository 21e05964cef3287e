//! What a machine says about itself: what products are matched with.

use super::reader::{Table, Text};
use crate::diag::{Diagnostic, printable};
use serde::Serialize;
use std::fmt::Write;

/// What a machine says about itself. What it does not say is `None` or an empty list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineFacts {
    /// The device tree's root `compatible`, most specific first.
    pub dt_compatible: Vec<String>,
    /// The device tree's root `model`.
    pub dt_model: Option<String>,
    /// `soc_id` of `/sys/devices/soc0`: a number on Qualcomm SoCs.
    pub soc_id: Option<String>,
    /// `family` of `/sys/devices/soc0`.
    pub soc_family: Option<String>,
    /// `product_name` of the firmware's DMI tables.
    pub dmi_product: Option<String>,
    /// `sys_vendor` of the firmware's DMI tables.
    pub dmi_vendor: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
}

const KEYS: [&str; 7] =
    ["dt_compatible", "dt_model", "soc_id", "soc_family", "dmi_product", "dmi_vendor", "kernel"];

impl MachineFacts {
    /// The facts of another machine, from a file as [`MachineFacts::toml`] writes it.
    ///
    /// # Errors
    /// An unknown key or a wrong type, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        let text = Text::new(file, text);
        let whole = text.parse()?;
        let table = Table::new(&text, "a file of machine facts", whole.get_ref(), &KEYS)?;
        let one = |key: &str| -> Result<Option<String>, Diagnostic> {
            let Some(item) = table.get(key) else { return Ok(None) };
            if key != "soc_id" {
                return Ok(Some(clean(&item.string()?.value)));
            }
            match item.texts(true)?.as_slice() {
                [only] => Ok(Some(clean(&only.value))),
                _ => Err(item.at().fault("soc_id is one number or text, not a list")),
            }
        };
        let dt_compatible = match table.get("dt_compatible") {
            Some(item) => item.texts(false)?.iter().map(|text| clean(&text.value)).collect(),
            None => Vec::new(),
        };
        Ok(Self {
            dt_compatible,
            dt_model: one("dt_model")?,
            soc_id: one("soc_id")?,
            soc_family: one("soc_family")?,
            dmi_product: one("dmi_product")?,
            dmi_vendor: one("dmi_vendor")?,
            kernel: one("kernel")?,
        })
    }

    /// The facts as TOML, for `--facts` on another machine; what is not known stands in a comment.
    pub fn toml(&self) -> String {
        let mut out = String::new();
        let quoted = |text: &str| toml::Value::from(text).to_string();
        match self.dt_compatible.as_slice() {
            [] => out.push_str("# dt_compatible is not known\n"),
            names => {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                let _ = writeln!(out, "dt_compatible = [{}]", names.join(", "));
            }
        }
        for (key, value) in self.named() {
            let _ = match value {
                Some(value) => writeln!(out, "{key} = {}", quoted(value)),
                None => writeln!(out, "# {key} is not known"),
            };
        }
        out
    }

    fn named(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("dt_model", self.dt_model.as_deref()),
            ("soc_id", self.soc_id.as_deref()),
            ("soc_family", self.soc_family.as_deref()),
            ("dmi_product", self.dmi_product.as_deref()),
            ("dmi_vendor", self.dmi_vendor.as_deref()),
            ("kernel", self.kernel.as_deref()),
        ]
    }

    /// The fact called `key`, of those that are one text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.named().into_iter().find(|(name, _)| *name == key).and_then(|(_, value)| value)
    }
}

/// A fact as it may be shown: firmware and files do not get to change the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_as_they_were_written() {
        let facts = MachineFacts {
            dt_compatible: vec!["acme,tab10".into(), "qcom,sdm845".into()],
            dt_model: Some("Acme \"Tab\" 10".into()),
            soc_id: Some("321".into()),
            kernel: Some("6.12.9".into()),
            ..MachineFacts::default()
        };
        assert_eq!(MachineFacts::parse("f", &facts.toml()).unwrap(), facts);
        let coloured = MachineFacts::parse("f", "dt_model = \"a\\u001b[31m\"").unwrap();
        assert_eq!(coloured.dt_model.unwrap(), "a\u{fffd}[31m");
        let none = MachineFacts::default();
        assert_eq!(MachineFacts::parse("f", &none.toml()).unwrap(), none);
    }

    #[test]
    fn a_wrong_facts_file_is_an_error_at_its_key() {
        for (text, said) in [
            ("kernle = \"6\"", "did you mean kernel?"),
            ("kernel = 6", "a text in quotes"),
            ("dt_model = [\"a\", \"b\"]", "is a list"),
            ("soc_id = [1, 2]", "not a list"),
            ("soc_id = true", "whole numbers"),
            ("kernel =", "f:1:"),
        ] {
            let fault = MachineFacts::parse("f", text).unwrap_err().to_string();
            assert!(fault.contains(said), "{text}: {fault}");
        }
        assert_eq!(MachineFacts::parse("f", "soc_id = 321").unwrap().soc_id.unwrap(), "321");
    }
}
