use super::testing::{cells, node, strings, tree_of};
use super::*;
use crate::board::{builtin, builtin_ids, parse, to_toml};
use proptest::prelude::*;

fn board(id: &str) -> Board {
    builtin(id).unwrap().unwrap()
}

/// What a tree can say of a board: no names of interconnect nodes, no vote paths, no doubts, nothing
/// of domains without a monitor.
fn bare(mut board: Board) -> Board {
    board.domains.retain(|domain| domain.monitor.is_some());
    for domain in &mut board.domains {
        domain.icc_nodes = None;
        domain.devfreq = None;
        domain.icc.clear();
        domain.bus_dcvs = None;
    }
    for monitor in &mut board.monitors {
        monitor.doubt = None;
    }
    board
}

#[test]
fn every_built_in_board_is_found_again_in_the_tree_that_it_describes() {
    for id in builtin_ids() {
        let expected = bare(board(id));
        let found = discover(&tree_of(&expected));
        assert_eq!(found.problems, [], "{id}");
        let found = found.board.unwrap();
        assert_eq!(found.monitors, expected.monitors, "{id}");
        assert_eq!(found.domains, expected.domains, "{id}");
        assert_eq!(found.cpu_opps, expected.cpu_opps, "{id}");
    }
}

#[test]
fn the_machine_is_named_by_its_last_compatible_and_its_model() {
    let found = discover(&tree_of(&board("sdm845")));
    assert_eq!(found.compatible, ["acme,device", "qcom,sdm845"]);
    let board = found.board.unwrap();
    assert_eq!((board.id.as_str(), board.name.as_str()), ("sdm845", "Acme Device"));
}

#[test]
fn shared_lines_name_the_other_node() {
    let found = discover(&tree_of(&board("x1e80100")));
    let cpu0 = &found.blocks[0];
    assert_eq!(cpu0.shared_with, ["/soc@0/pmu@240b5400", "/soc@0/pmu@240b6400"]);
    assert_eq!(found.blocks[3].shared_with, [] as [&str; 0]);
}

/// The tree of SDM845 with `change` made to its node `pmu@1436400`.
fn sdm845(change: impl FnOnce(&mut Node)) -> Discovery {
    let mut root = tree_of(&board("sdm845"));
    let soc = root.children.iter_mut().find(|child| child.name == "soc@0").unwrap();
    change(soc.children.iter_mut().find(|child| child.name == "pmu@1436400").unwrap());
    discover(&root)
}

/// That only the LLCC monitor's domain is left, and what is said of the other node.
fn only_ddr_is_left(found: &Discovery) -> String {
    let board = found.board.as_ref().unwrap();
    let names: Vec<&str> = board.domains.iter().map(|domain| domain.name.as_str()).collect();
    assert_eq!(names, ["ddr"], "{:?}", found.problems);
    let own = found.problems.iter().filter(|p| p.path.starts_with("/soc@0/pmu@1436400"));
    own.map(|problem| problem.what.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_broken_node_costs_itself_alone_and_is_named() {
    type Change = fn(&mut Node);
    let cases: [(Change, &str); 9] = [
        (|pmu| *pmu = cells(pmu.clone(), "reg", &[0, 0x0143_6400, 0]), "reg has 3 cells"),
        (|pmu| *pmu = strings(pmu.clone(), "reg", &["odd"]), "reg lists 0"),
        (|pmu| *pmu = cells(pmu.clone(), "reg", &[0, 2, 0, 0x600]), "not aligned"),
        (|pmu| *pmu = cells(pmu.clone(), "reg", &[0, 0x0114_a800, 0, 0x600]), ""),
        (|pmu| *pmu = cells(pmu.clone(), "operating-points-v2", &[77]), "phandle 0x4d"),
        (|pmu| *pmu = cells(pmu.clone(), "interconnects", &[77, 1]), "phandle 0x4d"),
        (|pmu| *pmu = cells(pmu.clone(), "interconnects", &[]), "no interconnects"),
        (|pmu| pmu.children.clear(), "phandle"),
        (|pmu| *pmu = strings(pmu.clone(), "compatible", &["qcom,bwmon4"]), "is known"),
    ];
    for (change, word) in cases {
        // Overlapping registers: the CPU monitor comes first, so the other one is left out.
        let found = sdm845(change);
        if word.is_empty() {
            let problem = &found.problems[0];
            assert_eq!(problem.path, "/soc@0/pmu@114a000");
            assert!(problem.what.contains("overlap"), "{problem:?}");
            continue;
        }
        let said = only_ddr_is_left(&found);
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_node_whose_compatible_is_no_text_is_left_out_and_named() {
    let found = sdm845(|pmu| {
        pmu.properties.insert("compatible".into(), b"qcom,sdm845-bwmon\0\xff\xfe\0".to_vec());
    });
    assert_eq!(found.blocks.len(), 1);
    assert!(found.problems[0].what.contains("no UTF-8 text from byte 18"), "{:?}", found.problems);
}

#[test]
fn a_disabled_node_is_listed_but_makes_no_monitor() {
    let found = sdm845(|pmu| *pmu = strings(pmu.clone(), "status", &["disabled"]));
    assert_eq!(found.problems, []);
    assert_eq!(found.board.unwrap().monitors.len(), 1);
    let off = found.blocks.iter().find(|block| !block.enabled).unwrap();
    assert_eq!((off.path.as_str(), off.monitor.as_ref()), ("/soc@0/pmu@1436400", None));
}

#[test]
fn a_node_with_no_interrupt_is_still_a_monitor() {
    let found = sdm845(|pmu| *pmu = cells(pmu.clone(), "interrupts", &[0, 581]));
    let board = found.board.unwrap();
    assert_eq!((board.monitors[0].irq_spi, board.domains.len()), (None, 2));
    assert!(found.problems[0].what.contains("the monitor is polled"), "{:?}", found.problems);
}

#[test]
fn a_tree_without_anything_is_no_board_and_no_fault() {
    let found = discover(&node(""));
    assert_eq!((found.board, found.problems, found.blocks.len()), (None, vec![], 0));
}

#[test]
fn endless_numbers_of_nodes_and_rows_are_cut_with_a_word() {
    let mut root = tree_of(&board("sdm845"));
    let soc = root.children.iter_mut().find(|child| child.name == "soc@0").unwrap();
    for n in 0..200 {
        soc.children.push(strings(node(&format!("z{n}")), "compatible", &["x,bwmon"]));
    }
    let found = discover(&root);
    assert_eq!(found.blocks.len(), 64);
    assert!(found.problems.iter().any(|p| p.what.contains("more than 64 BWMON nodes")));
    let found = sdm845(|pmu| {
        let rows = (1..400).map(|n| cells(node(&format!("opp-{n}")), "opp-peak-kBps", &[n]));
        pmu.children[0].children = rows.collect();
    });
    assert!(only_ddr_is_left(&found).contains("more than 256 rows"));
}

/// All properties of a tree, by the way to them.
fn mutate(root: &mut Node, which: usize, edit: &Edit) {
    let mut left = which;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if left < node.properties.len() {
            let name = node.properties.keys().nth(left).unwrap().clone();
            let bytes = node.properties.get_mut(&name).unwrap();
            match edit {
                Edit::Byte(at, value) if !bytes.is_empty() => {
                    let at = at % bytes.len();
                    bytes[at] = *value;
                }
                Edit::Cut(at) => bytes.truncate(at % (bytes.len() + 1)),
                Edit::Grow(more) => bytes.extend(more),
                Edit::Swap(other) => *bytes = other.clone(),
                Edit::Remove => {
                    node.properties.remove(&name);
                }
                Edit::Byte(..) => {}
            }
            return;
        }
        left -= node.properties.len();
        open.extend(node.children.iter_mut());
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Byte(usize, u8),
    Cut(usize),
    Grow(Vec<u8>),
    Swap(Vec<u8>),
    Remove,
}

fn edits() -> impl Strategy<Value = Vec<(usize, Edit)>> {
    let edit = prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, value)| Edit::Byte(at, value)),
        any::<usize>().prop_map(Edit::Cut),
        prop::collection::vec(any::<u8>(), 1..9).prop_map(Edit::Grow),
        prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()], 0..40)
            .prop_map(Edit::Swap),
        Just(Edit::Remove),
    ];
    prop::collection::vec((0usize..600, edit), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn whatever_stands_in_a_tree_the_board_found_is_one_that_a_file_could_hold(
        id in prop::sample::select(vec!["sdm845", "sdm845-seed", "sm8750", "sm6350", "qcs615"]),
        edits in edits(),
    ) {
        let mut root = tree_of(&board(id));
        for (which, edit) in &edits {
            mutate(&mut root, *which, edit);
        }
        let found = discover(&root);
        if let Some(board) = found.board {
            let text = to_toml(&board, &[]);
            prop_assert_eq!(parse("found", &text), Ok(board), "{}", text);
        }
    }
}
