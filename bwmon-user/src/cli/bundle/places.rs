//! Where keys and installed bundles are, and reading bundles from files.

use crate::live::Root;
use crate::live::bundles::{DEFAULT_STORE_DIR, Store};
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// `--store` and `--root`.
#[derive(clap::Args)]
pub(super) struct StoreArgs {
    /// Where bundles are installed [default: /var/lib/bwmon/bundles]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    pub(super) root: RootArgs,
}

impl StoreArgs {
    pub(super) fn store(&self) -> Store {
        let standard = || self.root.root().path(DEFAULT_STORE_DIR);
        Store::open(self.store.clone().unwrap_or_else(standard))
    }
}

/// `--root`.
#[derive(clap::Args)]
pub(super) struct RootArgs {
    /// Look for /etc, /run, /usr/lib, /var/lib, /sys and /proc under this folder (an image that is
    /// being made, or a fake tree)
    #[arg(long, value_name = "DIR", default_value = "/", hide_short_help = true)]
    root: PathBuf,
}

impl RootArgs {
    pub(super) fn root(&self) -> Root {
        Root::at(&self.root)
    }
}

/// The bytes of the regular file `path`, at most `most`.
pub(super) fn bytes_of(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let kind = file.metadata().with_context(|| format!("cannot read {shown}"))?;
    if !kind.is_file() {
        bail!("{shown} is not a regular file");
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > most {
        bail!("{shown} is larger than {most} bytes");
    }
    Ok(bytes)
}

/// `path` with `.ending` behind it.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Puts `bytes` in the place of the file `path`: the old one or the new one, never a half.
pub(super) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let shown = path.display();
    let fresh = with_ending(path, &format!("new-{}", std::process::id()));
    let written = File::create_new(&fresh).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    });
    written
        .inspect_err(|_| drop(std::fs::remove_file(&fresh)))
        .with_context(|| format!("cannot write {shown}"))
}
