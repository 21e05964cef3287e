use super::*;
use crate::bundle::testing::bundle;
use crate::product::{At, shipped};

const PRODUCT: &str = r#"schema = 1
name = "acme"
board = "sdm845-seed"
[match]
dt_compatible = ["acme,tab10"]
[policy]
name = "policies/room.rhai"
params = { room_pct = 75 }
"#;

const ROOM: &str = r#"// How much room is left above the busiest window.
// @param room_pct = 80 (30..100) how full the busiest window may leave a level
fn decide(obs) {
    if !obs.valid { return hold("no reading"); }
    demand_kBps(headroom(obs.peak_kBps, cfg::room_pct)).hold_ms(20).why("room")
}
"#;

// Three quarters of 5 412 000 kBps, level 5, are 4 059 000.
const SPEC: &str = r#"schema = 1
board = "sdm845-seed"
[[scenario]]
name = "asks for more under load"
series = [
  { ms = 100, peak_kBps = 100_000 },
  { ms = 100, peak_kBps = 4_000_000 },
]
[[scenario.expect]]
step = 2
level_at_end = 5
"#;

fn none(name: &str, _: &At) -> Result<crate::policy::script::Source, String> {
    Err(format!("there is no {name} outside"))
}

fn checked(files: &[(&str, &str)]) -> Result<Checked, Diagnostic> {
    check(&bundle(files), "0.1.0", vec![shipped()], &mut none)
}

fn fault(files: &[(&str, &str)]) -> String {
    checked(files).unwrap_err().to_string()
}

#[test]
fn a_bundle_that_holds_says_what_was_looked_at() {
    let found = checked(&[
        ("acme.toml", PRODUCT),
        ("policies/room.rhai", ROOM),
        ("policies/room.spec.toml", SPEC),
    ])
    .unwrap();
    let on = ProductOn { name: "acme".into(), board: "sdm845-seed".into() };
    assert_eq!((found.products, found.policies, found.scenarios), (vec![on], 1, 1));
    assert_eq!(found.trace_ticks, 0);
}

#[test]
fn products_that_are_wrong_or_cannot_be_told_apart_are_refused() {
    let no_board = PRODUCT.replace("board = \"sdm845-seed\"\n", "");
    let other = PRODUCT.replace("\"acme\"", "\"other\"");
    let escaping = PRODUCT.replace("policies/room", "../../room");
    let base = "schema = 1\nname = \"acme\"\nabstract = true\n";
    let board = PRODUCT.replace("\"sdm845-seed\"", "\"boards/b.toml\"");
    let script = ("policies/room.rhai", ROOM);
    for (files, word) in [
        (&[("acme.toml", "schema = 1\nnam = \"acme\""), script][..], "did you mean name?"),
        (&[("acme.toml", &*no_board), script], "no board is known"),
        (&[("acme.toml", PRODUCT)], "policies/room.rhai is not in the bundle"),
        (&[("acme.toml", &*escaping), script], "leads out of the bundle"),
        (&[("acme.toml", &*board), script], "boards/b.toml is not in the bundle"),
        (&[("acme.toml", base), script], "none of its products is for a machine"),
        (&[("acme.toml", PRODUCT), ("p/acme.toml", PRODUCT), script], "are one product"),
        (
            &[("acme.toml", PRODUCT), ("other.toml", &*other), script],
            "acme and other ask for the same",
        ),
        (&[("acme.toml", &*other), script], "called other in a file acme.toml"),
    ] {
        let said = fault(files);
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn policies_that_do_not_compile_fault_or_are_linted_are_refused_at_their_line() {
    for (policy, words) in [
        (ROOM.replace("headroom(", "headrom("), ["room.rhai:5", "headrom"]),
        (ROOM.replace("hold_ms(20)", "hold_ms(\"x\")"), ["room.rhai:5", "hold_ms"]),
        (
            ROOM.replace("demand_kBps(", "let x = (").replace(".hold_ms(20).why(\"room\")", ";"),
            ["room.rhai", "decide"],
        ),
        (ROOM.replace("room_pct = 80", "room_pt = 80"), ["acme.toml", "room_pct"]),
        (
            ROOM.replace("    demand", "    while true {}\n    demand"),
            ["room.rhai:3", "5000 operations"],
        ),
    ] {
        let said = fault(&[("acme.toml", PRODUCT), ("policies/room.rhai", &policy)]);
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
    // One that no product uses is looked at as well.
    let product = PRODUCT.split("[policy]").next().unwrap();
    let said = fault(&[("acme.toml", product), ("x.rhai", "fn decide(obs) { 1 }")]);
    assert!(said.contains("x.rhai"), "{said}");
}

#[test]
fn a_spec_that_does_not_hold_with_the_products_values_is_refused() {
    let files = |product: &str, spec: &str| {
        fault(&[
            ("acme.toml", product),
            ("policies/room.rhai", ROOM),
            ("policies/room.spec.toml", spec),
        ])
    };
    let said = files(PRODUCT, &SPEC.replace("at_end = 5", "at_end = 1"));
    for word in ["does not hold with room_pct=75", "asks for more under load", "room.spec.toml:"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let said = files(PRODUCT, &SPEC.replace("sdm845-seed", "../../../etc/b.toml"));
    assert!(said.contains("leads out of the bundle"), "{said}");
    let said = fault(&[
        ("acme.toml", PRODUCT.split("[policy]").next().unwrap()),
        ("other.spec.toml", SPEC),
    ]);
    assert!(said.contains("no policy other.rhai beside it"), "{said}");
}

#[test]
fn a_bundle_for_another_bwmon_is_refused() {
    let mut wanted = bundle(&[("acme.toml", PRODUCT), ("policies/room.rhai", ROOM)]);
    wanted.manifest.requires_bwmon = Some(">=0.2".into());
    let said = check(&wanted, "0.1.0", vec![], &mut none).unwrap_err().to_string();
    assert!(said.contains("requires bwmon >=0.2; this is 0.1.0"), "{said}");
    check(&wanted, "0.2.1", vec![], &mut none).unwrap();
}

#[test]
fn traces_that_are_none_or_of_a_board_without_a_product_are_refused() {
    let files = |trace: &str| {
        fault(&[("acme.toml", PRODUCT), ("policies/room.rhai", ROOM), ("t.jsonl", trace)])
    };
    for (trace, word) in [("", "t.jsonl"), ("{}", "t.jsonl:1"), ("no journal", "t.jsonl:1")] {
        let said = files(trace);
        assert!(said.contains(word), "{word}: {said}");
    }
}
