//! `bwmon policy explain`, `new`, `list`, `show` and the coverage of `test`.

use crate::common::{Ran, at, bad, bwmon, command, folder, good};
use serde_json::Value;

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&good(args).stdout).unwrap()
}

#[test]
fn a_tick_of_a_journal_is_explained_with_the_values_along_the_way() {
    let folder = folder(&[]);
    let journal = at(&folder, "j");
    good(&["sim", "--policy", "adaptive", "--journal", &journal]);
    let stories = json(&["policy", "explain", &journal, "--tick", "60", "--json"]);
    // What is told is what the journal has.
    let line = std::fs::read_to_string(&journal).unwrap();
    let entry: Value = serde_json::from_str(line.lines().nth(61).unwrap()).unwrap();
    assert_eq!(stories.as_array().unwrap().len(), 3);
    for (story, recorded) in
        stories.as_array().unwrap().iter().zip(entry["domains"].as_array().unwrap())
    {
        assert_eq!(story["domain"], recorded["name"]);
        assert_eq!(story["decision"], recorded["decision"]);
        assert_eq!(story["applied"], recorded["applied"]);
        assert_eq!(story["proposal"]["why"], recorded["why"]);
        assert!(!story["steps"].as_array().unwrap().is_empty());
    }
    let by_time =
        json(&["policy", "explain", &journal, "--at", "0.24", "--domain", "ddr", "--json"]);
    assert_eq!(by_time[0]["tick"], 60);
    let text = good(&["policy", "explain", &journal, "--tick", "60", "--domain", "ddr"]).stdout;
    assert!(text.contains("let need = headroom(obs.peak_kBps, cfg::util_pct);"), "{text}");
    assert!(text.contains("need = ") && text.contains("not known: kernel_kBps"), "{text}");

    for (args, said) in [
        (vec!["--tick", "99999"], "its last tick is"),
        (vec!["--at", "-1"], "from the first tick of the journal, from 0 on"),
        (vec!["--tick", "1", "--domain", "dram"], "it has llcc, ddr, l3"),
        (vec![], "--tick N or --at SECONDS"),
        (vec!["--tick", "1", "--with", "level=1"], "cannot be used with"),
    ] {
        let args: Vec<&str> = ["policy", "explain", &journal].into_iter().chain(args).collect();
        assert!(bad(2, &args).contains(said), "{args:?}");
    }
}

#[test]
fn a_fault_in_a_journal_is_explained_with_its_place() {
    let folder = folder(&[("p.rhai", "fn decide(obs) {\n  let x = 1;\n  throw \"no\";\n}")]);
    let journal = at(&folder, "j");
    good(&["sim", "--policy", &at(&folder, "p.rhai"), "--ticks", "5", "--journal", &journal]);
    let text = good(&["policy", "explain", &journal, "--tick", "1", "--domain", "ddr"]).stdout;
    assert!(text.contains("p.rhai:3:3") && text.contains("by the native rule"), "{text}");
    // Set aside after three faults: it was not asked, so there are no lines.
    let text = good(&["policy", "explain", &journal, "--tick", "4", "--domain", "ddr"]).stdout;
    assert!(text.contains("set aside") && !text.contains("let x"), "{text}");
}

#[test]
fn readings_that_are_given_are_explained() {
    let base = ["policy", "explain", "bwmon", "--domain", "ddr", "--json"];
    let explain = |more: &[&str]| json(&[&base[..], more].concat());
    let up = explain(&["--with", "peak_kBps=3000000", "--with", "level=0"]);
    // 3000000 kBps fit level 2 (3072000).
    assert_eq!(
        (&up[0]["decision"]["level"], &up[0]["proposal"]["why"]),
        (&2.into(), &"busiest window".into())
    );
    assert_eq!(up[0]["readings"]["util_pct"], 375);
    assert!(up[0]["readings"]["others_kBps"].is_null());
    // 16 quiet windows come down, 15 do not.
    let quiet = ["--with", "peak_kBps=1000", "--with", "level=3"];
    let after = |ticks: &str| explain(&[&quiet[..], &["--ticks", ticks]].concat());
    assert_eq!(after("15")[0]["decision"]["level"], 3);
    assert_eq!(after("16")[0]["decision"]["level"], 0);
    for (with, said) in [
        ("peak_kbps=1", "did you mean peak_kBps?"),
        ("util_pct=1", "follows from peak_kBps and level"),
        ("level=9", "from 0 to 4"),
        ("peak_kBps=-1", "a whole number from 0"),
        ("mean_kBps=3000000", "give peak_kBps too"),
        ("valid=true", "follows from peak_kBps"),
        ("dram.level=1", "it has llcc, ddr, l3"),
    ] {
        let said_ = bad(2, &["policy", "explain", "bwmon", "--domain", "ddr", "--with", with]);
        assert!(said_.contains(said), "{with}: {said_}");
    }
}

#[test]
fn a_long_run_is_shortened_in_the_middle() {
    let folder = folder(&[(
        "p.rhai",
        "fn decide(obs) {\n  let x = 0;\n  for i in 0..500 {\n    x += i;\n  }\n  hold()\n}",
    )]);
    let text = good(&["policy", "explain", &at(&folder, "p.rhai"), "--with", "level=1"]).stdout;
    // 500 rounds and three statements around them, of which 60 are printed.
    assert!(text.contains("(443 more)"), "{text}");
}

#[test]
fn a_new_policy_passes_its_check_and_its_spec_and_replaces_nothing() {
    let folder = folder(&[]);
    let in_folder = |args: &[&str]| command(args).current_dir(folder.path()).output().unwrap();
    assert_eq!(in_folder(&["policy", "new", "mine"]).status.code(), Some(0));
    let file = at(&folder, "mine.rhai");
    good(&["policy", "check", &file]);
    let ran = good(&["policy", "test", &file, "--coverage", "--threshold", "100"]);
    assert!(ran.stdout.contains("coverage 100 %"), "{}", ran.stdout);
    std::fs::write(&file, "mine").unwrap();
    let again = in_folder(&["policy", "new", "mine"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(
        in_folder(&["policy", "new", "mine", "--force", "--from", "adaptive"]).status.code(),
        Some(0)
    );
    // Under its own name, with the spec that belongs to it.
    assert!(
        std::fs::read_to_string(&file).unwrap().starts_with("// mine: serve work in the caches")
    );
    good(&["policy", "test", &file]);
    for name in ["Mine", "mine.rhai", "bwmon", "", "9x", "a b"] {
        assert_eq!(in_folder(&["policy", "new", name]).status.code(), Some(2), "{name}");
    }
}

#[test]
fn a_policy_from_any_other_one_is_as_good_as_that_one() {
    let folder = folder(&[("own.rhai", "// own: holds.\nfn decide(obs) { hold(\"as is\") }")]);
    let new = |args: &[&str]| {
        let all = [&["policy", "new"], args].concat();
        Ran::from(command(&all).current_dir(folder.path()).output().unwrap())
    };
    for row in json(&["policy", "list", "--json"]).as_array().unwrap() {
        let (from, spec) = (row["policy"].as_str().unwrap(), row["spec"] == true);
        let name = format!("my-{}", from.replace('_', "-"));
        let ran = new(&[&name, "--from", from]);
        if from == "native" {
            assert!(ran.stderr.contains("`--from bwmon`"), "{}", ran.stderr);
            continue;
        }
        assert!(ran.code == Some(0) && spec && ran.stderr.is_empty(), "{}", ran.stderr);
        good(&["policy", "test", &at(&folder, &format!("{name}.rhai"))]);
    }
    // Without a spec of its own it gets the template's, and is told so.
    let ran = new(&["other", "--from", "own.rhai"]);
    assert!(ran.stderr.contains("own.rhai has no spec"), "{}", ran.stderr);
    // Nothing is left where one of the two cannot be written.
    std::fs::create_dir(folder.path().join("half.spec.toml")).unwrap();
    assert_eq!(new(&["half", "--force"]).code, Some(2));
    assert!(!folder.path().join("half.rhai").exists());
    std::os::unix::fs::symlink("nowhere", folder.path().join("link.rhai")).unwrap();
    assert!(new(&["link"]).stderr.contains("link.rhai is there already"));
}

#[test]
fn lines_that_no_scenario_reaches_are_named() {
    let script =
        "fn decide(obs) {\n  if obs.dt_us < 0 {\n    return opp_min();\n  }\n  opp_max()\n}";
    let spec = "schema = 1\n[[scenario]]\nname = \"x\"\nseries = [{ ms = 8, peak_kBps = 1 }]\n\
                [[scenario.expect]]\nlevel_min = \"top\"\n";
    let folder = folder(&[("p.rhai", script), ("p.spec.toml", spec)]);
    let file = at(&folder, "p.rhai");
    let ran = good(&["policy", "test", &file, "--coverage"]);
    assert!(
        ran.stdout.contains("coverage 67 %: 2 of 3 lines; never reached: line 3"),
        "{}",
        ran.stdout
    );
    let few = bwmon(&["policy", "test", &file, "--coverage", "--threshold", "80", "--json"]);
    assert_eq!(few.code, Some(1));
    let report: Value = serde_json::from_str(&few.stdout).unwrap();
    assert_eq!(report["policies"][0]["coverage"]["missed"], serde_json::json!([3]));
}

#[test]
fn list_and_show_tell_what_there_is() {
    let rows = json(&["policy", "list", "--json"]);
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|r| r["policy"].as_str().unwrap()).collect();
    for name in
        ["bwmon", "bw_hwmon", "ondemand", "powersave", "performance", "fixed", "adaptive", "native"]
    {
        assert!(names.contains(&name), "{name}");
    }
    let shown = json(&["policy", "show", "bw_hwmon", "--json"]);
    assert!(shown["presets"]["sdm845-cpubw"]["zones_MiBps"].as_str().unwrap().starts_with("2288,"));
    assert!(
        shown["tunables"]
            .as_array()
            .unwrap()
            .iter()
            .any(|t| t["name"] == "decay_rate" && t["max"] == 100.0)
    );
    // What is in the state or in a text is no reading.
    let folder_ = folder(&[(
        "s.rhai",
        "fn init(i) { #{ windows: 0 } }\nfn decide(obs) { this.windows += 1; hold(\"obs.level\") }",
    )]);
    let shown = json(&["policy", "show", &at(&folder_, "s.rhai"), "--json"]);
    assert_eq!(shown["readings"], serde_json::json!([]));
    assert_eq!(shown["functions"], serde_json::json!(["hold"]));
    assert!(bad(2, &["policy", "show", "native"]).contains("`bwmon policy show bwmon`"));
    assert!(good(&["policy", "show", "bwmon", "--source"]).stdout.contains("fn decide(obs)"));
    assert!(bad(2, &["policy", "show", "bwmn"]).contains("did you mean the policy bwmon?"));
    assert!(bad(2, &["policy", "list", "/no/such"]).contains("cannot read the folder"));
    let folder =
        folder(&[("a.rhai", "// a: good.\nfn decide(obs) { hold() }"), ("b.rhai", "// @param x")]);
    let ran = bwmon(&["policy", "list", folder.path().to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("good.") && ran.stderr.contains("@param"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}
