//! Boards from a device tree: what the machine itself says of its BWMON blocks, their interrupts and
//! paths, and its OPP tables.
//!
//! The tree is plain values here ([`Node`]); `live` reads it from the machine or from a copy. What is
//! wrong in it costs the node or the row that it is in, is said with the node's path, and nothing
//! else: a tree comes from a vendor, and one odd node is no reason to know nothing.

mod address;
pub mod blob;
mod blocks;
mod cpus;
mod interconnect;
mod interrupt;
mod names;
mod node;
mod opp;
mod providers;
#[cfg(test)]
pub(crate) mod testing;

pub use blocks::Block;
pub use interconnect::{End, Path};
pub use interrupt::Interrupt;
pub use node::{Node, Problem};
pub use opp::Row;

use super::{Board, Domain, Monitor, OppTable, WINDOW_TICKS};
use crate::bwmon::CountScale;
use crate::units::Kbps;
use node::Tree;
use serde::Serialize;

/// What a device tree says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// The machine's name for people.
    pub model: Option<String>,
    /// The machine's compatible strings, most specific first.
    pub compatible: Vec<String>,
    /// Its BWMON nodes.
    pub blocks: Vec<Block>,
    /// The board that they make; `None` without a block that has a table.
    pub board: Option<Board>,
    /// What could not be understood, by node.
    pub problems: Vec<Problem>,
}

/// Reads the tree under `root`.
pub fn discover(root: &Node) -> Discovery {
    let mut problems = Vec::new();
    let tree = Tree::new(root, &mut problems);
    let mut strings = |property: &str| match tree.root().map(|root| root.strings(property)) {
        Some(Ok(strings)) => strings,
        Some(Err(what)) => {
            problems.push(Problem { path: "/".into(), what });
            Vec::new()
        }
        None => Vec::new(),
    };
    let compatible = strings("compatible");
    let model = strings("model").into_iter().next();
    let blocks = blocks::find(&tree, &mut problems);
    let cpu_opps = cpus::opps(&tree, &mut problems);
    let monitors: Vec<Monitor> = blocks.iter().filter_map(monitor).collect();
    let domains = domains(&blocks, &monitors, &mut problems);
    let id = compatible.last().and_then(|name| name.split_once(','));
    let id = names::plain(id.map_or("", |(_, what)| what), "machine");
    let board = (!domains.is_empty()).then(|| Board {
        id,
        name: model.clone().unwrap_or_else(|| "a machine without a name".into()),
        compatible: compatible.clone(),
        source: "its device tree".into(),
        monitors,
        domains,
        cpu_opps,
    });
    problems.sort();
    problems.dedup();
    Discovery { model, compatible, blocks, board, problems }
}

/// The monitor that `block` makes, if it has a name as one.
fn monitor(block: &Block) -> Option<Monitor> {
    let variant = block.variant?;
    let (address, name) = block.device.as_deref()?.split_once('.')?;
    Some(Monitor {
        name: block.monitor.clone()?,
        node: format!("{name}@{address}"),
        compatible: block.compatible.clone(),
        layout: variant.layout,
        reg: block.reg.clone(),
        scale: CountScale { unit_kb: variant.unit_kb, window_ticks: WINDOW_TICKS },
        force_clear: variant.force_clear,
        irq_spi: block.interrupt.as_ref().and_then(|interrupt| interrupt.spi),
        irq_shared: !block.shared_with.is_empty(),
        nonposted_mmio: block.nonposted_mmio,
        doubt: None,
    })
}

/// One domain for each monitor with a table.
fn domains(blocks: &[Block], monitors: &[Monitor], problems: &mut Vec<Problem>) -> Vec<Domain> {
    let mut tables = Vec::new();
    for block in blocks {
        let Some(monitor) = &block.monitor else { continue };
        match table(block) {
            Ok(table) => tables.push((block, monitor, table)),
            Err(what) => {
                let what = format!("{what}: no domain");
                problems.push(Problem { path: block.path.clone(), what });
            }
        }
    }
    let of: Vec<(String, String, &str)> = tables
        .iter()
        .map(|(block, monitor, table)| {
            let column = table.columns().first().cloned().unwrap_or_default();
            (column, (*monitor).clone(), names::kind(&block.compatible))
        })
        .collect();
    let named = names::domains(&of).into_iter().zip(tables);
    let domains = named.map(|(name, (block, monitor, table))| {
        let path = block.paths.first();
        Domain {
            name,
            monitor: monitors.iter().position(|other| other.name == *monitor),
            path: path.map(|path| (path.src.to_string(), path.dst.to_string())),
            icc_nodes: None,
            icc_tags: path.and_then(Path::tags),
            table,
            devfreq: None,
            icc: Vec::new(),
            bus_dcvs: None,
            vote: None,
        }
    });
    domains.collect()
}

fn table(block: &Block) -> Result<OppTable, String> {
    if block.paths.is_empty() {
        return Err("it has no interconnects".into());
    }
    let rows: Vec<Vec<Kbps>> = block
        .rows
        .iter()
        .map(|row| row.peak.iter().map(|kbps| Kbps(u64::from(*kbps))).collect())
        .collect();
    OppTable::new(names::columns(&block.paths), rows).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
