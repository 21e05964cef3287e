//! `bwmon boards` and bad board files.

use crate::common::{BOARD, at, bad, folder, good, json};

#[test]
fn the_list_names_every_board_and_one_is_shown_with_its_levels() {
    assert_eq!(json(&["boards", "--json"]).as_array().unwrap().len(), 18);
    let shown = good(&["boards", "sdm845-seed"]).stdout;
    assert!(shown.contains("7 216 000") && shown.contains("25 497 600"), "{shown}");
}

#[test]
fn a_built_in_board_file_is_a_start_for_ones_own() {
    let file = good(&["boards", "sdm845", "--file"]).stdout;
    let folder = folder(&[("mine.toml", &file)]);
    good(&["boards", &at(&folder, "mine.toml")]);
    good(&["sim", "--ticks", "10", "--board", &at(&folder, "mine.toml")]);
}

#[test]
fn bad_board_files_are_shown_with_their_line_at_every_door() {
    for (from, to, line, word) in [
        ("[1_804_000]", "[1_804_000, 7]", 16, "OPP row 1 has 2 values"),
        ("[1_804_000]", "[0]", 16, "holds a zero"),
        ("[1_804_000]", "[800_000]", 16, "lowest to highest"),
        ("v4-unified", "v9", 9, "v4-unified"),
        ("freq_hz = [100, 200, 300]", "freq_hz = [100]", 17, "one devfreq frequency"),
        ("schema = 1", "schema = 2", 1, "schema 2"),
        ("monitor = \"cpu\"", "monitor = \"gpu\"", 14, "no [[monitor]]"),
    ] {
        let text = BOARD.replacen(from, to, 1);
        assert_ne!(text, BOARD);
        let folder = folder(&[("b.toml", &text)]);
        let file = at(&folder, "b.toml");
        for args in [
            vec!["boards", file.as_str()],
            vec!["sim", "--board", file.as_str()],
            vec!["policy", "check", "bwmon", "--board", file.as_str()],
            vec!["run", "--board", file.as_str()],
            vec!["doctor", "--board", file.as_str()],
        ] {
            let said = bad(2, &args);
            assert!(said.contains(&format!("b.toml:{line}:")), "{args:?}: {said}");
            assert!(said.contains(word), "{args:?}: {said}");
        }
    }
}

#[test]
fn an_unknown_board_is_answered_with_a_suggestion() {
    assert!(bad(2, &["sim", "--board", "sdm854"]).contains("did you mean sdm845?"));
    assert!(bad(2, &["boards", "nonsense"]).contains("`bwmon boards` lists"));
}
