//! What the host asked for, on the kernel command line.

use anyhow::{Context, Result};

/// The `bwmon.*` words of the kernel command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `bwmon.scenarios=a,b`: what to run, in this order.
    pub(crate) scenarios: Vec<String>,
    /// `bwmon.driver=yes`: this kernel should have its own driver for the monitor; `no`: it should
    /// not.
    pub(crate) driver: bool,
}

impl Options {
    /// The options of this boot.
    pub(crate) fn read() -> Result<Self> {
        let text = std::fs::read_to_string("/proc/cmdline").context("read /proc/cmdline")?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut options = Self::default();
        for word in text.split_whitespace() {
            if let Some(names) = word.strip_prefix("bwmon.scenarios=") {
                options.scenarios = names.split(',').map(str::to_owned).collect();
            }
            options.driver |= word == "bwmon.driver=yes";
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn scenarios_come_from_the_command_line() {
        let options = Options::parse("console=ttyAMA0 bwmon.scenarios=watching,agreeing quiet\n");
        assert_eq!(options.scenarios, ["watching", "agreeing"]);
        assert!(!options.driver && Options::parse("bwmon.driver=yes").driver);
        assert_eq!(Options::parse("quiet"), Options::default());
    }
}
