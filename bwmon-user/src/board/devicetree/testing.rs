//! Trees for tests: built by hand, or made from a board as a vendor would have written it.

use super::node::Node;
use super::providers;
use crate::board::{Board, Level};

pub(crate) fn node(name: &str) -> Node {
    Node { name: name.into(), ..Node::default() }
}

pub(crate) fn cells(mut node: Node, property: &str, values: &[u32]) -> Node {
    let bytes = values.iter().flat_map(|cell| cell.to_be_bytes()).collect();
    node.properties.insert(property.into(), bytes);
    node
}

pub(crate) fn strings(mut node: Node, property: &str, values: &[&str]) -> Node {
    let bytes = values.iter().flat_map(|text| text.bytes().chain([0])).collect();
    node.properties.insert(property.into(), bytes);
    node
}

fn wide(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

const GIC: u32 = 1;

struct Maker {
    soc: String,
    /// Providers by label; phandles are their numbers from 100.
    providers: Vec<(String, Node, u32)>,
    tables: u32,
}

impl Maker {
    /// The cells of one end of a path: `mem_noc SLAVE_LLCC`.
    fn end(&mut self, end: &str, tag: u32) -> Vec<u32> {
        let (label, name) = end.split_once(' ').unwrap();
        let (compatible, id) = providers::find(&self.soc, label, name).unwrap();
        let l3 = label.ends_with("l3");
        let phandle = 100
            + self.providers.iter().position(|p| p.0 == label).unwrap_or_else(|| {
                let at = self.providers.len();
                let node =
                    strings(node(&format!("interconnect-{label}")), "compatible", &[compatible]);
                let node = cells(node, "#interconnect-cells", &[if l3 { 1 } else { 2 }]);
                let node = cells(node, "phandle", &[100 + at as u32]);
                self.providers.push((label.to_owned(), node, 0));
                at
            }) as u32;
        if l3 { vec![phandle, id] } else { vec![phandle, id, tag] }
    }

    fn path(&mut self, (src, dst): (&str, &str), tags: (u32, u32)) -> Vec<u32> {
        let mut cells = self.end(src, tags.0);
        cells.extend(self.end(dst, tags.1));
        cells
    }

    /// A path for the CPU column or second monitor column `column`.
    fn column(&mut self, column: &str) -> Vec<u32> {
        let ends: &[(&str, &str)] = match column {
            "l3" | "l3c" => &[("osm_l3 MASTER_OSM_L3_APPS", "osm_l3 SLAVE_OSM_L3")],
            "llcc" => &[("gem_noc MASTER_APPSS_PROC", "gem_noc SLAVE_LLCC")],
            _ => &[
                ("mc_virt MASTER_LLCC", "mc_virt SLAVE_EBI1"),
                ("mc_virt MASTER_LLCC", "mc_virt SLAVE_EBI_CH0"),
                ("mem_noc MASTER_LLCC", "mem_noc SLAVE_EBI1"),
                ("clk_virt MASTER_LLCC", "clk_virt SLAVE_EBI_CH0"),
                ("bimc MASTER_APPSS_PROC", "bimc SLAVE_EBI1"),
            ],
        };
        let known = |end: &str| {
            let (label, name) = end.split_once(' ').unwrap();
            providers::find(&self.soc, label, name).is_some()
        };
        let ends = *ends.iter().find(|(src, dst)| known(src) && known(dst)).unwrap();
        self.path(ends, (3, 3))
    }

    fn table(&mut self, name: &str, rows: Vec<(Option<u64>, Vec<u32>)>) -> (Node, u32) {
        self.tables += 1;
        let phandle = 1_000 + self.tables;
        let mut table = cells(node(name), "phandle", &[phandle]);
        table = strings(table, "compatible", &["operating-points-v2"]);
        for (index, (hz, peaks)) in rows.into_iter().enumerate() {
            let mut opp = cells(node(&format!("opp-{index}")), "opp-peak-kBps", &peaks);
            if let Some(hz) = hz {
                opp = cells(opp, "opp-hz", &wide(hz));
            }
            table.children.push(opp);
        }
        (table, phandle)
    }
}

/// The tree that `board` describes, with the names and numbers of the mainline sources.
pub(crate) fn tree_of(board: &Board) -> Node {
    let soc = board.id.trim_end_matches("-seed").to_owned();
    let mut maker = Maker { soc, providers: Vec::new(), tables: 0 };
    let mut soc = cells(node("soc@0"), "#address-cells", &[2]);
    soc = cells(cells(soc, "#size-cells", &[2]), "ranges", &[0, 0, 0, 0, 0x10, 0]);
    for (index, monitor) in board.monitors.iter().enumerate() {
        let own: Vec<&str> = monitor.compatible.iter().map(String::as_str).collect();
        let mut pmu = strings(node(&monitor.node), "compatible", &own);
        let reg: Vec<u32> =
            monitor.reg.iter().flat_map(|(a, s)| [wide(*a), wide(*s)].concat()).collect();
        pmu = cells(pmu, "reg", &reg);
        if let Some(spi) = monitor.irq_spi {
            pmu = cells(pmu, "interrupts", &[0, spi, 4]);
        }
        if monitor.nonposted_mmio {
            pmu = cells(pmu, "nonposted-mmio", &[]);
        }
        for domain in board.domains.iter().filter(|domain| domain.monitor == Some(index)) {
            let (src, dst) = domain.path.as_ref().unwrap();
            let mut paths = maker.path((src, dst), domain.icc_tags.unwrap());
            let columns: Vec<&str> = domain.table.columns().iter().map(String::as_str).collect();
            for column in &columns[1..] {
                paths.extend(maker.column(column));
                pmu = strings(pmu, "interconnect-names", &columns);
            }
            pmu = cells(pmu, "interconnects", &paths);
            let rows = (0..domain.table.len()).map(|level| {
                (None, domain.table.row(Level(level)).iter().map(|k| k.0 as u32).collect())
            });
            let (table, phandle) = maker.table("opp-table", rows.collect());
            pmu = cells(pmu, "operating-points-v2", &[phandle]);
            pmu.children.push(table);
        }
        soc.children.push(pmu);
    }
    let mut cpus = cells(node("cpus"), "#address-cells", &[1]);
    let mut tables = Vec::new();
    for opps in &board.cpu_opps {
        let rows = opps
            .rows
            .iter()
            .map(|row| (Some(row.khz.0 * 1_000), row.kbps.iter().map(|k| k.0 as u32).collect()));
        let (table, phandle) = maker.table(&format!("opp-table-{}", opps.name), rows.collect());
        tables.push(table);
        let paths: Vec<u32> = opps.columns.iter().flat_map(|c| maker.column(c)).collect();
        // Two CPUs have the table; it is one.
        for own in 0..2 {
            let number: u32 = opps.name.trim_start_matches("cpu").parse().unwrap();
            let cpu = node(&format!("cpu@{:x}", (number + own) * 0x100));
            let cpu = cells(cpu, "operating-points-v2", &[phandle]);
            cpus.children.push(cells(cpu, "interconnects", &paths));
        }
    }
    let gic = strings(node("interrupt-controller@17a00000"), "compatible", &["arm,gic-v3"]);
    soc.children.push(cells(cells(gic, "#interrupt-cells", &[3]), "phandle", &[GIC]));
    let mut compatible = vec!["acme,device"];
    compatible.extend(board.compatible.iter().map(String::as_str));
    let mut root = strings(node(""), "compatible", &compatible);
    root = strings(root, "model", &["Acme Device"]);
    root = cells(cells(root, "#address-cells", &[2]), "#size-cells", &[2]);
    root = cells(root, "interrupt-parent", &[GIC]);
    root.children = vec![cpus, soc];
    root.children.extend(tables);
    root.children.extend(maker.providers.into_iter().map(|(_, node, _)| node));
    root
}
