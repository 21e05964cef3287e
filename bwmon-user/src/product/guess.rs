//! The built-in board that a product is for, where it names none.

use super::{Catalog, MachineFacts, MatchKey, Product, Test};
use crate::board::{Board, builtin, builtin_ids};

/// The built-in board of a machine that is not here: by its compatible list, else by those that the
/// product and its bases ask for.
pub fn guessed_board(catalog: &Catalog, product: &Product, facts: &MachineFacts) -> Option<Board> {
    let boards: Vec<Board> = builtin_ids().filter_map(builtin).filter_map(Result::ok).collect();
    let of = |name: &String| boards.iter().find(|board| board.compatible.contains(name)).cloned();
    if let Some(board) = facts.dt_compatible.iter().find_map(of) {
        return Some(board);
    }
    let mut asked = Some(product.clone());
    while let Some(product) = asked {
        if let Some(Test::AnyOf(globs)) =
            product.matching.keys.get(&MatchKey::DtCompatible).map(|test| &test.value)
            && let Some(board) = globs.iter().find_map(|glob| of(&glob.to_string()))
        {
            return Some(board);
        }
        // Circles were refused when `product` was made.
        let base = product.extends.and_then(|base| catalog.product(&base.value));
        asked = base.and_then(Result::ok);
    }
    None
}
