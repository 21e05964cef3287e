//! A board from a device tree, together with the board file that fits the machine.
//!
//! The tree wins for what it describes: registers, layouts, interrupts, paths, tables. The file fills
//! in what no tree has: names, the names of interconnect nodes, vote paths, count units and doubts
//! about them, domains without a monitor. Every difference is kept, to be shown.

use super::table::OppTable;
use super::{Board, BusDcvsPath, DevfreqPath, Domain, Level, Monitor};
use crate::units::Kbps;
use serde::Serialize;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The device tree.
    Tree,
    /// The board file.
    File,
}

/// A value that tree and file have differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it is of: `monitor cpu`, `domain ddr`, `cpu_opp cpu0`.
    pub of: String,
    /// The key, as in board files.
    pub field: &'static str,
    /// The tree's value.
    pub tree: String,
    /// The file's value.
    pub file: String,
    /// Which is used.
    pub used: Origin,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The board to use.
    pub board: Board,
    /// All differences.
    pub differences: Vec<Difference>,
}

/// Merges `tree`, as found, with `file`.
pub fn merge(tree: &Board, file: &Board) -> Merged {
    let mut work = Work { tree, file, differences: Vec::new() };
    let monitors: Vec<Monitor> = tree.monitors.iter().map(|own| work.monitor(own)).collect();
    let mut domains: Vec<Domain> =
        tree.domains.iter().map(|own| work.domain(own, &monitors)).collect();
    work.unmeasured(&mut domains);
    work.only_in_file(&monitors);
    work.cpu_opps();
    make_distinct(&mut domains);
    let board = Board {
        id: file.id.clone(),
        name: file.name.clone(),
        compatible: file.compatible.clone(),
        source: format!("the machine's device tree; names from {} ({})", file.id, file.source),
        monitors,
        domains,
        cpu_opps: tree.cpu_opps.clone(),
    };
    Merged { board, differences: work.differences }
}

struct Work<'a> {
    tree: &'a Board,
    file: &'a Board,
    differences: Vec<Difference>,
}

impl<'a> Work<'a> {
    fn differ(
        &mut self,
        of: &str,
        field: &'static str,
        tree: impl Into<String>,
        file: impl Into<String>,
        used: Origin,
    ) {
        let (tree, file) = (tree.into(), file.into());
        if tree != file {
            self.differences.push(Difference { of: of.into(), field, tree, file, used });
        }
    }

    /// The file's monitor at the same place.
    fn of_file(&self, own: &Monitor) -> Option<&'a Monitor> {
        let at = |monitor: &Monitor| monitor.reg.first().map(|(address, _)| *address);
        self.file.monitors.iter().find(|other| at(other) == at(own))
    }

    fn monitor(&mut self, own: &Monitor) -> Monitor {
        let Some(file) = self.of_file(own) else {
            let taken = self.file.monitors.iter().any(|other| other.name == own.name);
            let name = if taken { format!("{}-tree", own.name) } else { own.name.clone() };
            self.differ(&format!("monitor {name}"), "node", &own.node, "none", Origin::Tree);
            return Monitor { name, ..own.clone() };
        };
        let of = format!("monitor {}", file.name);
        self.differ(&of, "node", &own.node, &file.node, Origin::Tree);
        let compatible = |monitor: &Monitor| monitor.compatible.join(" ");
        self.differ(&of, "compatible", compatible(own), compatible(file), Origin::Tree);
        self.differ(&of, "layout", own.layout.name(), file.layout.name(), Origin::Tree);
        self.differ(&of, "reg", regions(&own.reg), regions(&file.reg), Origin::Tree);
        let unit = |monitor: &Monitor| monitor.scale.unit_kb.to_string();
        self.differ(&of, "count_unit_kB", unit(own), unit(file), Origin::File);
        let window = |monitor: &Monitor| (monitor.scale.window().as_us()).to_string();
        self.differ(&of, "window_us", window(own), window(file), Origin::File);
        let force = |monitor: &Monitor| monitor.force_clear.to_string();
        self.differ(&of, "force_clear", force(own), force(file), Origin::Tree);
        let spi = |monitor: &Monitor| {
            monitor.irq_spi.map_or_else(|| "none".to_owned(), |spi| spi.to_string())
        };
        self.differ(&of, "irq_spi", spi(own), spi(file), Origin::Tree);
        let shared = |monitor: &Monitor| monitor.irq_shared.to_string();
        self.differ(&of, "irq_shared", shared(own), shared(file), Origin::Tree);
        let nonposted = |monitor: &Monitor| monitor.nonposted_mmio.to_string();
        self.differ(&of, "nonposted_mmio", nonposted(own), nonposted(file), Origin::Tree);
        Monitor {
            name: file.name.clone(),
            scale: file.scale,
            doubt: file.doubt.clone(),
            ..own.clone()
        }
    }

    fn domain(&mut self, own: &Domain, monitors: &[Monitor]) -> Domain {
        let measured = own.monitor.and_then(|index| self.tree.monitors.get(index));
        let place = measured.and_then(|monitor| self.of_file(monitor));
        let index = place.and_then(|place| {
            self.file.monitors.iter().position(|other| std::ptr::eq(other, place))
        });
        let file = self.file.domains.iter().find(|d| index.is_some() && d.monitor == index);
        let monitor = own.monitor.and_then(|index| monitors.get(index)).map(|m| m.name.as_str());
        let Some(file) = file else {
            let of = format!("domain {}", own.name);
            let measured = monitor.unwrap_or("none");
            self.differ(&of, "monitor", measured, "no such domain", Origin::Tree);
            return own.clone();
        };
        // A table of other columns is another domain's: the file's name would be wrong for it.
        let same = own.table.columns() == file.table.columns();
        let name = if same { &file.name } else { &own.name };
        let of = format!("domain {name}");
        let columns = |domain: &Domain| domain.table.columns().join(" ");
        self.differ(&of, "columns", columns(own), columns(file), Origin::Tree);
        let path = |domain: &Domain| {
            domain.path.as_ref().map_or_else(|| "none".to_owned(), |(a, b)| format!("{a} -> {b}"))
        };
        self.differ(&of, "path", path(own), path(file), Origin::Tree);
        let tags = |domain: &Domain| {
            domain.icc_tags.map_or_else(|| "none".to_owned(), |(a, b)| format!("{a} {b}"))
        };
        self.differ(&of, "icc_tags", tags(own), tags(file), Origin::Tree);
        if own.table != file.table && same {
            let (tree, file) = tables(&own.table, &file.table);
            self.differ(&of, "opp_peak_kBps", tree, file, Origin::Tree);
        }
        // Names of nodes belong to a path: a file's do not fit another one.
        let same_path = own.path == file.path;
        Domain {
            name: name.clone(),
            icc_nodes: file.icc_nodes.clone().filter(|_| same_path),
            devfreq: file.devfreq.as_ref().filter(|_| same).map(|path| DevfreqPath {
                freq_hz: fitted(&path.freq_hz, own, file),
                ..path.clone()
            }),
            icc: if same && same_path { file.icc.clone() } else { Vec::new() },
            bus_dcvs: file.bus_dcvs.as_ref().filter(|_| same).map(|path| BusDcvsPath {
                freq_khz: fitted(&path.freq_khz, own, file),
                ..path.clone()
            }),
            vote: file.vote.clone().filter(|_| same && same_path),
            ..own.clone()
        }
    }

    /// Domains that no monitor measures are not in a tree: the file's are taken, unless another
    /// domain votes for the same already.
    fn unmeasured(&mut self, domains: &mut Vec<Domain>) {
        for file in self.file.domains.iter().filter(|domain| domain.monitor.is_none()) {
            let column = |domain: &Domain| domain.table.columns().first().cloned();
            let covered = domains.iter().find(|own| {
                let mut columns = own.table.columns().iter();
                columns.any(|name| Some(resource(name)) == column(file).as_deref().map(resource))
            });
            match covered {
                Some(own) => {
                    let tree = format!("a column of domain {}", own.name);
                    let of = format!("domain {}", file.name);
                    self.differ(&of, "columns", tree, "a domain of its own", Origin::Tree);
                }
                None => domains.push(file.clone()),
            }
        }
    }

    fn only_in_file(&mut self, monitors: &[Monitor]) {
        for file in &self.file.monitors {
            let at = |monitor: &Monitor| monitor.reg.first().map(|(address, _)| *address);
            if !monitors.iter().any(|own| at(own) == at(file)) {
                let of = format!("monitor {}", file.name);
                self.differ(&of, "node", "none", &file.node, Origin::Tree);
            }
        }
    }

    fn cpu_opps(&mut self) {
        let names = |board: &'a Board| board.cpu_opps.iter().map(|opps| opps.name.as_str());
        let mut all: Vec<&str> = names(self.tree).chain(names(self.file)).collect();
        all.sort_unstable();
        all.dedup();
        for name in all {
            let find = |board: &'a Board| board.cpu_opps.iter().find(|opps| opps.name == name);
            let of = format!("cpu_opp {name}");
            match (find(self.tree), find(self.file)) {
                (Some(tree), Some(file)) if tree != file => {
                    let rows = |opps: &crate::board::CpuOpps, other: &crate::board::CpuOpps| {
                        let own = opps.rows.iter().filter(|row| !other.rows.contains(row));
                        let own: Vec<String> = own.map(row_text).collect();
                        format!("{} rows, its own: {}", opps.rows.len(), listed(&own))
                    };
                    self.differ(&of, "rows", rows(tree, file), rows(file, tree), Origin::Tree);
                }
                (Some(tree), None) => {
                    let rows = format!("{} rows", tree.rows.len());
                    self.differ(&of, "rows", rows, "none", Origin::Tree);
                }
                (None, Some(file)) => {
                    let rows = format!("{} rows", file.rows.len());
                    self.differ(&of, "rows", "none", rows, Origin::Tree);
                }
                _ => {}
            }
        }
    }
}

fn row_text(row: &super::CpuOpp) -> String {
    let votes: Vec<String> = row.kbps.iter().map(Kbps::to_string).collect();
    format!("{} kHz: {}", row.khz.0, votes.join(" "))
}

/// The clock that a column is a vote for: the seed calls the L3 `l3c`.
fn resource(column: &str) -> &str {
    if column == "l3c" { "l3" } else { column }
}

fn regions(reg: &[(u64, u64)]) -> String {
    let regions: Vec<String> = reg.iter().map(|(a, size)| format!("{a:#x}/{size:#x}")).collect();
    regions.join(" ")
}

/// How two tables differ: how many levels each has, and which only it has.
fn tables(tree: &OppTable, file: &OppTable) -> (String, String) {
    let rows = |table: &OppTable| -> Vec<String> {
        let row = |level| table.row(Level(level)).iter().map(Kbps::to_string).collect::<Vec<_>>();
        (0..table.len()).map(|level| row(level).join("/")).collect()
    };
    let (tree, file) = (rows(tree), rows(file));
    let own = |one: &[String], other: &[String]| {
        let own: Vec<String> = one.iter().filter(|row| !other.contains(row)).cloned().collect();
        format!("{} levels, its own: {}", one.len(), listed(&own))
    };
    (own(&tree, &file), own(&file, &tree))
}

/// A list that stays readable.
fn listed(all: &[String]) -> String {
    const SHOWN: usize = 8;
    match all.get(..SHOWN) {
        _ if all.is_empty() => "none".to_owned(),
        Some(first) if all.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), all.len() - SHOWN)
        }
        _ => all.join(", "),
    }
}

/// The frequencies of the file's levels for the tree's: each takes that of the file's lowest level
/// that is as high, or of its highest.
fn fitted<F: Copy>(freqs: &[F], tree: &Domain, file: &Domain) -> Vec<F> {
    let freq = |level: Level| freqs.get(level.0).or(freqs.last()).copied();
    tree.table.kbps().iter().filter_map(|kbps| freq(file.table.ceil(*kbps))).collect()
}

/// Domain names that came twice, one from each side, are told apart.
fn make_distinct(domains: &mut [Domain]) {
    for index in 1..domains.len() {
        let (before, rest) = domains.split_at_mut(index);
        let Some(own) = rest.first_mut() else { continue };
        let mut number = 2;
        let name = own.name.clone();
        while before.iter().any(|other| other.name == own.name) {
            own.name = format!("{name}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
