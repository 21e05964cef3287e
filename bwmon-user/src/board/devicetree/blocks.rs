//! BWMON blocks in a tree: what each node says, and what of it makes a monitor.

use super::address;
use super::interconnect::{self, Path};
use super::interrupt::{self, Interrupt};
use super::names;
use super::node::{At, Problem, Tree};
use super::opp::{self, Row};
use crate::board::parse::{MIN_REGION, overlap};
use crate::board::variant::{VARIANTS, Variant, variant};
use serde::Serialize;

/// Blocks that are looked at; the largest known machine has four.
const MAX_BLOCKS: usize = 64;

/// A BWMON node, as the tree has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Path of the node.
    pub path: String,
    /// The platform device that the kernel makes of it; `None` if its registers are not known.
    pub device: Option<String>,
    /// Its compatible strings, most specific first.
    pub compatible: Vec<String>,
    /// The one by which the driver knows it.
    pub known_as: Option<&'static str>,
    /// Whether the kernel makes a device of it (`status`).
    pub enabled: bool,
    /// Address and size of each region, as the CPUs address it.
    pub reg: Vec<(u64, u64)>,
    /// Its first interrupt.
    pub interrupt: Option<Interrupt>,
    /// Paths of other nodes on the same line: with any, UIO cannot have it.
    pub shared_with: Vec<String>,
    /// The mapping must be non-posted.
    pub nonposted_mmio: bool,
    /// Interconnect paths, in order.
    pub paths: Vec<Path>,
    /// Rows of its OPP table, lowest first.
    pub rows: Vec<Row>,
    /// Its name among the board's monitors; `None` if it is none of them.
    pub monitor: Option<String>,
    /// Its variant.
    #[serde(skip)]
    pub(super) variant: Option<&'static Variant>,
}

/// The BWMON nodes of `tree`, those that can be used first, CPU monitors before others, then by
/// address.
pub(super) fn find(tree: &Tree<'_>, problems: &mut Vec<Problem>) -> Vec<Block> {
    let lines = interrupt::all(tree);
    let mut blocks: Vec<Block> = Vec::new();
    for at in tree.all() {
        let compatible = match at.strings("compatible") {
            Ok(compatible) => compatible,
            Err(what) => {
                problems.push(at.problem(format!("{what}: the node is left out")));
                continue;
            }
        };
        if !compatible.iter().any(|name| is_bwmon(name)) {
            continue;
        }
        if blocks.len() >= MAX_BLOCKS {
            let what = format!("more than {MAX_BLOCKS} BWMON nodes: the rest is left out");
            problems.push(at.problem(what));
            break;
        }
        blocks.push(read(at, compatible, &lines, problems));
    }
    blocks.sort_by_key(|block| {
        let kind = names::kind(&block.compatible);
        (!block.enabled, kind != "cpu", block.reg.first().copied(), block.path.clone())
    });
    name(&mut blocks, problems);
    blocks
}

fn is_bwmon(name: &str) -> bool {
    let (_, what) = name.split_once(',').unwrap_or(("", name));
    what.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with("bwmon")
}

/// What the node says; what cannot be read is reported and left empty.
fn read(
    at: At<'_>,
    compatible: Vec<String>,
    lines: &[(String, Interrupt)],
    problems: &mut Vec<Problem>,
) -> Block {
    let mut note = |what: String| problems.push(at.problem(what));
    let reg = address::regions(at).unwrap_or_else(|what| {
        note(what);
        Vec::new()
    });
    let interrupt = interrupt::first(at).unwrap_or_else(|what| {
        note(format!("{what}: the monitor is polled"));
        None
    });
    let paths = interconnect::paths(at).unwrap_or_else(|what| {
        note(what);
        Vec::new()
    });
    let rows = match opp::table_of(at) {
        Ok(Some(table)) => opp::rows(table, paths.len(), problems),
        Ok(None) => Err("it has no operating-points-v2".into()),
        Err(what) => Err(what),
    };
    let rows = rows.unwrap_or_else(|what| {
        problems.push(at.problem(what));
        Vec::new()
    });
    let shared_with = interrupt.as_ref().map_or_else(Vec::new, |own| {
        let others = lines.iter().filter(|(path, line)| path != at.path() && own.same_line(line));
        others.map(|(path, _)| path.clone()).collect()
    });
    let variant = variant(&compatible);
    let base = at.name().split('@').next().unwrap_or_default();
    let device = reg.first().map(|(address, _)| format!("{address:x}.{base}"));
    Block {
        path: at.path().to_owned(),
        device,
        known_as: variant.map(|variant| variant.compatible),
        compatible,
        enabled: at.enabled(),
        reg,
        interrupt,
        shared_with,
        nonposted_mmio: at.has("nonposted-mmio"),
        paths,
        rows,
        monitor: None,
        variant,
    }
}

/// Names those that make a monitor; of the others it is said why not.
fn name(blocks: &mut [Block], problems: &mut Vec<Problem>) {
    let mut taken: Vec<Vec<(u64, u64)>> = Vec::new();
    let mut usable = Vec::new();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.enabled) {
        match why_not(block, &taken) {
            None => {
                taken.push(block.reg.clone());
                usable.push((index, names::kind(&block.compatible)));
            }
            Some(what) => {
                let what = format!("{what}: no monitor");
                problems.push(Problem { path: block.path.clone(), what });
            }
        }
    }
    let kinds: Vec<&str> = usable.iter().map(|(_, kind)| *kind).collect();
    for ((index, _), name) in usable.iter().zip(names::monitors(&kinds)) {
        if let Some(block) = blocks.get_mut(*index) {
            block.monitor = Some(name);
        }
    }
}

fn why_not(block: &Block, taken: &[Vec<(u64, u64)>]) -> Option<String> {
    let Some(variant) = block.variant else {
        let known: Vec<&str> = VARIANTS.iter().map(|variant| variant.compatible).collect();
        return Some(format!(
            "none of {} is known (known are {})",
            block.compatible.join(", "),
            known.join(", ")
        ));
    };
    let needs = variant.layout.regions();
    if block.reg.len() != needs {
        return Some(format!(
            "{} has {needs} register region(s), reg lists {}",
            variant.compatible,
            block.reg.len()
        ));
    }
    let odd = |(address, size): &&(u64, u64)| !address.is_multiple_of(4) || *size < MIN_REGION;
    if let Some((address, _)) = block.reg.iter().find(odd) {
        return Some(format!("the region at {address:#x} is not aligned or too small for a block"));
    }
    let base = block.device.as_deref().and_then(|device| device.split_once('.'));
    let plain = |c: char| c.is_ascii_alphanumeric() || ",._+-".contains(c);
    if !base.is_some_and(|(_, name)| !name.is_empty() && name.chars().all(plain)) {
        return Some("its name is no node's".into());
    }
    let mut taken = taken.iter();
    taken
        .any(|other| overlap(other, &block.reg))
        .then(|| "its registers overlap those of another BWMON node, which comes first".to_owned())
}
