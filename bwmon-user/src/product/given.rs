//! What the command line says over a product: a preset, tunables, limits.

use super::Product;
use super::at::{At, Sourced};
use super::limits::{LimitKey, Limits};
use crate::board::Board;
use crate::diag::{Diagnostic, did_you_mean};
use std::str::FromStr;

/// What the command line says over a product, or without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `--preset`.
    pub preset: Option<String>,
    /// `--set`: tunables and their values as written.
    pub set: Vec<(String, String)>,
    /// `--limit`, `--min-level`, `--max-level`.
    pub limits: Vec<GivenLimit>,
}

/// A limit from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenLimit {
    /// The domain; `None` for all.
    pub domain: Option<String>,
    /// Which limit.
    pub key: LimitKey,
    /// Its value.
    pub value: i64,
    /// The option as written, for errors and for tables.
    pub option: String,
}

/// `[DOMAIN.]LIMIT=VALUE`.
impl FromStr for GivenLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write LIMIT=VALUE or DOMAIN.LIMIT=VALUE, such as ddr.min_kBps=800000";
        let (name, value) = text.split_once('=').ok_or(form)?;
        let (domain, name) = match name.rsplit_once('.') {
            Some((domain, name)) if !domain.is_empty() => (Some(domain.to_owned()), name),
            Some(_) => return Err(form.into()),
            None => (None, name),
        };
        let key = LimitKey::named(name)?;
        let number: Option<i64> = value.replace('_', "").parse().ok();
        let value = number.filter(|number| key.range().contains(number)).ok_or_else(|| {
            let range = key.range();
            format!("{name} is a whole number from {} to {}", range.start(), range.end())
        })?;
        Ok(Self { domain, key, value, option: format!("--limit {text}") })
    }
}

impl Given {
    /// The limits for the domain called `name`: those for it over those for all.
    fn limits_of(&self, name: &str) -> Limits {
        let of = |one: bool| {
            let these = self.limits.iter().filter(move |limit| match &limit.domain {
                Some(domain) => one && domain == name,
                None => !one,
            });
            let sourced = |limit: &GivenLimit| {
                let at = At::Given(limit.option.clone());
                (limit.key, Sourced { value: limit.value, at })
            };
            Limits(these.map(sourced).collect())
        };
        of(false).under(&of(true))
    }
}

/// The limits of every domain of `board`, in its order: those of `product`, tightened by `given`.
///
/// # Errors
/// A limit for a domain that the board does not have, or one that is looser than the product's.
pub fn domain_limits(
    product: Option<&Product>,
    board: &Board,
    given: &Given,
) -> Result<Vec<Limits>, Diagnostic> {
    for limit in &given.limits {
        if let Some(name) = &limit.domain
            && board.domain_index(name).is_none()
        {
            let at = At::Given(limit.option.clone());
            return Err(no_domain(board, name, &at));
        }
    }
    let limits = |name: &str| {
        let base = product.map(|product| product.settings_of(name).limits).unwrap_or_default();
        let over = given.limits_of(name);
        base.tightened_by(&over)?;
        Ok(base.under(&over))
    };
    board.domains.iter().map(|domain| limits(&domain.name)).collect()
}

/// A domain that `board` does not have.
pub(super) fn no_domain(board: &Board, name: &str, at: &At) -> Diagnostic {
    let names = || board.domains.iter().map(|domain| domain.name.as_str());
    let fault = at.fault(format!("the board {} has no domain {name}", board.id));
    match did_you_mean(name, names()) {
        Some(near) => fault.help(format!("did you mean {near}?")),
        None => fault.help(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::product::parse;

    fn given(limits: &[&str]) -> Given {
        let limits = limits.iter().map(|text| text.parse().unwrap()).collect();
        Given { limits, ..Given::default() }
    }

    fn values(limits: &Limits) -> Vec<(&'static str, i64)> {
        limits.0.iter().map(|(key, limit)| (key.name(), limit.value)).collect()
    }

    #[test]
    fn a_limit_is_written_for_all_domains_or_for_one() {
        let limit: GivenLimit = "ddr-cpu0.min_kBps=800_000".parse().unwrap();
        assert_eq!((limit.domain.as_deref(), limit.value), (Some("ddr-cpu0"), 800_000));
        for (text, said) in [
            ("min_kBps", "DOMAIN.LIMIT=VALUE"),
            (".min_kBps=1", "DOMAIN.LIMIT=VALUE"),
            ("ddr.min_kbps=1", "did you mean min_kBps?"),
            ("min_level=x", "whole number from 0 to 63"),
            ("max_step_down=0", "from 1 to 63"),
        ] {
            assert!(text.parse::<GivenLimit>().unwrap_err().contains(said), "{text}");
        }
    }

    #[test]
    fn one_domains_limit_goes_over_that_for_all_and_over_the_products() {
        let board = builtin("sdm845").unwrap().unwrap();
        let text = "schema = 1\nname = \"p\"\n[limits]\nmin_level = 1\nmin_dwell_ms = 4";
        let product = parse("p.toml", text).unwrap();
        let given = given(&["min_level=2", "ddr.min_level=3"]);
        let limits = domain_limits(Some(&product), &board, &given).unwrap();
        // llcc, ddr, l3.
        assert_eq!(values(&limits[0]), [("min_level", 2), ("min_dwell_ms", 4)]);
        assert_eq!(values(&limits[1]), [("min_level", 3), ("min_dwell_ms", 4)]);
        assert_eq!(limits[1].0[&LimitKey::MinLevel].at.to_string(), "--limit ddr.min_level=3");
    }

    #[test]
    fn the_command_line_may_not_loosen_a_product_nor_name_a_domain_that_is_not_there() {
        let board = builtin("sdm845").unwrap().unwrap();
        let product = parse("p.toml", "schema = 1\nname = \"p\"\n[limits]\nmin_level = 1").unwrap();
        let loose = domain_limits(Some(&product), &board, &given(&["ddr.min_level=0"]));
        let shown = loose.unwrap_err().to_string();
        assert!(shown.contains("p.toml:4") && shown.contains("--limit ddr.min_level=0"), "{shown}");
        let shown = domain_limits(None, &board, &given(&["dddr.min_level=0"])).unwrap_err();
        assert_eq!(shown.help.as_deref(), Some("did you mean ddr?"));
    }
}
