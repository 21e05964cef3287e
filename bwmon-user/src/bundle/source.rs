//! `bundle.toml`: what a bundle is to be made of.

use super::canary::BundleCanary;
use super::manifest::{Role, name};
use super::path;
use super::version::Version;
use crate::diag::{Diagnostic, Place};
use crate::product::KernelRange;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// What a bundle is to be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleSource {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// What it is for, in a line.
    pub what: Option<String>,
    /// The versions of bwmon that it is for.
    pub requires_bwmon: Option<String>,
    /// How its policies are tried before they take over.
    pub canary: Option<BundleCanary>,
    /// Its files, relative to the folder of `bundle.toml`.
    pub files: BTreeMap<String, (Role, Place)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    schema: Spanned<i64>,
    name: Spanned<String>,
    version: Spanned<String>,
    what: Option<Spanned<String>>,
    #[serde(default)]
    products: Vec<Spanned<String>>,
    #[serde(default)]
    policies: Vec<Spanned<String>>,
    #[serde(default)]
    specs: Vec<Spanned<String>>,
    #[serde(default)]
    traces: Vec<Spanned<String>>,
    #[serde(default)]
    boards: Vec<Spanned<String>>,
    #[serde(default)]
    extras: Vec<Spanned<String>>,
    requires: Option<Requires>,
    canary: Option<Spanned<BundleCanary>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Requires {
    bwmon: Spanned<String>,
}

/// Reads the `bundle.toml` in `text`, called `file` in errors.
///
/// # Errors
/// The first fault, with its place.
pub fn parse(file: &str, text: &str) -> Result<BundleSource, Diagnostic> {
    let raw: Raw =
        toml::from_str(text).map_err(|error| Diagnostic::from_toml(file, text, &error))?;
    let place = |start: usize| Place::at_byte(text, start);
    let fault = |start: usize, why: String| Diagnostic::new(file, why).at(place(start));
    if *raw.schema.get_ref() != 1 {
        let message = format!("bundle schema {} is not known", raw.schema.get_ref());
        return Err(fault(raw.schema.span().start, message).help("this bwmon writes schema 1"));
    }
    name(raw.name.get_ref()).map_err(|why| fault(raw.name.span().start, why))?;
    let version =
        raw.version.get_ref().parse().map_err(|why| fault(raw.version.span().start, why))?;
    if let Some(what) = &raw.what
        && what.get_ref().chars().any(char::is_control)
    {
        return Err(fault(what.span().start, "what has to be one plain line".into()));
    }
    if let Some(Requires { bwmon }) = &raw.requires {
        KernelRange::parse(bwmon.get_ref()).map_err(|_| {
            fault(bwmon.span().start, format!("\"{}\" is no range of versions", bwmon.get_ref()))
                .help("write comparisons with commas between them, such as \">=0.1, <1\"")
        })?;
    }
    if let Some(canary) = &raw.canary {
        canary.get_ref().terms().map_err(|why| fault(canary.span().start, why))?;
    }
    if raw.products.is_empty() {
        return Err(Diagnostic::new(file, "the bundle has no products")
            .help("write products = [\"acme.toml\"]; what no product names is never used"));
    }
    let lists = [
        (Role::Product, &raw.products),
        (Role::Policy, &raw.policies),
        (Role::Spec, &raw.specs),
        (Role::Trace, &raw.traces),
        (Role::Board, &raw.boards),
        (Role::Extra, &raw.extras),
    ];
    let mut files: BTreeMap<String, (Role, Place)> = BTreeMap::new();
    for (role, list) in lists {
        for item in list {
            let (path, start) = (item.get_ref(), item.span().start);
            path::check(path).map_err(|why| fault(start, why))?;
            let ending = match role {
                Role::Product | Role::Board => Some(".toml"),
                Role::Policy => Some(".rhai"),
                Role::Spec => Some(".spec.toml"),
                Role::Trace | Role::Extra => None,
            };
            if let Some(ending) = ending.filter(|ending| !path.ends_with(ending)) {
                return Err(fault(start, format!("a {} ends in {ending}", role.name())));
            }
            if files.insert(path.clone(), (role, place(start))).is_some() {
                return Err(fault(start, format!("{path} is listed twice")));
            }
        }
    }
    Ok(BundleSource {
        name: raw.name.into_inner(),
        version,
        what: raw.what.map(Spanned::into_inner),
        requires_bwmon: raw.requires.map(|requires| requires.bwmon.into_inner()),
        canary: raw.canary.map(Spanned::into_inner),
        files,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"schema = 1
name = "acme"
version = "1.0.0"
what = "Acme tablets"
products = ["acme.toml"]
policies = ["policies/room.rhai"]
specs = ["policies/room.spec.toml"]
traces = ["traces/idle.jsonl"]
[requires]
bwmon = ">=0.1"
[canary]
ms = 60_000
rule = "faults<=0"
"#;

    #[test]
    fn every_file_has_its_role() {
        let source = parse("bundle.toml", GOOD).unwrap();
        let roles: Vec<_> =
            source.files.iter().map(|(path, (role, _))| (path.as_str(), *role)).collect();
        assert_eq!(
            roles,
            [
                ("acme.toml", Role::Product),
                ("policies/room.rhai", Role::Policy),
                ("policies/room.spec.toml", Role::Spec),
                ("traces/idle.jsonl", Role::Trace),
            ]
        );
        assert_eq!(source.version.to_string(), "1.0.0");
        assert_eq!(source.requires_bwmon.as_deref(), Some(">=0.1"));
        let (ms, rule) = source.canary.unwrap().terms().unwrap();
        assert_eq!((ms, rule.to_string().as_str()), (60_000, "faults<=0"));
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_is_written() {
        for (from, to, words) in [
            ("products =", "prodcuts =", &["did you mean products?", "bundle.toml:5:1"][..]),
            ("bwmon = \">", "bwmom = \">", &["bwmom", "bundle.toml:10:1"]),
            ("schema = 1", "schema = 2", &["schema 2 is not known", "1:10"]),
            ("\"acme\"", "\"Acme\"", &["small letters", "2:8"]),
            ("1.0.0", "1.0", &["three numbers", "3:11"]),
            ("[\"acme.toml\"]", "[]", &["no products"]),
            ("\"acme.toml\"", "\"../acme.toml\"", &["leads out", "5:13"]),
            ("\"acme.toml\"", "\"acme.txt\"", &["a product ends in .toml"]),
            ("traces/idle.jsonl", "acme.toml", &["listed twice", "8:11"]),
            (">=0.1", "new", &["no range of versions", "10:9"]),
            ("60_000", "0", &["a canary of 0 ms: write 1 to 86400000"]),
            ("faults<", "falts<", &["falts", "faults"]),
            ("ms = 60_000\n", "", &["missing field `ms`"]),
            ("schema = 1\n", "", &["missing field `schema`"]),
            ("Acme tablets", "a\\u001b[31m", &["one plain line"]),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let said = parse("bundle.toml", &GOOD.replacen(from, to, 1)).unwrap_err().to_string();
            for word in words {
                assert!(said.contains(word), "{word}: {said}");
            }
        }
    }
}
