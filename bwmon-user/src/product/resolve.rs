//! Which product is meant for a machine: the one that fits most closely. Two that fit equally are an
//! error, never a choice by the order of files.

use super::matching::{Fit, MatchKey, Rank};
use super::{MachineFacts, Product};
use crate::diag::Diagnostic;
use std::cmp::Reverse;

/// A product and how it stands to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// How it stands.
    pub fit: Fit,
}

impl Candidate {
    /// Why it fits or does not, in words.
    pub fn why(&self) -> String {
        match &self.fit {
            Fit::Fits(rank) => rank.to_string(),
            Fit::Fails { key, why } => format!("{}: {why}", key.name()),
            Fit::Abstract => "only a base for others".into(),
        }
    }
}

/// How all products stand to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// All of them, the closest first.
    pub candidates: Vec<Candidate>,
    tie: Option<Diagnostic>,
}

impl Resolution {
    /// The product that is meant for the machine; `None` if there is none.
    ///
    /// # Errors
    /// When several fit equally; all of them are named.
    pub fn chosen(&self) -> Result<Option<&Candidate>, Diagnostic> {
        if let Some(tie) = &self.tie {
            return Err(tie.clone());
        }
        Ok(self.candidates.first().filter(|first| matches!(first.fit, Fit::Fits(_))))
    }
}

/// How `product` stands to the machine of `facts`.
pub fn stands(product: &Product, facts: &MachineFacts) -> Candidate {
    let fit = if product.is_abstract { Fit::Abstract } else { product.matching.fit(facts) };
    Candidate { name: product.name.value.clone(), file: product.file.to_string(), fit }
}

/// How `products` stand to the machine of `facts`. Their order does not matter.
pub fn resolve(products: &[Product], facts: &MachineFacts) -> Resolution {
    let mut candidates: Vec<(Candidate, &Product)> =
        products.iter().map(|product| (stands(product, facts), product)).collect();
    candidates.sort_by_cached_key(|(candidate, _)| {
        let (group, order) = match &candidate.fit {
            Fit::Fits(rank) => (0, rank.order()),
            Fit::Fails { .. } => (1, (0, Reverse(0), Reverse(0))),
            Fit::Abstract => (2, (0, Reverse(0), Reverse(0))),
        };
        (group, order, candidate.name.clone(), candidate.file.clone())
    });
    let equal: Vec<(&Candidate, &Product, &Rank)> = candidates
        .iter()
        .filter_map(|(candidate, product)| match &candidate.fit {
            Fit::Fits(rank) => Some((candidate, *product, rank)),
            _ => None,
        })
        .collect();
    let equal = match equal.first() {
        Some((.., best)) => {
            let end = equal.iter().take_while(|(.., rank)| rank.order() == best.order()).count();
            equal.get(..end).unwrap_or_default()
        }
        None => &[],
    };
    let tie = tie(equal);
    Resolution { candidates: candidates.into_iter().map(|(candidate, _)| candidate).collect(), tie }
}

fn tie(equal: &[(&Candidate, &Product, &Rank)]) -> Option<Diagnostic> {
    let [(first, ..), .., (_, last, rank)] = equal else { return None };
    let each = |(candidate, _, rank): &(&Candidate, &Product, &Rank)| {
        format!("{} ({}) by {rank}", candidate.name, candidate.file)
    };
    let each: Vec<String> = equal.iter().map(each).collect();
    let key = match rank.compatible {
        Some(_) => MatchKey::DtCompatible,
        None => *rank.keys.first()?,
    };
    let message = format!("{} products fit this machine equally: {}", each.len(), each.join("; "));
    let fault = match last.matching.keys.get(&key) {
        Some(test) => test.at.fault(message),
        None => Diagnostic::new(&*last.file, message),
    };
    Some(fault.help(format!(
        "give one of them a higher priority in [match] or one key more, mask one, or choose with \
         --product {}",
        first.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product::catalog::tests::layer;
    use crate::product::{Catalog, Layer};
    use proptest::prelude::*;

    fn facts() -> MachineFacts {
        MachineFacts {
            dt_compatible: ["acme,tab10", "qcom,sdm845"].map(Into::into).into(),
            soc_id: Some("321".into()),
            kernel: Some("6.12.9".into()),
            ..MachineFacts::default()
        }
    }

    const SOC: &str = "[match]\ndt_compatible = [\"qcom,sdm845\"]\n";
    const BOARD: &str = "[match]\ndt_compatible = [\"acme,tab1?\"]\n";

    fn resolved(files: &[(&str, &str)]) -> Resolution {
        resolve(&Catalog::new(vec![layer("/d", files)]).all().unwrap(), &facts())
    }

    #[test]
    fn the_boards_own_compatible_beats_the_socs_and_all_verdicts_are_told() {
        let found = resolved(&[
            ("base", "abstract = true"),
            ("other", "[match]\ndt_compatible = [\"acme,tab11\"]"),
            ("soc", &format!("{SOC}soc_id = 321\nkernel = \">=6\"\npriority = 9")),
            ("tab", BOARD),
        ]);
        assert_eq!(found.chosen().unwrap().unwrap().name, "tab");
        let told: Vec<String> =
            found.candidates.iter().map(|c| format!("{}: {}", c.name, c.why())).collect();
        assert_eq!(
            told,
            [
                "tab: dt_compatible acme,tab10 (place 1 of the machine's list)",
                "soc: dt_compatible qcom,sdm845 (place 2 of the machine's list), soc_id, kernel, \
                 priority 9",
                "other: dt_compatible: none of acme,tab11 in [acme,tab10, qcom,sdm845]",
                "base: only a base for others",
            ]
        );
    }

    #[test]
    fn products_that_fit_equally_are_an_error_that_names_all_of_them_and_the_key() {
        let found = resolved(&[("a", SOC), ("b", SOC), ("c", SOC)]);
        let shown = found.chosen().unwrap_err().to_string();
        for word in ["a (/d/a.toml)", "b (/d/b.toml)", "c (/d/c.toml)", "qcom,sdm845", "c.toml:4:1"]
        {
            assert!(shown.contains(word), "{word}: {shown}");
        }
        let other = resolved(&[("a", SOC), ("b", &format!("{SOC}priority = 1"))]);
        assert_eq!(other.chosen().unwrap().unwrap().name, "b");
        // A tie further down is nobody's business.
        let closer = resolved(&[("a", SOC), ("b", SOC), ("tab", BOARD)]);
        assert_eq!(closer.chosen().unwrap().unwrap().name, "tab");
        let by_soc = "[match]\nsoc_id = [321]\n";
        let shown = resolved(&[("a", by_soc), ("b", by_soc)]).chosen().unwrap_err().to_string();
        assert!(shown.contains("a (/d/a.toml) by soc_id; b (/d/b.toml) by soc_id"), "{shown}");
        // One key each, though not the same one.
        let found = resolved(&[("a", by_soc), ("b", "[match]\nkernel = \">=6\"")]);
        let shown = found.chosen().unwrap_err().to_string();
        assert!(shown.contains("a.toml) by soc_id; b (/d/b.toml) by kernel"), "{shown}");
    }

    #[test]
    fn no_product_at_all_is_an_answer() {
        assert_eq!(resolved(&[]).chosen().unwrap(), None);
        assert_eq!(resolved(&[("a", "[match]\nsoc_id = 5")]).chosen().unwrap(), None);
    }

    fn any_match() -> impl Strategy<Value = String> {
        let names = prop::option::of(prop::sample::subsequence(
            vec!["acme,tab10", "acme,*", "qcom,sdm845", "qcom,x"],
            1..=2,
        ));
        (names, any::<bool>(), any::<bool>(), -1i64..2).prop_map(
            |(names, soc, kernel, priority)| {
                let mut text = format!("[match]\npriority = {priority}\n");
                if let Some(names) = &names {
                    text += &format!("dt_compatible = {names:?}\n");
                }
                if soc {
                    text += "soc_id = [321]\n";
                }
                if kernel || (names.is_none() && !soc) {
                    text += "kernel = \">=6.6\"\n";
                }
                text
            },
        )
    }

    proptest! {
        #[test]
        fn the_order_of_files_does_not_matter(
            texts in prop::collection::vec(any_match(), 0..8), seed in any::<u64>(),
        ) {
            let names: Vec<String> = (0..texts.len()).map(|n| format!("p{n}")).collect();
            let files: Vec<(&str, &str)> =
                names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
            let products = Catalog::new(vec![layer("/d", &files)]).all().unwrap();
            let mut shuffled = products.clone();
            shuffled.sort_by_key(|product| {
                let at: u64 = product.name.value[1..].parse().unwrap();
                (at + 1).wrapping_mul(seed | 1).rotate_left(17)
            });
            let (one, other) = (resolve(&products, &facts()), resolve(&shuffled, &facts()));
            prop_assert_eq!(&one, &other);
            // What is chosen fits strictly more closely than everything else.
            if let Ok(Some(chosen)) = one.chosen() {
                let Fit::Fits(best) = &chosen.fit else { panic!("a chosen one fits") };
                for other in one.candidates.iter().skip(1) {
                    if let Fit::Fits(rank) = &other.fit {
                        prop_assert!(best.order() < rank.order());
                    }
                }
            }
            // In which folder a file stands does not matter either.
            let split: Vec<Layer> = files.iter().map(|file| layer("/d", &[*file])).collect();
            let again = resolve(&Catalog::new(split).all().unwrap(), &facts());
            prop_assert_eq!(one, again);
        }
    }
}
