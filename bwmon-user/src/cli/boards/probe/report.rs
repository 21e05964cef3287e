//! What `bwmon boards probe` found, for people and for scripts.

use crate::board::devicetree::{Block, Problem};
use crate::board::fitted::Mark;
use crate::board::{Basis, Board, Difference, Origin};
use crate::cli::output::{grouped, table};
use crate::live::{BlockState, Identity};
use serde::Serialize;

/// The report.
#[derive(Serialize)]
pub(super) struct Report {
    model: Option<String>,
    compatible: Vec<String>,
    board: Option<Chosen>,
    why: String,
    blocks: Vec<BlockRow>,
    tables: Vec<Table>,
    differences: Vec<Difference>,
    marks: Vec<Mark>,
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct Chosen {
    id: String,
    name: String,
    /// The built-in board that was merged with the tree.
    file: Option<String>,
    monitors: usize,
    domains: usize,
}

/// A node with the state of its device; `state` is absent for a copied tree and for nodes that make
/// no monitor.
#[derive(Serialize)]
struct BlockRow {
    #[serde(flatten)]
    block: Block,
    state: Option<BlockState>,
}

#[derive(Serialize)]
struct Table {
    domain: String,
    levels: usize,
    columns: Vec<String>,
    basis: Basis,
}

impl Report {
    pub(super) fn new(identity: &Identity, states: Vec<BlockState>) -> Self {
        let found = identity.discovery.as_ref();
        let blocks = found.map_or(&[] as &[Block], |found| &found.blocks);
        let rows = blocks.iter().cloned().map(|block| {
            let own = |state: &&BlockState| Some(&state.device) == block.device.as_ref();
            let state = states.iter().find(own).filter(|_| block.monitor.is_some()).cloned();
            BlockRow { block, state }
        });
        let board = identity.board.as_ref();
        let tables = board.map_or(&[] as &[_], |board| &board.domains).iter().map(|domain| Table {
            domain: domain.name.clone(),
            levels: domain.table.len(),
            columns: domain.table.columns().to_vec(),
            basis: Basis::of(&domain.table),
        });
        Self {
            model: found.and_then(|found| found.model.clone()),
            compatible: found.map_or_else(Vec::new, |found| found.compatible.clone()),
            board: board.map(|board| Chosen {
                id: board.id.clone(),
                name: board.name.clone(),
                file: identity.file.clone(),
                monitors: board.monitors.len(),
                domains: board.domains.len(),
            }),
            why: identity.why.clone(),
            blocks: rows.collect(),
            tables: tables.collect(),
            differences: identity.differences.clone(),
            marks: identity.marks.clone(),
            problems: found.map_or_else(Vec::new, |found| found.problems.clone()),
        }
    }

    /// Whether the tree has a monitor.
    pub(super) fn found(&self) -> bool {
        self.blocks.iter().any(|row| row.block.monitor.is_some())
    }

    pub(super) fn text(&self, identity: &Identity) -> String {
        let unnamed = "a machine without a name".to_owned();
        let mut parts = vec![format!(
            "{} ({})\nboard: {}: {}",
            self.model.as_ref().unwrap_or(&unnamed),
            if self.compatible.is_empty() {
                "no compatible".into()
            } else {
                self.compatible.join(", ")
            },
            self.board.as_ref().map_or("none", |board| board.id.as_str()),
            self.why
        )];
        parts.extend(self.blocks.iter().map(block));
        if let Some(board) = &identity.board {
            parts.push(domains(board));
        }
        if !self.differences.is_empty() {
            let rows: Vec<String> = self.differences.iter().map(difference).collect();
            parts.push(format!("differences between tree and file:\n{}", rows.join("\n")));
        }
        if !self.marks.is_empty() {
            let rows: Vec<String> = self.marks.iter().map(mark).collect();
            parts.push(format!("levels that this machine may not have:\n{}", rows.join("\n")));
        }
        if !self.problems.is_empty() {
            let rows = self.problems.iter().map(|p| format!(" {}: {}", p.path, p.what));
            let rows: Vec<String> = rows.collect();
            parts.push(format!("not understood:\n{}", rows.join("\n")));
        }
        parts.join("\n\n")
    }
}

fn block(row: &BlockRow) -> String {
    let BlockRow { block, state } = row;
    let name = match (&block.monitor, block.enabled) {
        (Some(name), _) => format!("monitor {name}"),
        (None, true) => "no monitor".to_owned(),
        (None, false) => "disabled".to_owned(),
    };
    let known = block.known_as.unwrap_or("unknown");
    let mut text = format!(
        "{}: {name}\n compatible  {} (as {known})",
        block.path,
        block.compatible.join(", ")
    );
    let mut line = |key: &str, value: String| text += &format!("\n {key:<11} {value}");
    let regions: Vec<String> =
        block.reg.iter().map(|(address, size)| format!("{address:#x}/{size:#x}")).collect();
    let nonposted = if block.nonposted_mmio { ", mapped non-posted" } else { "" };
    line("registers", format!("{}{nonposted}", regions.join(" ")));
    if let Some(state) = state {
        let driver = state.driver.as_deref().unwrap_or("none");
        line("driver", driver.to_owned());
        line("reachable", format!("{}: {}", if state.reachable { "yes" } else { "no" }, state.how));
    }
    let interrupt = match &block.interrupt {
        None => "none".to_owned(),
        Some(own) => own.spi.map_or_else(
            || format!("{:?} of {}", own.cells, own.controller),
            |spi| format!("SPI {spi}"),
        ),
    };
    let shared = match block.shared_with.as_slice() {
        [] => "not shared".to_owned(),
        others => format!("shared with {}: polled, since UIO cannot share", others.join(", ")),
    };
    line("interrupt", format!("{interrupt}, {shared}"));
    for path in &block.paths {
        let tag = |tag: Option<u32>| tag.map_or_else(|| "none".to_owned(), |tag| tag.to_string());
        let name = path.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
        let (src, dst) = (tag(path.src.tag), tag(path.dst.tag));
        let differ = if src == dst { "" } else { " (they differ, so the kernel sets none)" };
        line("path", format!("{name}{} -> {}, tags {src} {dst}{differ}", path.src, path.dst));
    }
    let levels: Vec<String> = block
        .rows
        .iter()
        .map(|row| row.peak.iter().map(u32::to_string).collect::<Vec<_>>().join("/"))
        .collect();
    line("levels", format!("{} kBps", levels.join(" ")));
    text
}

/// The domains, a line each; `boards show` has their levels.
fn domains(board: &Board) -> String {
    let rows = board.domains.iter().map(|domain| {
        let kbps = domain.table.kbps();
        let ends =
            [kbps.first(), kbps.last()].map(|k| k.map_or_else(String::new, |k| grouped(k.0)));
        vec![
            domain.name.clone(),
            board.monitor_of(domain).map_or("none", |m| m.name.as_str()).to_owned(),
            domain.table.columns().join(" "),
            kbps.len().to_string(),
            ends.join(" to "),
            Basis::of(&domain.table).text().to_owned(),
        ]
    });
    let header = ["domain", "monitor", "columns", "levels", "kBps", "counted as"];
    let mut text = table(&header, &["levels"], rows.collect());
    for monitor in &board.monitors {
        if let Some(doubt) = &monitor.doubt {
            text += &format!("\ncount unit of {} is in doubt: {doubt}", monitor.name);
        }
    }
    text
}

fn difference(difference: &Difference) -> String {
    let used = match difference.used {
        Origin::Tree => "the tree's is used",
        Origin::File => "the file's is used",
    };
    format!(
        " {} {}: tree {}; file {}; {used}",
        difference.of, difference.field, difference.tree, difference.file
    )
}

fn mark(mark: &Mark) -> String {
    format!(" {} level {} ({} kBps): {}", mark.domain, mark.level, grouped(mark.kbps.0), mark.why)
}
