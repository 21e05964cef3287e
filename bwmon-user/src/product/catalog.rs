//! The product files of a machine: folders of which the first hides same-named files of the later.

use super::inherit::merge;
use super::{Product, parse};
use crate::diag::{Diagnostic, did_you_mean};
use crate::journal::BundleRecord;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bases that a product may stand on, one on another.
pub const MAX_BASES: usize = 4;

/// A folder with product files, those of the installed bundle, or those in the binary.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// What it is called: the folder, `bundle NAME VERSION` or `built-in`.
    pub place: String,
    /// The bundle, if it is one.
    pub bundle: Option<BundleRecord>,
    /// Its files.
    pub files: Vec<LayerFile>,
}

/// A file of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerFile {
    /// Its name in its folder without `.toml`: that of the product.
    pub name: String,
    /// Its name in errors.
    pub path: String,
    /// Its text; `None` for a link to `/dev/null`, which masks the name.
    pub text: Option<String>,
}

/// A file that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The file.
    pub path: String,
    /// The file of an earlier folder that hides it.
    pub by: String,
}

/// Where a file that counts stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As in [`Layer`].
    pub name: String,
    /// As in [`Layer`].
    pub bundle: Option<BundleRecord>,
}

/// The product files that count.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    visible: BTreeMap<String, (LayerFile, Arc<Place>)>,
    hidden: Vec<Hidden>,
}

impl Catalog {
    /// The files of `layers`, of which the first counts most.
    pub fn new(layers: Vec<Layer>) -> Self {
        let mut catalog = Self::default();
        for Layer { place, bundle, files } in layers {
            let place = Arc::new(Place { name: place, bundle });
            for file in files {
                match catalog.visible.get(&file.name) {
                    Some((first, _)) => {
                        let by = first.path.clone();
                        catalog.hidden.push(Hidden { path: file.path, by });
                    }
                    None => {
                        catalog.visible.insert(file.name.clone(), (file, place.clone()));
                    }
                }
            }
        }
        catalog
    }

    /// Where the file of the product `name` stands.
    pub fn place(&self, name: &str) -> Option<&Place> {
        self.visible.get(name).map(|(_, place)| &**place)
    }

    /// Where the file `path` stands.
    pub fn place_of(&self, path: &str) -> Option<&Place> {
        let is = |(file, _): &&(LayerFile, Arc<Place>)| file.path == path;
        self.visible.values().find(is).map(|(_, place)| &**place)
    }

    /// Files that do not count because an earlier folder has one of the same name.
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// The bundle that `product` or one of its bases came in.
    pub fn bundle_of(&self, product: &Product) -> Option<&BundleRecord> {
        let mut files = std::iter::once(&product.file).chain(&product.bases);
        files.find_map(|file| self.place_of(file)?.bundle.as_ref())
    }

    /// Names of the products that are not masked.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let counts = |(file, _): &&(LayerFile, Arc<Place>)| file.text.is_some();
        self.visible.values().filter(counts).map(|(file, _)| file.name.as_str())
    }

    /// Every product, bases merged in, by name.
    ///
    /// # Errors
    /// The first file that is wrong.
    pub fn all(&self) -> Result<Vec<Product>, Diagnostic> {
        self.names().map(|name| self.product(name).unwrap_or_else(|| Err(gone(name)))).collect()
    }

    /// The product called `name`, bases merged in; `None` if there is none.
    pub fn product(&self, name: &str) -> Option<Result<Product, Diagnostic>> {
        self.own(name).map(|product| product.and_then(|product| self.with_bases(product)))
    }

    /// What to say about a name that no product has.
    pub fn suggestion(&self, name: &str) -> String {
        match did_you_mean(name, self.names()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", self.names().collect::<Vec<_>>().join(", ")),
        }
    }

    /// The file of `name`, without its bases.
    fn own(&self, name: &str) -> Option<Result<Product, Diagnostic>> {
        let (file, _) = self.visible.get(name)?;
        let product = parse(&file.path, file.text.as_deref()?);
        Some(product.and_then(|product| {
            if product.name.value == name {
                return Ok(product);
            }
            let message =
                format!("the product is called {} in a file {name}.toml", product.name.value);
            Err(product.name.at.fault(message).help("both have to agree; rename one of them"))
        }))
    }

    /// `product` with its bases merged in.
    ///
    /// # Errors
    /// A base that is not there or wrong, a circle, too many, a limit that is looser than a base's,
    /// or a product that would fit every machine.
    pub fn with_bases(&self, product: Product) -> Result<Product, Diagnostic> {
        let mut chain = Vec::new();
        let mut merged = product;
        while let Some(extends) = merged.extends.clone() {
            let name = &extends.value;
            let base = self.own(name).unwrap_or_else(|| {
                let fault = extends.at.fault(format!("there is no product {name} to extend"));
                Err(match self.visible.get(name) {
                    Some((mask, _)) => fault.help(format!("{} masks it", mask.path)),
                    None => fault.help(self.suggestion(name)),
                })
            })?;
            chain.push(std::mem::replace(&mut merged, base));
            if chain.iter().any(|product| product.name.value == *name) {
                let names = chain.iter().map(|product| product.name.value.as_str());
                let circle: Vec<&str> = names.chain([name.as_str()]).collect();
                let message =
                    format!("products extend each other in a circle: {}", circle.join(" > "));
                return Err(extends.at.fault(message));
            }
            if chain.len() > MAX_BASES {
                let message = format!("more than {MAX_BASES} bases, one on another");
                return Err(extends.at.fault(message).help("merge some of them into one"));
            }
        }
        while let Some(child) = chain.pop() {
            merged = merge(&merged, &child)?;
        }
        if merged.matching.keys.is_empty() && !merged.is_abstract {
            let message = format!("the product {} says no machine", merged.name.value);
            return Err(merged.name.at.fault(message).help(
                "write [match], or abstract = true for a base; kernel = \">=0\" fits every Linux",
            ));
        }
        Ok(merged)
    }
}

/// Never seen: names come from the files.
fn gone(name: &str) -> Diagnostic {
    Diagnostic::new(name, "no such product")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A layer in the folder `place`; an empty text masks.
    pub(crate) fn layer(place: &str, files: &[(&str, &str)]) -> Layer {
        let file = |(name, text): &(&str, &str)| LayerFile {
            name: (*name).into(),
            path: format!("{place}/{name}.toml"),
            text: (!text.is_empty()).then(|| format!("schema = 1\nname = \"{name}\"\n{text}")),
        };
        Layer { place: place.into(), bundle: None, files: files.iter().map(file).collect() }
    }

    const ANY: &str = "[match]\nkernel = \">=0\"\n";

    fn fault(files: &[(&str, &str)], name: &str) -> String {
        Catalog::new(vec![layer("d", files)]).product(name).unwrap().unwrap_err().to_string()
    }

    #[test]
    fn the_first_folder_hides_same_named_files_of_the_later_ones() {
        let etc = layer("/etc", &[("a", ANY), ("b", "")]);
        let usr = layer("/usr", &[("a", "broken"), ("b", ANY), ("c", ANY)]);
        let catalog = Catalog::new(vec![etc, usr]);
        let files: Vec<_> = catalog.all().unwrap().iter().map(|p| p.file.to_string()).collect();
        // b is masked, a broken file that is hidden breaks nothing.
        assert_eq!(files, ["/etc/a.toml", "/usr/c.toml"]);
        assert!(catalog.product("b").is_none());
        let hidden: Vec<_> = catalog.hidden().iter().map(|h| (&*h.path, &*h.by)).collect();
        assert_eq!(hidden, [("/usr/a.toml", "/etc/a.toml"), ("/usr/b.toml", "/etc/b.toml")]);
    }

    #[test]
    fn a_base_is_found_in_any_folder_and_is_the_one_that_counts() {
        let etc = layer(
            "/etc",
            &[("acme", "extends = \"soc\""), ("soc", &format!("period_us = 4000\n{ANY}"))],
        );
        let usr = layer("/usr", &[("soc", &format!("period_us = 8000\n{ANY}"))]);
        let acme = Catalog::new(vec![etc, usr]).product("acme").unwrap().unwrap();
        assert_eq!(acme.period_us.unwrap().value, 4_000);
        assert_eq!(acme.bases, ["/etc/soc.toml".into()]);
    }

    #[test]
    fn a_missing_base_and_a_circle_are_errors_where_they_are_written() {
        let said = fault(&[("a", "extends = \"bass\""), ("base", "abstract = true")], "a");
        assert!(said.contains("no product bass") && said.contains("did you mean base?"), "{said}");
        assert!(said.contains("d/a.toml:3:11"), "{said}");
        let said = fault(
            &[("a", "extends = \"b\""), ("b", "extends = \"c\""), ("c", "extends = \"b\"")],
            "a",
        );
        assert!(said.contains("a > b > c > b") && said.contains("d/c.toml:3"), "{said}");
        let said = fault(&[("a", "extends = \"b\""), ("b", "")], "a");
        assert!(said.contains("d/b.toml masks it"), "{said}");
        let said = fault(&[("a", "extends = \"a\"")], "a");
        assert!(said.contains("a > a"), "{said}");
    }

    #[test]
    fn four_bases_are_allowed_and_five_are_not() {
        let files = |last: &'static str| {
            [
                ("a", "extends = \"b\""),
                ("b", "extends = \"c\""),
                ("c", "extends = \"d\""),
                ("d", "extends = \"e\""),
                ("e", last),
                ("f", ANY),
            ]
        };
        let catalog = Catalog::new(vec![layer("d", &files(ANY))]);
        assert_eq!(catalog.product("a").unwrap().unwrap().bases.len(), 4);
        let said = fault(&files("extends = \"f\""), "a");
        assert!(said.contains("more than 4 bases") && said.contains("d/e.toml"), "{said}");
    }

    #[test]
    fn a_product_has_the_name_of_its_file_and_says_for_which_machines_it_is() {
        let mut wrong = layer("d", &[("a", ANY)]);
        wrong.files[0].name = "b".into();
        let said = Catalog::new(vec![wrong]).product("b").unwrap().unwrap_err().to_string();
        assert!(said.contains("called a in a file b.toml"), "{said}");
        assert!(fault(&[("a", "period_us = 4000")], "a").contains("says no machine"));
        let inherited = [("a", "extends = \"b\""), ("b", "abstract = true\n[match]\nsoc_id = 1")];
        let catalog = Catalog::new(vec![layer("d", &inherited)]);
        let a = catalog.product("a").unwrap().unwrap();
        assert!(a.matching.keys.len() == 1 && !a.is_abstract);
    }
}
