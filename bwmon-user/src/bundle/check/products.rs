//! The products of a bundle: each one makes sense, has a board, and is told apart from the others.

use super::{Bundle, Checked, ProductOn, Ready, Role, fault, texts};
use crate::board::{self, Board, builtin};
use crate::bundle::contents::product_name;
use crate::decide::Unvoted;
use crate::diag::Diagnostic;
use crate::policy::script::Source;
use crate::product::{
    At, Catalog, Given, KernelRange, Layer, Loader, MachineFacts, Match, Product, Sourced,
    effective, guessed_board, plan,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether the bundle is for the bwmon of version `program`.
pub(super) fn program(bundle: &Bundle, program: &str) -> Result<(), Diagnostic> {
    let Some(range) = &bundle.manifest.requires_bwmon else { return Ok(()) };
    let wanted = KernelRange::parse(range).map_err(|why| fault(bundle, why))?;
    if wanted.holds(program) == Some(true) {
        return Ok(());
    }
    Err(fault(bundle, format!("it requires bwmon {range}; this is {program}"))
        .help("install another bwmon, or a bundle for this one"))
}

pub(super) fn check(
    bundle: &Bundle,
    below: Vec<Layer>,
    outside: Loader<'_>,
    checked: &mut Checked,
) -> Result<Vec<Ready>, Diagnostic> {
    texts(bundle)?;
    names(bundle)?;
    let layer = bundle.layer("").map_err(|why| fault(bundle, why))?;
    let mut layers = vec![layer];
    layers.extend(below);
    let catalog = Catalog::new(layers);
    let mut ready = Vec::new();
    for file in bundle.of(Role::Product) {
        let name = product_name(&file.path);
        let Some(product) = catalog.product(name) else { continue };
        let product = product?;
        if product.is_abstract {
            continue;
        }
        let board = Arc::new(board_of(bundle, &catalog, &product, outside)?);
        let mut load = |name: &str, at: &At| script(bundle, name, at, outside);
        let domains = effective(&product, &board, &Given::default(), Unvoted::Top, &mut load)?;
        let plan = plan(&domains);
        plan.clone().build(&board)?;
        checked.products.push(ProductOn { name: name.to_owned(), board: board.id.clone() });
        ready.push(Ready { product, board, plan });
    }
    if ready.is_empty() {
        return Err(fault(bundle, "none of its products is for a machine")
            .help("abstract ones are bases for others"));
    }
    apart(&ready)?;
    Ok(ready)
}

/// A product is called as its file; two files of one name would be one product.
fn names(bundle: &Bundle) -> Result<(), Diagnostic> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for file in bundle.of(Role::Product) {
        if let Some(other) = seen.insert(product_name(&file.path), &file.path) {
            return Err(fault(bundle, format!("{other} and {} are one product", file.path))
                .help("a product is called as its file, whatever the folder"));
        }
    }
    Ok(())
}

/// Products with the same `[match]` fit every machine equally.
fn apart(ready: &[Ready]) -> Result<(), Diagnostic> {
    for (index, one) in ready.iter().enumerate() {
        for other in ready.iter().skip(index + 1) {
            if asks(&one.product.matching) != asks(&other.product.matching) {
                continue;
            }
            let (a, b) = (&one.product.name.value, &other.product.name.value);
            let message =
                format!("{a} and {b} ask for the same: every machine of one is the other's");
            let at = other.product.matching.keys.values().next().map(|test| &test.at);
            let fault = at.unwrap_or(&other.product.name.at).fault(message);
            return Err(fault.help("give one of them a higher priority in [match] or one key more"));
        }
    }
    Ok(())
}

/// What a product asks for, wherever it is written.
fn asks(matching: &Match) -> (Vec<String>, i64) {
    let each = matching.keys.iter().map(|(key, test)| format!("{}: {:?}", key.name(), test.value));
    (each.collect(), matching.priority.as_ref().map_or(0, |priority| priority.value))
}

/// The board of a product: as it says, else the built-in one that its names lead to.
fn board_of(
    bundle: &Bundle,
    catalog: &Catalog,
    product: &Product,
    outside: Loader<'_>,
) -> Result<Board, Diagnostic> {
    let Some(Sourced { value: name, at }) = &product.board else {
        return guessed_board(catalog, product, &MachineFacts::default()).ok_or_else(|| {
            let message = format!("no board is known for the product {}", product.title());
            product.name.at.fault(message).help(
                "write board = \"…\": a built-in one (`bwmon boards`), or a board file of the bundle",
            )
        });
    };
    if let Some(board) = builtin(name) {
        return board;
    }
    let Source { name, text } = script(bundle, name, at, outside).map_err(|why| {
        at.fault(why).help("a built-in board, or a file of the bundle under boards = [...]")
    })?;
    board::parse(&name, &text)
}

/// What a product names beside its file: in the bundle, or beside a base that is not of the bundle.
fn script(bundle: &Bundle, name: &str, at: &At, outside: Loader<'_>) -> Result<Source, String> {
    match at.file().filter(|file| bundle.files.contains_key(*file)) {
        Some(file) => {
            let (path, text) = bundle.beside(file, name)?;
            Ok(Source { name: path, text: text.to_owned() })
        }
        None => outside(name, at),
    }
}
