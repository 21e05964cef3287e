//! The products in the binary: policies/products.

use super::{Layer, LayerFile};

macro_rules! products {
    ($($name:literal),* $(,)?) => {
        const TEXTS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../policies/products/", $name, ".toml")))),*
        ];
    };
}

products!["qcom-bwmon", "sc7280", "sdm845", "sdm845-reference", "vendor-sdm845", "x1e80100"];

/// The name of their layer.
const BUILT_IN: &str = "built-in";

/// The products that come with the program: the last folder of every search path.
pub fn shipped() -> Layer {
    let file = |(name, text): &(&str, &str)| LayerFile {
        name: (*name).to_owned(),
        path: format!("<built-in {name}.toml>"),
        text: Some((*text).to_owned()),
    };
    Layer { place: BUILT_IN.into(), bundle: None, files: TEXTS.iter().map(file).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Board, builtin, builtin_ids};
    use crate::decide::Unvoted;
    use crate::product::{Catalog, Given, MachineFacts, Product, effective, plan, resolve};

    fn all() -> Vec<Product> {
        Catalog::new(vec![shipped()]).all().unwrap()
    }

    fn boards() -> Vec<Board> {
        builtin_ids().map(|id| builtin(id).unwrap().unwrap()).collect()
    }

    /// The product of a machine that says `compatible`, most specific first.
    fn product_of(compatible: &[&str]) -> Option<Product> {
        let products = all();
        let dt_compatible = compatible.iter().map(|&name| name.to_owned()).collect();
        let facts = MachineFacts { dt_compatible, ..MachineFacts::default() };
        let found = resolve(&products, &facts);
        let chosen = found.chosen().unwrap()?.name.clone();
        products.into_iter().find(|product| product.name.value == chosen)
    }

    fn governs(product: &Product, board: &Board) {
        let mut no_file = |name: &str, _: &super::super::At| Err(format!("no file {name}"));
        let domains = effective(product, board, &Given::default(), Unvoted::Top, &mut no_file);
        plan(&domains.unwrap()).build(board).unwrap();
    }

    #[test]
    fn every_soc_of_the_built_in_boards_has_at_most_one_product_and_it_fits_its_board() {
        let mut found = 0;
        for board in boards() {
            for soc in &board.compatible {
                for list in [vec![soc.as_str()], vec!["some,board", soc.as_str()]] {
                    let Some(product) = product_of(&list) else { continue };
                    governs(&product, &board);
                    found += 1;
                }
            }
        }
        // Three SoCs, with and without a board's own name before them.
        assert_eq!(found, 6);
    }

    #[test]
    fn every_name_that_a_product_asks_for_leads_to_it_or_to_a_closer_one_and_none_is_a_pattern() {
        use crate::product::{MatchKey, Test};
        for product in all().into_iter().filter(|product| !product.is_abstract) {
            let Some(test) = product.matching.keys.get(&MatchKey::DtCompatible) else {
                panic!("{} asks for no compatible", product.name.value)
            };
            let Test::AnyOf(globs) = &test.value else { panic!("a list") };
            for glob in globs.iter().map(ToString::to_string) {
                assert!(!glob.contains(['*', '?']), "{glob}");
                assert_eq!(product_of(&[&glob]).unwrap().name, product.name);
            }
        }
    }

    #[test]
    fn every_product_says_what_it_is_for_and_every_base_is_used() {
        let products = all();
        for product in &products {
            assert!(product.what.is_some() && product.version.is_some(), "{}", product.name.value);
        }
        let base = products.iter().find(|p| p.name.value == "qcom-bwmon").unwrap();
        assert!(products.iter().any(|product| product.bases.contains(&base.file)));
    }

    #[test]
    fn the_examples_govern_the_board_that_they_name() {
        for product in all() {
            if let Some(id) = &product.board {
                governs(&product, &builtin(&id.value).unwrap().unwrap());
            }
        }
    }
}
