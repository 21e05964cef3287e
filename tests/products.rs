//! Products: choosing one, and policies and limits per domain.

use crate::common::{Ran, Tree, at, bad, bwmon, folder, good, json};
use serde_json::Value;
use std::fs;

/// A product for the fake tree's machine, on the fake tree's board.
const TREE: &str = r#"schema = 1
name = "acme"
version = "1.2"
board = "../../../board.toml"
period_us = 4500
[match]
dt_compatible = ["acme,tab10"]
[limits]
min_kBps = 1_804_000
max_level = 1
[domain.ddr]
policy = "mine.rhai"
params = { level = 0 }
"#;

const MINE: &str = "// @param level = 2 (0..2) x\nfn decide(obs) { opp(cfg::level) }";

fn acme() -> Tree {
    let tree = Tree::new();
    tree.write("sys/firmware/devicetree/base/compatible", "acme,tab10\0qcom,sdm845\0");
    tree.write("proc/sys/kernel/osrelease", "6.12.9\n");
    tree.write("etc/bwmon/products/acme.toml", TREE);
    tree.write("etc/bwmon/products/mine.rhai", MINE);
    tree
}

fn run(tree: &Tree, more: &[&str]) -> Ran {
    let journal = at(&tree.folder, "journal");
    let mut args = vec!["run", "--ticks", "5", "--journal", &journal];
    args.extend(more);
    tree.command(&args).output().unwrap().into()
}

fn which(tree: &Tree, more: &[&str]) -> Ran {
    let root = tree.folder.path().to_str().unwrap().to_owned();
    let mut args = vec!["policy", "which", "--root", &root];
    args.extend(more);
    bwmon(&args)
}

fn journal(path: &str) -> (Value, Vec<Value>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn a_dry_run_takes_the_machines_product_and_says_which_why_and_what() {
    let tree = acme();
    let ran = run(&tree, &["--dry-run", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for said in [
        "product acme 1.2 (",
        "etc/bwmon/products/acme.toml): dt_compatible acme,tab10 (place 1",
        "domain ddr: policy mine.rhai, level=0; limits min_kBps=1804000, max_level=1",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(summary["product"], "acme");
    let (header, entries) = journal(&at(&tree.folder, "journal"));
    assert_eq!((&header["product"]["name"], &header["period_us"]), (&"acme".into(), &4_500.into()));
    assert_eq!(header["policy"]["params"]["level"], 0);
    // The policy asks for level 0, the floor of 1804000 kBps is level 1.
    assert_eq!(
        (&header["rails"][0]["min_level"], &header["rails"][0]["max_level"]),
        (&1.into(), &1.into())
    );
    let last = &entries.last().unwrap()["domains"][0]["decision"];
    assert_eq!((&last["level"], &last["reason"]), (&1.into(), &"min_level".into()));
    good(&["replay", "--verify", &at(&tree.folder, "journal")]);
}

#[test]
fn governing_votes_no_level_above_the_limit_not_even_at_the_takeover() {
    let tree = acme();
    let ran = run(&tree, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let (header, _) = journal(&at(&tree.folder, "journal"));
    // Level 1 is 200 Hz on the tree's device; the table goes to 2.
    assert_eq!(header["levels"][0], 1);
    assert_eq!((tree.set_freq().as_str(), tree.governor().as_str()), ("200", "simple_ondemand"));
    good(&["replay", "--verify", &at(&tree.folder, "journal")]);
}

#[test]
fn a_policy_on_the_command_line_leaves_products_aside_and_says_so() {
    let tree = acme();
    // Broken products are left aside as well.
    tree.write("etc/bwmon/products/other.toml", "schema = 1");
    let board = at(&tree.folder, "board.toml");
    let ran = run(&tree, &["--dry-run", "--board", &board, "--policy", "powersave"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("products are left aside"), "{}", ran.stderr);
    let (header, entries) = journal(&at(&tree.folder, "journal"));
    assert!(header.get("product").is_none());
    assert_eq!(entries[4]["domains"][0]["decision"]["level"], 0);
    // With the product named, its limits stay.
    let ran = run(&tree, &["--dry-run", "--product", "acme", "--policy", "powersave"]);
    assert!(ran.stderr.contains("of the product, the limits stay"), "{}", ran.stderr);
    let (_, entries) = journal(&at(&tree.folder, "journal"));
    assert_eq!(entries[4]["domains"][0]["decision"]["level"], 1);
}

#[test]
fn without_a_product_that_fits_the_policy_is_bwmon_and_that_is_said() {
    let tree = acme();
    tree.write("sys/firmware/devicetree/base/compatible", "other,board\0other,soc\0");
    let board = at(&tree.folder, "board.toml");
    let ran = run(&tree, &["--dry-run", "--board", &board]);
    assert!(ran.stderr.contains("no product fits this machine"), "{}", ran.stderr);
    let (header, _) = journal(&at(&tree.folder, "journal"));
    assert_eq!(header["policy"]["name"], "bwmon");
    assert_eq!(which(&tree, &[]).code, Some(1));
    // One that is not for this machine can be forced, with a warning.
    let ran = run(&tree, &["--dry-run", "--product", "acme"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = "warning: acme is not for this machine: dt_compatible: none of acme,tab10 in [other,board, other,soc]";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_a_product_stops_the_run_before_anything_is_touched() {
    type Break = fn(&Tree);
    let file = "etc/bwmon/products/acme.toml";
    let cases: [(Break, &[&str]); 6] = [
        (
            |t| t.write("etc/bwmon/products/x.toml", "schema = 1\nname = \"x\"\nverson = 1"),
            &["x.toml:3:1", "did you mean version?"],
        ),
        (
            |t| t.write("etc/bwmon/products/x.toml", &TREE.replace("\"acme\"", "\"x\"")),
            &["acme (", "x (", "2 products fit this machine equally"],
        ),
        (
            |t| t.write("etc/bwmon/products/acme.toml", &TREE.replace("domain.ddr", "domain.dd")),
            &["acme.toml:11", "did you mean ddr?"],
        ),
        (
            |t| t.write("etc/bwmon/products/acme.toml", &TREE.replace("mine.rhai", "none.rhai")),
            &["acme.toml:12", "none.rhai"],
        ),
        (
            |t| t.write("etc/bwmon/products/mine.rhai", &MINE.replace("cfg::level)", "")),
            &["mine.rhai:2"],
        ),
        (
            |t| fs::create_dir(t.path("etc/bwmon/products/y.toml")).unwrap(),
            &["y.toml is not a regular file"],
        ),
    ];
    for (break_it, words) in cases {
        let tree = acme();
        break_it(&tree);
        let ran = run(&tree, &[]);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
        assert_eq!(
            (tree.set_freq().as_str(), tree.governor().as_str()),
            ("undefined", "simple_ondemand")
        );
        assert!(tree.path(file).exists() && !tree.path("journal").exists(), "{words:?}");
    }
}

#[test]
fn an_earlier_folder_hides_a_file_and_a_link_to_dev_null_masks_it() {
    let tree = acme();
    tree.write("run/bwmon/products/acme.toml", "broken");
    tree.write("usr/lib/bwmon/products/sdm845.toml", "schema = 1\nname = \"sdm845\"\nversion = \"ours\"\n[match]\ndt_compatible = [\"qcom,sdm845\"]");
    let shown = which(&tree, &["--explain"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("run/bwmon/products/acme.toml is hidden by"), "{}", shown.stdout);
    assert!(shown.stdout.contains("<built-in sdm845.toml> is hidden by"), "{}", shown.stdout);
    fs::remove_file(tree.path("etc/bwmon/products/acme.toml")).unwrap();
    std::os::unix::fs::symlink("/dev/null", tree.path("etc/bwmon/products/acme.toml")).unwrap();
    let shown = which(&tree, &["--json"]);
    let report: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&report["product"]["name"], &report["product"]["version"]),
        (&"sdm845".into(), &"ours".into())
    );
    assert_eq!(report["facts"]["kernel"], "6.12.9");
    let failed = report["candidates"].as_array().unwrap().iter().find(|c| c["name"] == "sc7280");
    assert_eq!(failed.unwrap()["key"], "dt_compatible");
    std::os::unix::fs::symlink("/dev/null", tree.path("etc/bwmon/products/sdm845.toml")).unwrap();
    assert_eq!(which(&tree, &[]).code, Some(1));
    // Folders on the command line take the place of those three; one that is not there is an error.
    let own = folder(&[("tab.toml", "schema = 1\nname = \"tab\"\n[match]\nsoc_id = 1")]);
    let own = own.path().to_str().unwrap();
    assert!(which(&tree, &["--products", own]).stdout.starts_with("sdm845 1 (<built-in"));
    let none = which(&tree, &["--products", "/not/there"]);
    assert!(none.code == Some(2) && none.stderr.contains("/not/there"), "{}", none.stderr);
}

/// Four policies on three domains would be one too many: two scripts, the native rule.
const MIXED: &str = r#"schema = 1
name = "mixed"
abstract = true
board = "sdm845"
[limits]
max_step_down = 1
max_transitions_per_s = 20
[domain.llcc]
policy = "ondemand"
params = { up_threshold = 80 }
limits = { min_dwell_ms = 20, max_kBps = 20_889_600 }
[domain.ddr]
policy = "native"
limits = { min_kBps = 1_804_000 }
[domain.l3]
policy = "adaptive"
"#;

#[test]
fn two_policies_and_limits_are_in_the_journal_and_replay_to_the_byte() {
    let folder = folder(&[("mixed.toml", MIXED)]);
    let (file, path) = (at(&folder, "mixed.toml"), at(&folder, "j"));
    let sim = ["sim", "--product", &file, "--limit", "l3.max_level=9", "--journal", &path];
    let ran = good(&sim);
    assert!(
        ran.stderr.contains("domain l3: policy adaptive; limits max_level=9"),
        "{}",
        ran.stderr
    );
    let (header, entries) = journal(&path);
    let parts = header["policy"]["policies"].as_array().unwrap();
    let names: Vec<&Value> = parts.iter().map(|part| &part["policy"]["name"]).collect();
    assert_eq!(names, ["ondemand", "native", "adaptive"]);
    assert_eq!(header["policy"]["name"], "llcc: ondemand; ddr: native; l3: adaptive");
    // 20889600 is level 3 of llcc's five, 1804000 level 1 of ddr's.
    let bounds = |at: usize| {
        (header["rails"][at]["min_level"].clone(), header["rails"][at]["max_level"].clone())
    };
    assert_eq!(
        [bounds(0), bounds(1), bounds(2)],
        [(0.into(), 3.into()), (1.into(), 4.into()), (0.into(), 9.into())]
    );
    let level =
        |entry: &Value, at: usize| entry["domains"][at]["decision"]["level"].as_u64().unwrap();
    let mut reasons = std::collections::BTreeSet::new();
    for pair in entries.windows(2) {
        for (at, (least, most)) in [(0, 3), (1, 4), (0, 9)].into_iter().enumerate() {
            let (old, new) = (level(&pair[0], at), level(&pair[1], at));
            assert!((least..=most).contains(&new) && old.saturating_sub(new) <= 1, "{pair:?}");
            reasons
                .insert(pair[1]["domains"][at]["decision"]["reason"].as_str().unwrap().to_owned());
        }
    }
    assert!(reasons.contains("step_down") && reasons.contains("min_level"), "{reasons:?}");
    assert_eq!(json(&["replay", "--verify", "--json", &path])["different"], 0);
    // The limits are part of what is verified.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"max_step_down\":1", "\"max_step_down\":0", 1)).unwrap();
    assert_eq!(bwmon(&["replay", "--verify", &path]).code, Some(1));
    // A part that is not the one of its digest, is missing, or stands twice.
    for (from, to, said) in [
        ("up_threshold - ", "up_threshold + ", "not the one of its digest"),
        ("\"domains\":[\"l3\"]", "\"domains\":[]", "domain l3 has no policy"),
        ("\"domains\":[\"l3\"]", "\"domains\":[\"l3\",\"ddr\"]", "domain ddr has two"),
    ] {
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        assert!(bad(2, &["replay", "--verify", &path]).contains(said), "{said}");
    }
}

#[test]
fn a_journal_without_a_product_has_none_of_the_new_keys_and_one_of_an_older_program_is_read() {
    let folder = folder(&[]);
    let path = at(&folder, "j");
    good(&["sim", "--ticks", "20", "--journal", &path]);
    let (header, _) = journal(&path);
    // What version 0.1.0 wrote, no more and no less.
    let mut keys: Vec<&String> = header.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        [
            "board",
            "capabilities",
            "kernel",
            "levels",
            "mode",
            "period_us",
            "policy",
            "program",
            "rails",
            "schema"
        ]
    );
    assert_eq!(header["policy"].as_object().unwrap().len(), 4);
    good(&["replay", "--verify", &path]);
}

#[test]
fn limits_work_without_a_product_and_are_checked() {
    let folder = folder(&[]);
    let path = at(&folder, "j");
    let limits =
        ["--min-level", "1", "--limit", "ddr.max_kBps=3072000", "--limit", "ddr.min_level=2"];
    good(&[&["sim", "--journal", &path], &limits[..]].concat());
    let (header, _) = journal(&path);
    // llcc, ddr (3072000 is level 2), l3.
    for (at, (least, most)) in [(1, 4), (2, 2), (1, 13)].into_iter().enumerate() {
        let rails = &header["rails"][at];
        assert_eq!(
            (&rails["min_level"], &rails["max_level"]),
            (&least.into(), &most.into()),
            "{at}"
        );
    }
    good(&["replay", "--verify", &path]);
    for (limit, said) in [
        ("ddrr.min_level=1", "did you mean ddr?"),
        ("ddr.min_kbps=1", "did you mean min_kBps?"),
        ("ddr.min_kBps=9000000", "above the highest level of domain ddr"),
        ("min_level=9", "levels go from 0 to 4"),
        ("ddr", "DOMAIN.LIMIT=VALUE"),
    ] {
        assert!(bad(2, &["sim", "--limit", limit]).contains(said), "{limit}");
    }
    let said = bad(2, &["sim", "--product", "sdm845", "--limit", "ddr.min_dwell_ms=3"]);
    assert!(said.contains("looser than 4 at <built-in qcom-bwmon.toml>:"), "{said}");
}

#[test]
fn the_effective_values_are_listed_with_where_each_comes_from() {
    let list = [
        "policy",
        "list",
        "--json",
        "--product",
        "vendor-sdm845",
        "--set",
        "decay_rate=80",
        "--limit",
        "ddr.min_level=1",
    ];
    let report = json(&list);
    assert_eq!(
        (&report["product"], &report["board"]["value"]),
        (&"vendor-sdm845".into(), &"sdm845".into())
    );
    let ddr = &report["domains"][1];
    let find = |what: &str, name: &str| {
        let rows = ddr[what].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).map(|row| {
            format!("{} from {}", row["value"].as_str().unwrap(), row["from"].as_str().unwrap())
        })
    };
    assert_eq!(find("params", "window_ms").unwrap(), "50 from default of the policy");
    assert_eq!(find("params", "decay_rate").unwrap(), "80 from --set decay_rate=80");
    assert!(
        find("params", "io_percent")
            .unwrap()
            .starts_with("80 from preset sdm845-llccbw, <built-in")
    );
    assert_eq!(find("limits", "min_level").unwrap(), "1 from --limit ddr.min_level=1");
    assert!(find("limits", "min_dwell_ms").unwrap().contains("<built-in qcom-bwmon.toml>:"));
    assert_eq!((&ddr["min_level"], &ddr["max_level"]), (&1.into(), &4.into()));
    assert!(
        bad(2, &["policy", "list", "--product", "vendor-sdm84"])
            .contains("did you mean vendor-sdm845?")
    );
    assert!(good(&["policy", "list"]).stdout.contains("bw_hwmon"));
    // A script that does not compile is found out here, not on the board.
    let broken = "schema = 1\nname = \"p\"\nabstract = true\n[policy]\nname = \"p.rhai\"";
    let folder = folder(&[("p.toml", broken), ("p.rhai", "fn decide(obs) { hold( }")]);
    let file = at(&folder, "p.toml");
    assert!(
        bad(2, &["policy", "list", "--product", &file, "--board", "sc7280"]).contains("p.rhai:1:")
    );
}
