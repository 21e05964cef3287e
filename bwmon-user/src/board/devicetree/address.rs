//! Where a node's registers are: `reg` with its cells, translated bus by bus as `ranges` say.

use super::node::At;

/// Regions that a node may have; a BWMON block has one or two.
const MAX_REGIONS: usize = 8;

/// Cells of an address and of a size on a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widths {
    address: usize,
    size: usize,
}

/// What the children of `bus` use. The device tree specification's defaults are 2 and 1.
fn widths(bus: At<'_>) -> Result<Widths, String> {
    let width = |property: &str, default: u32, least: u32| {
        let cells = bus.cell(property)?.unwrap_or(default);
        if !(least..=2).contains(&cells) {
            return Err(format!("{property} of {} is {cells}, not {least} to 2", bus.path()));
        }
        Ok(cells as usize)
    };
    Ok(Widths { address: width("#address-cells", 2, 1)?, size: width("#size-cells", 1, 0)? })
}

/// One or two cells as a number.
fn number(cells: &[u32]) -> u64 {
    cells.iter().fold(0, |number, cell| number << 32 | u64::from(*cell))
}

/// Cuts `cells` into numbers of `widths` cells each.
fn rows<const N: usize>(
    property: &str,
    cells: &[u32],
    widths: [usize; N],
) -> Result<Vec<[u64; N]>, String> {
    let width: usize = widths.iter().sum();
    if width == 0 || !cells.len().is_multiple_of(width) {
        return Err(format!("{property} has {} cells, entries have {width}", cells.len()));
    }
    let entries = cells.chunks_exact(width).map(|entry| {
        let mut rest = entry;
        widths.map(|width| {
            let (own, after) = rest.split_at_checked(width).unwrap_or((rest, &[]));
            rest = after;
            number(own)
        })
    });
    Ok(entries.collect())
}

/// The regions of `node` as the CPUs address them.
///
/// # Errors
/// What is wrong with `reg`, or which bus cannot be seen through.
pub(super) fn regions(node: At<'_>) -> Result<Vec<(u64, u64)>, String> {
    let Some(bus) = node.parent() else { return Ok(Vec::new()) };
    let Some(cells) = node.cells("reg")? else { return Ok(Vec::new()) };
    let Widths { address, size } = widths(bus)?;
    let regions = rows("reg", &cells, [address, size])?;
    if regions.len() > MAX_REGIONS {
        return Err(format!("reg lists {} regions", regions.len()));
    }
    let translated = regions.into_iter().map(|[address, size]| {
        if size == 0 || address.checked_add(size).is_none() {
            return Err(format!("reg lists {size:#x} bytes at {address:#x}"));
        }
        Ok((translate(bus, address, size)?, size))
    });
    translated.collect()
}

/// `address` on `bus` as an address of the root's.
fn translate(bus: At<'_>, mut address: u64, size: u64) -> Result<u64, String> {
    for bus in bus.upwards() {
        let Some(above) = bus.parent() else { return Ok(address) };
        let path = bus.path();
        let Some(cells) = bus.cells("ranges")? else {
            return Err(format!("the bus {path} has no ranges, so its addresses are its own"));
        };
        // An empty list means that both sides have the same addresses.
        if cells.is_empty() {
            continue;
        }
        let (own, outer) = (widths(bus)?, widths(above)?);
        let rows =
            rows(&format!("ranges of {path}"), &cells, [own.address, outer.address, own.size])?;
        let inside = rows.into_iter().find_map(|[child, parent, length]| {
            let offset = address.checked_sub(child)?;
            let fits = offset.checked_add(size)? <= length;
            fits.then(|| parent.checked_add(offset)).flatten()
        });
        address = inside
            .ok_or_else(|| format!("{address:#x} lies in none of the ranges of the bus {path}"))?;
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::super::node::{Node, Tree};
    use super::super::testing::{cells, node};
    use super::*;

    fn regions_of(root: &Node) -> Result<Vec<(u64, u64)>, String> {
        let tree = Tree::new(root, &mut Vec::new());
        let found = tree.all().find(|at| at.name().starts_with("pmu")).unwrap();
        regions(found)
    }

    fn soc(ranges: &[u32], address_cells: u32, reg: &[u32]) -> Node {
        let pmu = cells(node("pmu@1436400"), "reg", reg);
        let mut soc = cells(node("soc@0"), "#address-cells", &[address_cells]);
        soc = cells(cells(soc, "#size-cells", &[address_cells]), "ranges", ranges);
        soc.children.push(pmu);
        let mut root = cells(cells(node(""), "#address-cells", &[2]), "#size-cells", &[2]);
        root.children.push(soc);
        root
    }

    #[test]
    fn two_cells_make_64_bits_and_ranges_move_them() {
        // As in sdm845.dtsi: ranges = <0 0 0 0 0x10 0>.
        let same = soc(&[0, 0, 0, 0, 0x10, 0], 2, &[0, 0x0143_6400, 0, 0x600]);
        assert_eq!(regions_of(&same), Ok(vec![(0x0143_6400, 0x600)]));
        // A bus whose addresses begin at 2^32 on the CPUs' side.
        let moved = soc(&[0, 0, 1, 0, 0x10, 0], 2, &[0, 0x0143_6400, 0, 0x600]);
        assert_eq!(regions_of(&moved), Ok(vec![(0x1_0143_6400, 0x600)]));
        // One cell on the bus, two outside of it.
        let narrow = soc(&[0, 0, 0, 0x8000_0000], 1, &[0x0143_6400, 0x600]);
        assert_eq!(regions_of(&narrow), Ok(vec![(0x0143_6400, 0x600)]));
        let empty = soc(&[], 2, &[0, 0x0143_6400, 0, 0x600]);
        assert_eq!(regions_of(&empty), Ok(vec![(0x0143_6400, 0x600)]));
    }

    #[test]
    fn what_cannot_be_translated_says_which_bus() {
        let outside = soc(&[0, 0, 0, 0, 0, 0x1000], 2, &[0, 0x0143_6400, 0, 0x600]);
        assert!(regions_of(&outside).unwrap_err().contains("none of the ranges of the bus /soc@0"));
        let mut own = soc(&[], 2, &[0, 0x0143_6400, 0, 0x600]);
        own.children[0].properties.remove("ranges");
        assert!(regions_of(&own).unwrap_err().contains("has no ranges"));
    }

    #[test]
    fn wrong_widths_and_sizes_are_refused() {
        let three = soc(&[], 2, &[0, 0x0143_6400, 0]);
        assert_eq!(regions_of(&three), Err("reg has 3 cells, entries have 4".into()));
        let wide = soc(&[], 3, &[0; 6]);
        assert!(regions_of(&wide).unwrap_err().contains("#address-cells of /soc@0 is 3"));
        let none = soc(&[], 2, &[0, 0x0143_6400, 0, 0]);
        assert!(regions_of(&none).unwrap_err().contains("0x0 bytes"));
        let wraps = soc(&[], 2, &[u32::MAX, u32::MAX - 3, 0, 0x600]);
        assert!(regions_of(&wraps).is_err());
        let many = soc(&[], 2, &[0, 0x1000, 0, 0x100].repeat(9));
        assert_eq!(regions_of(&many), Err("reg lists 9 regions".into()));
    }
}
