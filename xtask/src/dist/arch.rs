//! The machines that packages are made for.

use anyhow::{Context, Result, bail};

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arch {
    Amd64,
    Arm64,
}

impl Arch {
    /// All of them.
    pub(crate) const ALL: [Arch; 2] = [Arch::Amd64, Arch::Arm64];

    /// The one that this runs on.
    ///
    /// # Errors
    /// When no packages are made for it.
    pub(crate) fn here() -> Result<Arch> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Arch::Amd64),
            "aarch64" => Ok(Arch::Arm64),
            other => bail!("packages are made on x86_64 and aarch64, not on {other}"),
        }
    }

    /// As Debian calls it.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Arch::Amd64 => "amd64",
            Arch::Arm64 => "arm64",
        }
    }

    /// As Rust calls it. The GNU C library is linked statically.
    pub(crate) fn triple(self) -> &'static str {
        match self {
            Arch::Amd64 => "x86_64-unknown-linux-gnu",
            Arch::Arm64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// The C compiler that links on another machine; Debian's name.
    pub(crate) fn cross_linker(self) -> &'static str {
        match self {
            Arch::Amd64 => "x86_64-linux-gnu-gcc",
            Arch::Arm64 => "aarch64-linux-gnu-gcc",
        }
    }

    /// `CARGO_TARGET_<TRIPLE>_LINKER`.
    pub(crate) fn linker_variable(self) -> String {
        let triple = self.triple().replace('-', "_").to_uppercase();
        format!("CARGO_TARGET_{triple}_LINKER")
    }
}

/// What the command line asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Which {
    Amd64,
    Arm64,
    #[default]
    All,
}

impl Which {
    /// The architectures, this machine's own first: its program writes the pages of all.
    ///
    /// # Errors
    /// When no packages are made on this machine.
    pub(crate) fn archs(self) -> Result<Vec<Arch>> {
        let here = Arch::here()?;
        let mut archs = match self {
            Which::Amd64 => vec![Arch::Amd64],
            Which::Arm64 => vec![Arch::Arm64],
            Which::All => Arch::ALL.to_vec(),
        };
        archs.sort_by_key(|arch| *arch != here);
        archs.first().context("no architecture")?;
        Ok(archs)
    }
}
