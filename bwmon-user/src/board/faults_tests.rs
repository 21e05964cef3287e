use super::*;
use crate::board::{builtin_ids, builtin_text};
use proptest::prelude::*;

const BAD: &str = r#"schema = 2
id = "two words"
name = "Toy"
source = "a test"
colour = "red"
[[monitor]]
name = "cpu"
node = "pmu@1000"
compatible = ["qcom,sdm845-bwmon"]
layout = "v4-unified"
reg = [[0x1000, 0x600]]
count_unit_kb = 64
count_unit_kB = 0
[[monitor]]
name = "llcc"
node = "pmu@9000"
compatible = ["qcom,sdm845-bwmon"]
layout = "v5"
reg = [[0x9000, 0x600]]
count_unit_kB = 64
irq_spi = "five"
force_claer = true
[[domain]]
name = "ddr"
monitor = "cpu"
columns = ["ddr"]
opp_peak_kBps = [
  [800_000],
  [700_000],
]
[[domain]]
name = "llcc"
monitor = "gpu"
columns = ["llcc"]
opp_peak_kBps = [[1], [2]]
devfreq = { device = "../x", freq_hz = [1, 2], speed = 9 }
"#;

fn lines(text: &str) -> Vec<usize> {
    faults("b.toml", text).iter().map(|fault| fault.place.as_ref().map_or(0, |p| p.line)).collect()
}

#[test]
fn all_faults_are_found_at_their_lines_and_none_that_follows_from_another() {
    // 1 schema, 2 id, 5 colour, 12 the misspelt unit, 13 a unit of 0 (the monitor goes, and ddr's
    // `monitor = "cpu"` with it), 21 a number, 22 a misspelt key, 29 a table that falls, 33 a monitor
    // that never was, 36 twice: the unknown key, then the device.
    assert_eq!(lines(BAD), [1, 2, 5, 12, 13, 21, 22, 29, 36, 36], "{:#?}", faults("b.toml", BAD));
}

#[test]
fn a_reference_to_a_monitor_that_never_was_is_a_fault() {
    let text = BAD.replace("count_unit_kB = 0", "count_unit_kB = 64");
    assert!(lines(&text).contains(&33), "{:?}", lines(&text));
}

#[test]
fn wrong_vote_paths_and_lists_cost_their_own_key_alone() {
    // A tag of 0 in a list of paths, a file's compatible that is no list, and a table that falls.
    let text = BAD
        .replace("colour = \"red\"", "compatible = 5")
        .replace("monitor = \"gpu\"\n", "icc = [{ src = \"a\", dst = \"b\", tag = 0 }]\n");
    let found = lines(&text);
    for line in [5, 29, 33, 36] {
        assert!(found.contains(&line), "{line}: {:#?}", faults("b.toml", &text));
    }
}

#[test]
fn what_is_no_toml_is_shown_alone_but_wholly() {
    let text = "schema = = 1\nid = \"x\"\nname = nonsense\n";
    let found = lines(text);
    assert!(found.contains(&1) && found.contains(&3), "{found:?}");
}

#[test]
fn a_file_without_domains_or_without_anything_is_one_fault() {
    assert_eq!(lines("schema = 1\nid = \"x\"\nname = \"\"\nsource = \"\"\n"), [0]);
    assert_eq!(faults("b.toml", "").len(), 1);
}

#[test]
fn good_files_have_none() {
    for id in builtin_ids() {
        assert_eq!(faults(id, builtin_text(id).unwrap()), [], "{id}");
    }
}

proptest! {
    #[test]
    fn the_first_fault_that_parsing_finds_is_always_among_them(
        cut in 0usize..1_000, line in 0usize..60,
    ) {
        // A line is lost, and some letters of another.
        let mut all: Vec<String> =
            builtin_text("sdm845").unwrap().lines().take(56).map(str::to_owned).collect();
        let at = line % all.len();
        all.remove(at);
        let other = cut % all.len();
        let shorter: String = all[other].chars().skip(cut % 7).collect();
        all[other] = shorter;
        let text = all.join("\n");
        let found = faults("b.toml", &text);
        match parse("b.toml", &text) {
            Ok(_) => prop_assert_eq!(found, vec![]),
            Err(first) => prop_assert!(
                found.iter().any(|fault| fault.message == first.message),
                "{:?}\n{:?}", first, found
            ),
        }
    }
}
