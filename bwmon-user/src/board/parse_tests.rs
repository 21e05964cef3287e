use super::*;

const GOOD: &str = r#"schema = 1
id = "toy"
name = "Toy"
source = "a test"
[[monitor]]
name = "cpu"
node = "pmu@1000"
compatible = ["qcom,sdm845-bwmon"]
layout = "v4-unified"
reg = [[0x1000, 0x600]]
count_unit_kB = 64
[[domain]]
name = "ddr"
monitor = "cpu"
columns = ["ddr"]
opp_peak_kBps = [
  [800_000],
  [1_804_000],
]
devfreq = { device = "1.noc", freq_hz = [100, 200] }
"#;

fn refused(from: &str, to: &str) -> Diagnostic {
    assert!(GOOD.contains(from), "the test replaces what is there");
    parse("toy.toml", &GOOD.replacen(from, to, 1)).unwrap_err()
}

fn line(fault: &Diagnostic) -> usize {
    fault.place.as_ref().unwrap().line
}

#[test]
fn a_good_file_gives_a_board() {
    let board = parse("toy.toml", GOOD).unwrap();
    assert_eq!(board.monitors[0].device(), "1000.pmu");
    assert_eq!(board.monitors[0].scale.window_ticks, 76_800);
    assert_eq!(board.domains[0].monitor, Some(0));
}

#[test]
fn a_row_of_the_wrong_width_is_shown_with_its_line() {
    let fault = refused("[1_804_000]", "[1_804_000, 5]");
    assert_eq!(line(&fault), 18);
    assert_eq!(fault.message, "OPP row 1 has 2 values, the table has 1 columns");
}

#[test]
fn zero_and_unsorted_rows_are_shown_with_their_line() {
    assert_eq!(line(&refused("[1_804_000]", "[0]")), 18);
    assert_eq!(line(&refused("[1_804_000]", "[700_000]")), 18);
}

#[test]
fn an_unknown_layout_names_the_ones_that_exist() {
    let fault = refused("v4-unified", "v6");
    assert_eq!(line(&fault), 9);
    assert!(fault.message.contains("v4-unified"), "{}", fault.message);
}

#[test]
fn an_unknown_key_is_refused_not_ignored() {
    let fault = refused("count_unit_kB = 64", "count_unit_kB = 64\nspeed = 9");
    assert_eq!(line(&fault), 12);
    assert!(fault.message.contains("speed"), "{}", fault.message);
}

#[test]
fn a_monitor_that_is_not_there_lists_those_that_are() {
    let fault = refused("monitor = \"cpu\"", "monitor = \"gpu\"");
    assert_eq!(fault.help.as_deref(), Some("the monitors of this board are: cpu"));
}

#[test]
fn a_device_name_that_climbs_out_of_sysfs_is_refused() {
    assert_eq!(line(&refused("1.noc", "../../etc")), 20);
    assert_eq!(line(&refused("1.noc", "..")), 20);
    assert_eq!(line(&refused("pmu@1000", "pmu/../x")), 7);
}

#[test]
fn a_node_that_is_not_where_its_registers_are_is_refused() {
    let fault = refused("pmu@1000", "pmu@9999");
    assert_eq!(
        (line(&fault), fault.message.as_str()),
        (7, "node \"pmu@9999\" is not at reg 0x1000")
    );
}

#[test]
fn devfreq_needs_one_frequency_for_each_level() {
    let fault = refused("[100, 200]", "[100]");
    assert_eq!(fault.message, "freq_hz has 1 entries, the OPP table has 2 rows");
}

#[test]
fn a_negative_bandwidth_is_refused_by_the_type() {
    assert_eq!(line(&refused("[800_000]", "[-5]")), 17);
}

#[test]
fn a_split_block_needs_two_regions() {
    let fault = refused("v4-unified", "v4-split");
    assert_eq!(fault.message, "the layout has 2 register region(s), reg lists 1");
}

#[test]
fn truncated_and_empty_files_are_faults_not_panics() {
    for end in 0..GOOD.len() - 60 {
        if GOOD.is_char_boundary(end) {
            assert!(parse("toy.toml", &GOOD[..end]).is_err(), "cut at {end}");
        }
    }
}
