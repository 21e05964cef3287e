//! Levels of a table that the machine does not really have.
//!
//! A device tree serves several machines: its table may list levels that the memory on this one
//! cannot run at. Who votes for such a level gets the next lower one, silently, and a policy that
//! waits for it waits for ever. What the machine has is said by SMEM's list of memory clocks (debugfs
//! `qcom_smem/dram_frequencies`, series "soc: qcom: Expose DDR data from SMEM", 2026-01), by the
//! devfreq device of the domain, or by the rows' own `opp-supported-hw`.

use super::basis::{Basis, DDR_WIDTH, close};
use super::devicetree::Block;
use super::{Board, Domain, Level};
use crate::units::{Hz, Kbps};
use serde::Serialize;

/// A level with something to be known about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The domain.
    pub domain: String,
    /// The level.
    pub level: Level,
    /// Its kBps, column 0.
    #[serde(rename = "kBps")]
    pub kbps: Kbps,
    /// What.
    pub what: Lack,
    /// For people.
    pub why: String,
}

/// What is wrong with a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// It is above the highest clock that the machine has.
    AboveTheTop,
    /// It lies between two clocks that the machine has.
    Between,
    /// Only some hardware versions have it; which this machine is cannot be told from here.
    SomeHardware,
}

/// Marks levels of domains that end at the memory by `clocks`, the frequencies of the fitted memory.
pub fn by_memory(board: &Board, clocks: &[Hz]) -> Vec<Mark> {
    let mut sorted: Vec<u64> = clocks.iter().map(|hz| hz.0 / 1_000 * DDR_WIDTH).collect();
    sorted.sort_unstable();
    let Some(top) = sorted.last().copied() else { return Vec::new() };
    let first = |domain: &Domain| domain.table.columns().first().cloned();
    let mut marks = Vec::new();
    for domain in board.domains.iter().filter(|domain| first(domain).as_deref() == Some("ddr")) {
        let basis = Basis::of(&domain.table);
        for (level, kbps) in domain.table.kbps().iter().enumerate() {
            let stands_for = basis.true_kbps(*kbps).0;
            if sorted.iter().any(|clock| close(*clock, stands_for)) {
                continue;
            }
            let (what, why) = if stands_for > top {
                let why = format!("the fitted memory's highest clock gives {top} kBps");
                (Lack::AboveTheTop, why)
            } else {
                let next = sorted.iter().find(|clock| **clock > stands_for).unwrap_or(&top);
                let why = format!("no clock of the fitted memory; the next one gives {next} kBps");
                (Lack::Between, why)
            };
            marks.push(Mark {
                domain: domain.name.clone(),
                level: Level(level),
                kbps: *kbps,
                what,
                why,
            });
        }
    }
    marks
}

/// Marks levels whose devfreq frequency is above all that the device offers. `offered` answers what the
/// device of that name offers; `None` if it is not there.
pub fn by_devfreq(board: &Board, offered: impl Fn(&str) -> Option<Vec<Hz>>) -> Vec<Mark> {
    let mut marks = Vec::new();
    for domain in &board.domains {
        let Some(path) = &domain.devfreq else { continue };
        let Some(top) = offered(&path.device).and_then(|all| all.into_iter().max()) else {
            continue;
        };
        let levels = path.freq_hz.iter().zip(domain.table.kbps()).enumerate();
        for (level, (_, kbps)) in levels.filter(|(_, (freq, _))| **freq > top) {
            let why = format!("devfreq {} offers at most {top} Hz", path.device);
            marks.push(Mark {
                domain: domain.name.clone(),
                level: Level(level),
                kbps: *kbps,
                what: Lack::AboveTheTop,
                why,
            });
        }
    }
    marks
}

/// Marks levels whose rows in the tree are for some hardware only.
pub fn by_hardware(board: &Board, blocks: &[Block]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for domain in &board.domains {
        let monitor = board.monitor_of(domain).map(|monitor| monitor.device());
        let Some(block) = blocks.iter().find(|b| b.device.is_some() && b.device == monitor) else {
            continue;
        };
        let levels = block.rows.iter().zip(domain.table.kbps()).enumerate();
        for (level, (row, kbps)) in levels.filter(|(_, (row, _))| !row.supported_hw.is_empty()) {
            let masks: Vec<String> = row.supported_hw.iter().map(|m| format!("{m:#x}")).collect();
            let why = format!("only for hardware versions in {}", masks.join(" "));
            marks.push(Mark {
                domain: domain.name.clone(),
                level: Level(level),
                kbps: *kbps,
                what: Lack::SomeHardware,
                why,
            });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::devicetree::discover;
    use crate::board::devicetree::testing::{cells, tree_of};
    use crate::board::{DevfreqKnob, DevfreqPath, builtin};

    fn board(id: &str) -> Board {
        builtin(id).unwrap().unwrap()
    }

    fn levels(marks: &[Mark]) -> Vec<(usize, Lack)> {
        marks.iter().map(|mark| (mark.level.0, mark.what)).collect()
    }

    /// What an SM8650-HDK lists (test report of the SMEM series).
    const HDK: [u64; 10] = [
        200_000_000,
        547_200_000,
        768_000_000,
        1_555_200_000,
        1_708_800_000,
        2_092_800_000,
        2_736_000_000,
        3_187_200_000,
        3_686_400_000,
        4_224_000_000,
    ];

    #[test]
    fn a_real_machines_clocks_carry_all_levels_of_its_table_though_it_is_in_mib() {
        assert_eq!(by_memory(&board("sm8650"), &HDK.map(Hz)), []);
    }

    #[test]
    fn levels_above_a_slower_memory_are_marked() {
        // Without the last clock 16113000 (4224 MHz in MiB) is above the top, level 8.
        let marks =
            by_memory(&board("sm8650"), &HDK[..9].iter().copied().map(Hz).collect::<Vec<_>>());
        assert_eq!(levels(&marks), [(8, Lack::AboveTheTop)]);
        assert_eq!(marks[0].why, "the fitted memory's highest clock gives 14745600 kBps");
    }

    #[test]
    fn levels_between_two_clocks_are_marked_with_the_next() {
        // sdm845: 800000 1804000 3072000 5412000 7216000; 4 bytes of 200, 768 and 1804 MHz.
        let clocks = [200_000_000, 768_000_000, 1_804_000_000].map(Hz);
        let marks = by_memory(&board("sdm845"), &clocks);
        assert_eq!(levels(&marks), [(1, Lack::Between), (3, Lack::Between)]);
        assert_eq!(marks[0].why, "no clock of the fitted memory; the next one gives 3072000 kBps");
        assert_eq!(by_memory(&board("sdm845"), &[]), []);
    }

    #[test]
    fn a_devfreq_device_with_fewer_frequencies_marks_the_levels_above() {
        let mut board = board("sdm845");
        let freq_hz = [100, 200, 300, 400, 500].map(Hz).to_vec();
        let through = DevfreqKnob::Userspace;
        board.domains[1].devfreq = Some(DevfreqPath { device: "noc".into(), freq_hz, through });
        let offered = |name: &str| (name == "noc").then(|| vec![Hz(100), Hz(300)]);
        let marks = by_devfreq(&board, offered);
        assert_eq!(levels(&marks), [(3, Lack::AboveTheTop), (4, Lack::AboveTheTop)]);
        assert_eq!(by_devfreq(&board, |_| None), []);
    }

    #[test]
    fn rows_for_some_hardware_are_marked() {
        let board = board("sdm845");
        let mut described = board.clone();
        described.domains.retain(|domain| domain.monitor.is_some());
        let mut root = tree_of(&described);
        let soc = root.children.iter_mut().find(|child| child.name == "soc@0").unwrap();
        let pmu = soc.children.iter_mut().find(|child| child.name == "pmu@114a000").unwrap();
        let row = &mut pmu.children[0].children[4];
        *row = cells(row.clone(), "opp-supported-hw", &[0x6]);
        let marks = by_hardware(&board, &discover(&root).blocks);
        assert_eq!(levels(&marks), [(4, Lack::SomeHardware)]);
        assert_eq!(
            (marks[0].domain.as_str(), marks[0].why.as_str()),
            ("ddr", "only for hardware versions in 0x6")
        );
    }
}
