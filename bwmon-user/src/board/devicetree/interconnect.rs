//! Interconnect paths of a node: `interconnects` with the names and tags of both ends.

use super::node::At;
use super::providers;
use serde::Serialize;
use std::fmt;

/// Paths that a node may have; a CPU of SM8650 has three.
const MAX_PATHS: usize = 16;

/// One end of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// Path of the provider's node.
    pub provider: String,
    /// The provider's label in the sources, or what stands for it: `mem_noc`.
    pub label: String,
    /// Number of the interconnect node at the provider.
    pub id: u32,
    /// Its name in the bindings, such as `SLAVE_LLCC`, if it is known.
    pub name: Option<String>,
    /// The tag: in which states of the CPUs the vote holds.
    pub tag: Option<u32>,
}

/// As a board file has it: `mem_noc SLAVE_LLCC`, or `mem_noc 10` if the node's name is not known.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.label),
            None => write!(f, "{} {}", self.label, self.id),
        }
    }
}

/// A path between two interconnect nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Its `interconnect-names`, if it has one.
    pub name: Option<String>,
    /// Where the traffic comes from.
    pub src: End,
    /// Where it goes.
    pub dst: End,
}

impl Path {
    /// What its bandwidth is a vote for, as boards call it: `ddr`, `llcc`, `l3`. `None` if the end of
    /// the path says neither by name nor by its provider.
    pub(super) fn resource(&self) -> Option<&'static str> {
        let provider = self.dst.label.as_str();
        match self.dst.name.as_deref() {
            Some(name) if name.starts_with("SLAVE_EBI") => Some("ddr"),
            Some("SLAVE_LLCC") => Some("llcc"),
            Some(name) if name.ends_with("_L3") || name.contains("_L3_") => Some("l3"),
            _ if provider.ends_with("l3") => Some("l3"),
            _ if matches!(provider, "mc_virt" | "bimc") => Some("ddr"),
            _ if matches!(provider, "gem_noc" | "hsc_noc") => Some("llcc"),
            _ => None,
        }
    }

    /// The tags of both ends, if both have one.
    pub(super) fn tags(&self) -> Option<(u32, u32)> {
        self.src.tag.zip(self.dst.tag)
    }
}

/// The paths of `node`, in order; none if it has no `interconnects`.
///
/// # Errors
/// What is wrong with them.
pub(super) fn paths(node: At<'_>) -> Result<Vec<Path>, String> {
    let Some(cells) = node.cells("interconnects")? else { return Ok(Vec::new()) };
    let mut ends = Vec::new();
    let mut rest = cells.as_slice();
    while let Some((phandle, after)) = rest.split_first() {
        if ends.len() >= 2 * MAX_PATHS {
            return Err(format!("interconnects lists more than {MAX_PATHS} paths"));
        }
        let (end, after) = end(node, *phandle, after)?;
        ends.push(end);
        rest = after;
    }
    let (pairs, lonely) = ends.as_chunks::<2>();
    if !lonely.is_empty() {
        return Err(format!("interconnects has {} ends: a path has two", ends.len()));
    }
    let mut names = node.strings("interconnect-names")?.into_iter();
    let paths = pairs.iter().cloned().map(|[src, dst]| Path { name: names.next(), src, dst });
    Ok(paths.collect())
}

fn end<'c>(node: At<'_>, phandle: u32, cells: &'c [u32]) -> Result<(End, &'c [u32]), String> {
    let provider = node.follow(phandle)?;
    let path = provider.path();
    let width = provider.cell("#interconnect-cells")?;
    let Some(width) = width.filter(|width| (1..=4).contains(width)) else {
        return Err(format!("{path} is no interconnect provider: it has no #interconnect-cells"));
    };
    let Some((own, after)) = cells.split_at_checked(width as usize) else {
        return Err(format!(
            "interconnects ends within an entry: {path} needs {width} cells, {} are left",
            cells.len()
        ));
    };
    let compatible = provider.strings("compatible")?;
    let id = own.first().copied().unwrap_or_default();
    let end = End {
        provider: path.to_owned(),
        label: label(provider, &compatible),
        id,
        name: providers::name(&compatible, id).map(str::to_owned),
        tag: own.get(1).copied(),
    };
    Ok((end, after))
}

/// The provider's label: as known, as the tree's own symbols say, or from its compatible.
fn label(provider: At<'_>, compatible: &[String]) -> String {
    if let Some(known) = providers::label(compatible) {
        return known.to_owned();
    }
    if let Some(symbol) = symbol(provider) {
        return symbol;
    }
    let derived = compatible.first().and_then(|name| name.split_once(','));
    let name = match derived {
        // qcom,<soc>-<what it is>
        Some(("qcom", rest)) => rest.split_once('-').map_or(rest, |(_, what)| what),
        Some((_, rest)) => rest,
        None => provider.name().split('@').next().unwrap_or_default(),
    };
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Trees that are built with symbols keep the labels.
fn symbol(provider: At<'_>) -> Option<String> {
    let symbols = provider.root()?.child("__symbols__")?;
    symbols.property_names().find_map(|label| {
        let paths = symbols.strings(label).ok()?;
        (paths.first().map(String::as_str) == Some(provider.path())).then(|| label.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::super::node::{Node, Tree};
    use super::super::testing::{cells, node, strings};
    use super::*;

    fn provider(name: &str, compatible: &str, width: u32, phandle: u32) -> Node {
        let noc = strings(node(name), "compatible", &[compatible]);
        cells(cells(noc, "#interconnect-cells", &[width]), "phandle", &[phandle])
    }

    fn paths_of(pmu: Node) -> Result<Vec<Path>, String> {
        let mut root = node("");
        root.children = vec![
            provider("interconnect@1380000", "qcom,sdm845-mem-noc", 2, 1),
            provider("interconnect@17900000", "qcom,sdm845-gladiator-noc", 2, 2),
            provider("interconnect@17d41000", "qcom,sdm845-osm-l3", 1, 3),
            provider("interconnect@7fe10000", "fsl,imx8mq-noc", 1, 4),
            pmu,
        ];
        let tree = Tree::new(&root, &mut Vec::new());
        paths(tree.root().unwrap().child("pmu").unwrap())
    }

    #[test]
    fn the_seeds_two_paths_are_read_with_names_tags_and_widths() {
        let pmu = cells(node("pmu"), "interconnects", &[2, 0, 3, 1, 14, 3, 3, 0, 3, 1]);
        let pmu = strings(pmu, "interconnect-names", &["ddr", "l3c"]);
        let paths = paths_of(pmu).unwrap();
        assert_eq!(paths[0].src.to_string(), "gladiator_noc MASTER_APPSS_PROC");
        assert_eq!(paths[0].dst.to_string(), "mem_noc SLAVE_EBI1");
        assert_eq!((paths[0].tags(), paths[1].tags()), (Some((3, 3)), None));
        assert_eq!(paths[1].dst.to_string(), "osm_l3 SLAVE_OSM_L3");
        let resources: Vec<_> = paths.iter().map(|path| path.resource().unwrap()).collect();
        assert_eq!(resources, ["ddr", "l3"]);
        assert_eq!(paths[1].name.as_deref(), Some("l3c"));
    }

    #[test]
    fn an_unknown_node_keeps_its_number_and_an_unknown_provider_its_compatible() {
        let paths = paths_of(cells(node("pmu"), "interconnects", &[2, 4, 3, 4, 1])).unwrap();
        assert_eq!(paths[0].src.to_string(), "gladiator_noc 4");
        assert_eq!(paths[0].dst.to_string(), "imx8mq_noc 1");
        assert_eq!(paths[0].resource(), None);
    }

    #[test]
    fn half_a_path_a_truncated_end_and_a_missing_provider_are_refused() {
        let error =
            |cells_: &[u32]| paths_of(cells(node("pmu"), "interconnects", cells_)).unwrap_err();
        assert!(error(&[2, 0, 3]).contains("1 ends: a path has two"));
        assert!(error(&[2, 0, 3, 1, 14]).contains("needs 2 cells, 1 are left"));
        assert_eq!(error(&[9, 0, 3, 1, 14, 3]), "there is no node with phandle 0x9");
        assert!(error(&[3, 0].repeat(40)).contains("more than 16 paths"));
    }
}
