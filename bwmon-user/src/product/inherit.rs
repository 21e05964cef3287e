//! A product over its base: tables merge key by key, limits are only tightened.

use super::{Product, Sourced};
use crate::diag::Diagnostic;

/// `child` over `base`, whose own bases are merged in already.
///
/// # Errors
/// A limit of the child that allows more than the base's, with both places.
pub(super) fn merge(base: &Product, child: &Product) -> Result<Product, Diagnostic> {
    base.settings.limits.tightened_by(&child.settings.limits)?;
    for (name, domain) in &child.domains {
        base.settings_of(name).limits.tightened_by(&domain.value.limits)?;
    }
    let mut merged = child.clone();
    merged.bases.push(base.file.clone());
    merged.bases.extend(base.bases.iter().cloned());
    let mut keys = base.matching.keys.clone();
    keys.extend(child.matching.keys.clone());
    merged.matching.keys = keys;
    let matching = &mut merged.matching;
    matching.priority = child.matching.priority.clone().or_else(|| base.matching.priority.clone());
    merged.board = child.board.clone().or_else(|| base.board.clone());
    merged.period_us = child.period_us.clone().or_else(|| base.period_us.clone());
    let default = base.settings.policy_name();
    merged.settings = base.settings.under(&child.settings, default);
    let other_default = merged.settings.policy_name() != default;
    for (name, domain) in &base.domains {
        let mut settings = domain.value.clone();
        let own = settings.policy.as_ref().map_or(default, |policy| &policy.value).to_owned();
        if other_default && settings.policy.is_none() {
            // They were written for the base's default, which is gone.
            settings.preset = None;
            settings.params.clear();
        }
        let value = match child.domains.get(name) {
            Some(over) => settings.under(&over.value, &own),
            None => settings,
        };
        merged.domains.insert(name.clone(), Sourced { value, at: domain.at.clone() });
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;
    use crate::decide::Unvoted;
    use crate::product::parse;
    use proptest::prelude::*;

    fn product(name: &str, rest: &str) -> Product {
        let text = format!("schema = 1\nname = \"{name}\"\n{rest}");
        parse(&format!("{name}.toml"), &text).unwrap()
    }

    fn merged(base: &str, child: &str) -> Result<Product, Diagnostic> {
        merge(&product("base", base), &product("child", child))
    }

    #[test]
    fn tables_merge_key_by_key_and_the_childs_own_lines_stay_its_own() {
        let both = merged(
            "version = \"1\"\nperiod_us = 4000\n[match]\nsoc_id = [1]\nkernel = \">6\"\n\
             [policy]\nname = \"bw_hwmon\"\npreset = \"a\"\nparams = { x = 1, y = 2 }",
            "[match]\nkernel = \">7\"\n[policy]\nparams = { y = 3 }",
        )
        .unwrap();
        assert_eq!((both.name.value.as_str(), &both.version), ("child", &None));
        assert_eq!(both.bases, ["base.toml".into()]);
        let places: Vec<String> = both.matching.keys.values().map(|k| k.at.to_string()).collect();
        assert_eq!(places, ["base.toml:6", "child.toml:4"]);
        let settings = &both.settings;
        assert_eq!(settings.policy.as_ref().unwrap().value, "bw_hwmon");
        assert_eq!(settings.preset.as_ref().unwrap().value, "a");
        let params: Vec<String> =
            settings.params.iter().map(|(n, v)| format!("{n}={} {}", v.value, v.at)).collect();
        assert_eq!(params, ["x=1 base.toml:11", "y=3 child.toml:6"]);
        assert_eq!(both.period_us.unwrap().at.to_string(), "base.toml:4");
    }

    #[test]
    fn another_policy_starts_without_the_presets_and_tunables_of_the_old_one() {
        let base = "[policy]\nname = \"bw_hwmon\"\npreset = \"a\"\nparams = { x = 1 }\n\
                    [domain.ddr]\npreset = \"b\"\n[domain.llcc]\npolicy = \"ondemand\"\n\
                    params = { z = 1 }\nlimits = { min_level = 1 }";
        let other = merged(base, "[policy]\nname = \"bwmon\"").unwrap();
        assert!(other.settings.preset.is_none() && other.settings.params.is_empty());
        assert!(other.settings_of("ddr").preset.is_none());
        assert_eq!(other.settings_of("llcc").params.len(), 1, "it names its policy itself");
        let same = merged(base, "[policy]\nname = \"bw_hwmon\"\nparams = { y = 1 }").unwrap();
        assert_eq!(same.settings.params.len(), 2);
        assert_eq!(same.settings_of("ddr").preset.unwrap().value, "b");
        let one = merged(base, "[domain.llcc]\npolicy = \"bwmon\"").unwrap();
        let llcc = one.settings_of("llcc");
        assert!(llcc.params.is_empty() && llcc.limits.0.len() == 1, "limits are no tunables");
    }

    #[test]
    fn a_looser_limit_is_refused_with_both_places_for_all_and_for_one_domain() {
        let base = "[limits]\nmin_kBps = 800000\n[domain.ddr.limits]\nmax_level = 3\n";
        for child in [
            "[limits]\nmin_kBps = 1804000",
            "[domain.ddr.limits]\nmax_level = 2\nmin_kBps = 900000",
            "[domain.llcc.limits]\nmax_level = 4",
        ] {
            merged(base, child).unwrap();
        }
        for (child, places) in [
            ("[limits]\nmin_kBps = 799999", ["child.toml:4", "base.toml:4"]),
            ("[domain.ddr.limits]\nmax_level = 4", ["child.toml:4", "base.toml:6"]),
            // The base says it for all domains, the child for one.
            ("[domain.llcc.limits]\nmin_kBps = 0", ["child.toml:4", "base.toml:4"]),
        ] {
            let shown = merged(base, child).unwrap_err().to_string();
            assert!(places.iter().all(|place| shown.contains(place)), "{child}: {shown}");
        }
    }

    fn some_limits() -> impl Strategy<Value = String> {
        let scopes = prop::sample::subsequence(vec!["", "domain.ddr.", "domain.llcc."], 0..=3);
        (scopes, prop::collection::vec((0usize..4, 0i64..5), 0..5)).prop_map(|(scopes, pairs)| {
            let mut text = String::new();
            for (at, scope) in scopes.iter().enumerate() {
                text += &format!("[{scope}limits]\n");
                let mut seen = [false; 4];
                for (key, value) in pairs.iter().skip(at) {
                    let name = ["min_level", "max_level", "min_dwell_ms", "max_step_down"][*key];
                    if !std::mem::replace(&mut seen[*key], true) {
                        text += &format!("{name} = {}\n", value + i64::from(*key == 3));
                    }
                }
            }
            text
        })
    }

    proptest! {
        #[test]
        fn no_domain_of_a_merged_product_may_do_what_the_base_forbids(
            base in some_limits(), child in some_limits(),
        ) {
            let Ok(both) = merged(&base, &child) else { return Ok(()) };
            let base = product("base", &base);
            let board = builtin("sdm845").unwrap().unwrap();
            for domain in &board.domains {
                let rails = |product: &Product| {
                    product.settings_of(&domain.name).limits.rails(domain, Unvoted::Top)
                };
                let (Ok(old), Ok(new)) = (rails(&base), rails(&both)) else { continue };
                prop_assert!(new.min_level >= old.min_level && new.max_level <= old.max_level);
                prop_assert!(new.min_dwell_ms >= old.min_dwell_ms);
                let bound = |n: usize| if n == 0 { usize::MAX } else { n };
                prop_assert!(bound(new.max_step_down) <= bound(old.max_step_down));
            }
        }
    }
}
