//! A node's first interrupt, and those of all others, to see who shares a line.

use super::node::{At, Tree};
use serde::Serialize;

/// The first cell of a GIC's specifier for a shared peripheral interrupt
/// (binding `arm,gic-v3.yaml`).
const SPI: u32 = 0;

/// An interrupt: a line of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Interrupt {
    /// Path of the controller.
    pub controller: String,
    /// The cells that describe it there.
    pub cells: Vec<u32>,
    /// Its SPI number, if the controller is a GIC.
    pub spi: Option<u32>,
}

impl Interrupt {
    /// Whether both are the same line. The last cells are flags (edge, level, affinity), which two
    /// sharers may write differently.
    pub(super) fn same_line(&self, other: &Self) -> bool {
        self.controller == other.controller && self.line() == other.line()
    }

    fn line(&self) -> &[u32] {
        let cells = if self.cells.len() >= 3 { 2 } else { 1 };
        self.cells.get(..cells).unwrap_or(&self.cells)
    }
}

/// The first interrupt of `node`; `None` if it has none.
///
/// # Errors
/// What is wrong with its properties.
pub(super) fn first(node: At<'_>) -> Result<Option<Interrupt>, String> {
    let Some((controller, mut interrupt)) = line_of(node)? else { return Ok(None) };
    let compatible = controller.strings("compatible")?;
    let gic = compatible.iter().any(|name| name.contains("gic"));
    interrupt.spi = match interrupt.cells.as_slice() {
        [SPI, number, _, ..] if gic => Some(*number),
        _ => None,
    };
    Ok(Some(interrupt))
}

/// The interrupts of all enabled nodes that have a readable one; their SPI numbers are left out.
pub(super) fn all(tree: &Tree<'_>) -> Vec<(String, Interrupt)> {
    let enabled = tree.all().filter(|at| at.enabled());
    enabled
        .filter_map(|at| {
            let (_, interrupt) = line_of(at).ok().flatten()?;
            Some((at.path().to_owned(), interrupt))
        })
        .collect()
}

/// The controller and the line of the node's first interrupt.
fn line_of(node: At<'_>) -> Result<Option<(At<'_>, Interrupt)>, String> {
    if let Some(cells) = node.cells("interrupts-extended")? {
        let Some((phandle, rest)) = cells.split_first() else { return Ok(None) };
        return specifier(node.follow(*phandle)?, rest, "interrupts-extended").map(Some);
    }
    let Some(cells) = node.cells("interrupts")?.filter(|cells| !cells.is_empty()) else {
        return Ok(None);
    };
    let mut above = node.upwards().filter_map(|at| at.cell("interrupt-parent").transpose());
    let Some(phandle) = above.next() else {
        return Err("nothing above it names an interrupt-parent".into());
    };
    specifier(node.follow(phandle?)?, &cells, "interrupts").map(Some)
}

fn specifier<'t>(
    controller: At<'t>,
    cells: &[u32],
    property: &str,
) -> Result<(At<'t>, Interrupt), String> {
    let path = controller.path();
    let width = controller.cell("#interrupt-cells")?;
    let Some(width) = width.filter(|width| (1..=8).contains(width)) else {
        return Err(format!("{path} is no interrupt controller: it has no #interrupt-cells"));
    };
    let Some(own) = cells.get(..width as usize) else {
        return Err(format!("{property} has {} cells, {path} needs {width}", cells.len()));
    };
    Ok((controller, Interrupt { controller: path.to_owned(), cells: own.to_vec(), spi: None }))
}

#[cfg(test)]
mod tests {
    use super::super::node::Node;
    use super::super::testing::{cells, node, strings};
    use super::*;

    fn gic(cells_each: u32) -> Node {
        let gic = strings(node("interrupt-controller@17a00000"), "compatible", &["arm,gic-v3"]);
        cells(cells(gic, "#interrupt-cells", &[cells_each]), "phandle", &[1])
    }

    fn first_of(gic: Node, pmu: Node) -> Result<Option<Interrupt>, String> {
        let mut root = cells(node(""), "interrupt-parent", &[1]);
        root.children = vec![gic, pmu];
        let tree = Tree::new(&root, &mut Vec::new());
        let pmu = tree.root().unwrap().child("pmu").unwrap();
        first(pmu)
    }

    #[test]
    fn an_spi_of_a_gic_is_read_with_three_and_with_four_cells() {
        let pmu = |spec: &[u32]| cells(node("pmu"), "interrupts", spec);
        let spi = |found: Result<Option<Interrupt>, String>| found.unwrap().unwrap().spi;
        assert_eq!(spi(first_of(gic(3), pmu(&[0, 581, 4]))), Some(581));
        assert_eq!(spi(first_of(gic(4), pmu(&[0, 581, 4, 0]))), Some(581));
        // A PPI is no SPI.
        assert_eq!(spi(first_of(gic(3), pmu(&[1, 5, 4]))), None);
        let extended = cells(node("pmu"), "interrupts-extended", &[1, 0, 421, 4]);
        assert_eq!(spi(first_of(gic(3), extended)), Some(421));
    }

    #[test]
    fn truncated_and_dangling_interrupts_say_what_is_missing() {
        let pmu = |spec: &[u32]| cells(node("pmu"), "interrupts", spec);
        let error = first_of(gic(3), pmu(&[0, 581])).unwrap_err();
        assert!(error.contains("2 cells") && error.contains("needs 3"), "{error}");
        let dangling = cells(node("pmu"), "interrupts-extended", &[9, 0, 1, 4]);
        assert_eq!(first_of(gic(3), dangling), Err("there is no node with phandle 0x9".into()));
        assert!(first_of(gic(0), pmu(&[0, 1, 4])).unwrap_err().contains("no interrupt controller"));
        assert_eq!(first_of(gic(3), node("pmu")), Ok(None));
    }

    #[test]
    fn the_same_line_with_other_flags_is_the_same_line() {
        let line = |flags| Interrupt {
            controller: "/gic".into(),
            cells: vec![0, 581, flags],
            spi: Some(581),
        };
        assert!(line(4).same_line(&line(1)));
        let other = Interrupt { cells: vec![1, 581, 4], ..line(4) };
        assert!(!line(4).same_line(&other));
    }
}
