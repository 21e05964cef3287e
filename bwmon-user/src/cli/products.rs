//! Product files on this machine: the search path, names or files on the command line, and what
//! products name beside them.

use super::common;
use crate::board::{Board, builtin};
use crate::live::bundles::{DEFAULT_STORE_DIR, Store};
use crate::live::{Machine, Root};
use crate::policy::script::Source;
use crate::product::{At, Catalog, Layer, LayerFile, MachineFacts, Product, parse, shipped};
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Where product files are looked for; what comes first hides same-named files of the later. The
/// installed bundle comes between the second and the third.
const FOLDERS: [&str; 3] = ["/etc/bwmon/products", "/run/bwmon/products", USR_LIB];
const USR_LIB: &str = "/usr/lib/bwmon/products";

/// How the file names of built-in products begin.
const BUILT_IN: &str = "<built-in";

/// `--products` and `--store`.
#[derive(clap::Args, Debug, Clone, Default)]
pub(super) struct SearchArgs {
    /// A folder with product files; may be given several times, the first hides same-named files of
    /// the later [default: /etc/bwmon/products, /run/bwmon/products, the installed bundle,
    /// /usr/lib/bwmon/products; the built-in ones always come last]
    #[arg(long, value_name = "DIR")]
    pub(super) products: Vec<PathBuf>,
    /// Where bundles are installed [default: /var/lib/bwmon/bundles]
    #[arg(long, value_name = "DIR", conflicts_with = "products")]
    pub(super) store: Option<PathBuf>,
    /// The store is left aside: it cannot be read, and a machine is to be governed all the same.
    #[arg(skip)]
    pub(super) without_store: bool,
}

impl SearchArgs {
    /// The store of installed bundles.
    pub(super) fn store(&self, root: &Root) -> Store {
        Store::open(self.store.clone().unwrap_or_else(|| root.path(DEFAULT_STORE_DIR)))
    }

    /// The folders in which products are looked for, whether they are there or not.
    pub(super) fn folders(&self, root: &Root) -> Vec<PathBuf> {
        if !self.products.is_empty() {
            return self.products.clone();
        }
        let mut folders = FOLDERS.map(|folder| root.path(folder)).to_vec();
        folders.push(self.store(root).link_path());
        folders
    }

    /// The product files that count.
    pub(super) fn catalog(&self, root: &Root) -> anyhow::Result<Catalog> {
        if self.products.is_empty() {
            let current = if self.without_store { None } else { self.store(root).current()? };
            let bundle = current.map(|current| {
                let folder = current.folder.display().to_string();
                current.bundle.layer(&folder).map_err(anyhow::Error::msg)
            });
            return with_bundle(root, bundle.transpose()?);
        }
        let mut layers = Vec::new();
        for folder in &self.products {
            layers
                .push(layer(folder).with_context(|| {
                    format!("cannot look for products in {}", folder.display())
                })?);
        }
        layers.push(shipped());
        Ok(Catalog::new(layers))
    }
}

/// The product files that count where `bundle` is installed.
pub(super) fn with_bundle(root: &Root, bundle: Option<Layer>) -> anyhow::Result<Catalog> {
    let mut layers = Vec::new();
    let mut bundle = bundle;
    for folder in FOLDERS {
        if folder == USR_LIB {
            layers.extend(bundle.take());
        }
        let folder = root.path(folder);
        if folder.exists() {
            layers.push(layer(&folder)?);
        }
    }
    layers.push(shipped());
    Ok(Catalog::new(layers))
}

/// The layers that come after a bundle.
pub(super) fn below_bundles(root: &Root) -> anyhow::Result<Vec<Layer>> {
    let folder = root.path(USR_LIB);
    let mut layers = Vec::new();
    if folder.exists() {
        layers.push(layer(&folder)?);
    }
    layers.push(shipped());
    Ok(layers)
}

/// The `*.toml` files of `folder`. A link to /dev/null masks its name.
fn layer(folder: &Path) -> anyhow::Result<Layer> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(name) = name.strip_suffix(".toml").filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let masked = fs::canonicalize(&path).is_ok_and(|target| target == Path::new("/dev/null"));
        let shown = path.display().to_string();
        let text = if masked { None } else { Some(common::text_of(&shown)?) };
        files.push(LayerFile { name: name.to_owned(), path: shown, text });
    }
    Ok(Layer { place: folder.display().to_string(), bundle: None, files })
}

/// The product called `name`, or in the file `name`.
pub(super) fn named(catalog: &Catalog, name: &str) -> anyhow::Result<Product> {
    if let Some(product) = catalog.product(name) {
        return Ok(product?);
    }
    if name.contains('/') || Path::new(name).extension().is_some_and(|ending| ending == "toml") {
        return Ok(catalog.with_bases(parse(name, &common::text_of(name)?)?)?);
    }
    bail!("there is no product {name}; {}", catalog.suggestion(name))
}

/// The facts of the machine, or of another one from a file.
pub(super) fn facts(root: &Root, file: Option<&str>) -> anyhow::Result<MachineFacts> {
    match file {
        Some(file) => Ok(MachineFacts::parse(file, &common::text_of(file)?)?),
        None => Ok(Machine::new(root.clone()).facts()),
    }
}

/// The script that a product names: beside its file.
pub(super) fn script(name: &str, at: &At) -> Result<Source, String> {
    let path = beside(name, at)?;
    let text = common::text_of(&path).map_err(|error| format!("{error:#}"))?;
    Ok(Source { name: path, text })
}

/// The board that a product names: a built-in one, or a file beside its own.
pub(super) fn board(product: &Product) -> Option<anyhow::Result<Board>> {
    let board = product.board.as_ref()?;
    let found = if builtin(&board.value).is_some() || !board.value.ends_with(".toml") {
        common::board(&board.value)
    } else {
        beside(&board.value, &board.at).map_err(anyhow::Error::msg).and_then(|p| common::board(&p))
    };
    Some(found.with_context(|| format!("the board of product {}", product.title())))
}

fn beside(name: &str, at: &At) -> Result<String, String> {
    let file = at.file().unwrap_or_default();
    if file.starts_with(BUILT_IN) {
        return Err(format!("a built-in product cannot name a file: {name}"));
    }
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    Ok(folder.join(name).display().to_string())
}
