use super::*;
use crate::board::devicetree::discover;
use crate::board::devicetree::testing::tree_of;
use crate::board::{DevfreqKnob, IccPath, builtin, builtin_ids, parse, to_toml};
use crate::units::{Hz, Khz};

fn board(id: &str) -> Board {
    builtin(id).unwrap().unwrap()
}

/// What the tree of `board` says, merged with `file`.
fn merged(board: &Board, file: &Board) -> Merged {
    let mut described = board.clone();
    described.domains.retain(|domain| domain.monitor.is_some());
    let found = discover(&tree_of(&described));
    assert_eq!(found.problems, []);
    merge(&found.board.unwrap(), file)
}

/// The differences as `of field: tree | file, used`.
fn lines(merged: &Merged) -> Vec<String> {
    let line =
        |d: &Difference| format!("{} {}: {} | {}, {:?}", d.of, d.field, d.tree, d.file, d.used);
    merged.differences.iter().map(line).collect()
}

#[test]
fn a_machine_as_its_file_says_gives_the_files_board_and_no_difference() {
    for id in builtin_ids() {
        let file = board(id);
        let merged = merged(&file, &file);
        assert_eq!(merged.differences, [], "{id}");
        assert_eq!(Board { source: file.source.clone(), ..merged.board }, file, "{id}");
    }
}

#[test]
fn the_tree_wins_for_what_it_describes_and_the_file_for_units_and_names() {
    let file = board("sdm845");
    let mut machine = file.clone();
    machine.monitors[0].reg[0].1 = 0x800;
    machine.monitors[0].irq_spi = Some(99);
    machine.domains[0].icc_tags = Some((7, 7));
    let mut known = file.clone();
    known.monitors[1].scale.unit_kb = 4096;
    let merged = merged(&machine, &known);
    assert_eq!(
        lines(&merged),
        [
            "monitor cpu reg: 0x1436400/0x800 | 0x1436400/0x600, Tree",
            "monitor cpu irq_spi: 99 | 581, Tree",
            "monitor llcc count_unit_kB: 1024 | 4096, File",
            "domain llcc icc_tags: 7 7 | 3 3, Tree",
        ]
    );
    assert_eq!(merged.board.monitors[0].reg, [(0x0143_6400, 0x800)]);
    assert_eq!(merged.board.monitors[1].scale.unit_kb, 4096);
    assert!(merged.board.monitors[1].doubt.is_some());
    assert_eq!(merged.board.domains[0].icc_nodes.as_ref().unwrap().0, "acm_l3");
}

#[test]
fn another_table_is_shown_by_the_levels_that_only_one_has() {
    let file = board("sdm845");
    let mut machine = file.clone();
    let columns = vec!["ddr".to_owned()];
    let rows = [800_000, 1_804_000, 6_220_000].map(|k| vec![Kbps(k)]);
    machine.domains[1].table = OppTable::new(columns, rows.into()).unwrap();
    let merged = merged(&machine, &file);
    assert_eq!(
        lines(&merged),
        ["domain ddr opp_peak_kBps: 3 levels, its own: 6220000 | \
          5 levels, its own: 3072000, 5412000, 7216000, Tree"]
    );
    assert_eq!(merged.board.domains[1].table.len(), 3);
}

#[test]
fn a_vote_path_for_other_levels_takes_the_frequency_of_the_next_level_up() {
    let mut file = board("sdm845");
    // 800000 1804000 3072000 5412000 7216000
    let freq_hz = [100, 200, 300, 400, 500].map(Hz).to_vec();
    let through = DevfreqKnob::Limits;
    file.domains[1].devfreq = Some(DevfreqPath { device: "noc".into(), freq_hz, through });
    let freq_khz = [10, 20, 30, 40, 50].map(Khz).to_vec();
    file.domains[1].bus_dcvs = Some(BusDcvsPath { hw: "DDR".into(), freq_khz });
    let mut machine = file.clone();
    let rows = [800_000, 2_000_000, 3_072_000, 9_000_000].map(|k| vec![Kbps(k)]);
    machine.domains[1].table = OppTable::new(vec!["ddr".into()], rows.into()).unwrap();
    let ddr = merged(&machine, &file).board.domains.remove(1);
    let path = ddr.devfreq.unwrap();
    assert_eq!((path.freq_hz, path.through), ([100, 300, 300, 500].map(Hz).to_vec(), through));
    assert_eq!(ddr.bus_dcvs.unwrap().freq_khz, [10, 30, 30, 50].map(Khz));
}

#[test]
fn interconnect_paths_are_taken_only_where_the_tree_has_the_same_path() {
    let mut file = board("sdm845");
    let icc = vec![IccPath { src: "llcc_mc".into(), dst: "ebi".into(), tag: 3 }];
    file.domains[1].icc = icc.clone();
    assert_eq!(merged(&file, &file).board.domains[1].icc, icc);
    let mut machine = file.clone();
    machine.domains[1].path = machine.domains[0].path.clone();
    let ddr = &merged(&machine, &file).board.domains[1];
    assert_eq!((ddr.icc.len(), ddr.icc_nodes.as_ref()), (0, None));
}

#[test]
fn a_derivative_without_a_monitor_has_no_domain_for_it() {
    // purwa.dtsi deletes x1e80100's first CPU monitor.
    let file = board("x1e80100");
    let mut machine = file.clone();
    machine.monitors.remove(0);
    machine.domains.remove(0);
    for domain in &mut machine.domains {
        domain.monitor = domain.monitor.map(|index| index - 1);
    }
    let merged = merged(&machine, &file);
    assert_eq!(lines(&merged), ["monitor cpu0 node: none | pmu@240b3400, Tree"]);
    let names: Vec<&str> = merged.board.domains.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["llcc-cpu1", "llcc-cpu2", "ddr"]);
    assert_eq!(merged.board.monitors[0].name, "cpu1");
}

#[test]
fn a_monitor_that_the_file_does_not_know_keeps_the_trees_name() {
    let file = board("sdm845");
    let mut machine = file.clone();
    machine.monitors[0].reg[0].0 = 0x0143_7400;
    machine.monitors[0].node = "pmu@1437400".into();
    let merged = merged(&machine, &file);
    assert_eq!(
        lines(&merged),
        [
            "monitor cpu-tree node: pmu@1437400 | none, Tree",
            "domain llcc monitor: cpu-tree | no such domain, Tree",
            "monitor cpu node: none | pmu@1436400, Tree",
        ]
    );
    assert_eq!(parse("merged", &to_toml(&merged.board, &[])), Ok(merged.board));
}

#[test]
fn the_seeds_tree_keeps_its_own_domain_on_a_machine_that_is_called_sdm845() {
    let merged = merged(&board("sdm845-seed"), &board("sdm845"));
    let names: Vec<&str> = merged.board.domains.iter().map(|d| d.name.as_str()).collect();
    // The file's `llcc` is not this domain, and its `l3` is a column of it.
    assert_eq!(names, ["ddr"]);
    assert!(lines(&merged).contains(&"domain ddr columns: ddr l3c | llcc, Tree".to_owned()));
    assert!(lines(&merged).iter().any(|line| line.starts_with("domain l3 columns")));
    assert_eq!(merged.board.domains[0].icc_nodes, None);
}

#[test]
fn cpu_opps_that_differ_are_shown_by_their_rows() {
    // sc7180-lite.dtsi lowers the memory column of the fastest rows.
    let file = board("sc7180");
    let mut machine = file.clone();
    machine.cpu_opps[1].rows[15].kbps[0] = Kbps(7_216_000);
    let merged = merged(&machine, &file);
    assert_eq!(
        lines(&merged),
        ["cpu_opp cpu6 rows: 16 rows, its own: 2553600 kHz: 7216000 23347200 | \
          16 rows, its own: 2553600 kHz: 8532000 23347200, Tree"]
    );
}
