//! Tests of what a product comes to on a board.

use super::*;
use crate::board::{Level, builtin};
use crate::product::parse;

fn board() -> Board {
    // llcc, ddr, l3.
    builtin("sdm845").unwrap().unwrap()
}

/// Knows one script, of the folder of whoever names it.
fn load(name: &str, at: &At) -> Result<Source, String> {
    match name {
        "mine.rhai" => Ok(Source {
            name: format!("{}/mine.rhai", at.file().unwrap()),
            text: "// @param k = 5 (0..9) x\nfn decide(obs) { hold() }".into(),
        }),
        _ => Err(format!("cannot read {name}")),
    }
}

fn tried(rest: &str, given: &Given) -> Result<Vec<EffectiveDomain>, Diagnostic> {
    let text = format!("schema = 1\nname = \"p\"\n{rest}");
    let product = parse("p.toml", &text).unwrap();
    effective(&product, &board(), given, Unvoted::Top, &mut load)
}

fn shown(settings: &[Setting]) -> Vec<String> {
    settings.iter().map(|s| format!("{}={} ({})", s.name, s.value, s.origin)).collect()
}

#[test]
fn a_product_that_says_nothing_is_the_default_policy_for_all_domains() {
    let domains = tried("", &Given::default()).unwrap();
    assert_eq!(shown(&domains[1].params), ["down_windows=16 (default)"]);
    let PolicySpec::Script { source, set } = plan(&domains) else { panic!("one script") };
    assert_eq!((source.name.as_str(), set.len()), (DEFAULT_POLICY, 0));
    assert_eq!(domains[1].rails, Rails::open(&board().domains[1].table, Unvoted::Top));
}

#[test]
fn every_value_says_where_it_comes_from_and_the_later_layer_counts() {
    let given = Given {
        preset: None,
        set: vec![("decay_rate".into(), "80".into()), ("down_windows".into(), "9".into())],
        limits: vec!["ddr.min_level=1".parse().unwrap()],
    };
    let domains = tried(
        "[policy]\nparams = { down_windows = 8 }\n[domain.ddr]\npolicy = \"bw_hwmon\"\n\
         preset = \"sdm845-llccbw\"\nparams = { io_percent = 60 }\nlimits = { min_dwell_ms = 8 }",
        &given,
    )
    .unwrap();
    // --set reaches the policies that have such a tunable.
    assert_eq!(shown(&domains[0].params), ["down_windows=9 (--set down_windows=9)"]);
    let ddr = shown(&domains[1].params);
    for wanted in [
        "window_ms=50 (default)",
        "io_percent=60 (p.toml:8)",
        "decay_rate=80 (--set decay_rate=80)",
        "up_scale=250 (preset sdm845-llccbw, p.toml:7)",
        "zones_MiBps=[1720, 2929, 3879, 5931, 6881] (preset sdm845-llccbw, p.toml:7)",
    ] {
        assert!(ddr.iter().any(|line| line == wanted), "{wanted}: {ddr:?}");
    }
    let preset = domains[1].preset.as_ref().unwrap();
    assert_eq!(
        (preset.value.as_str(), preset.origin.to_string().as_str()),
        ("sdm845-llccbw", "p.toml:7")
    );
    let rails = domains[1].rails;
    assert_eq!((rails.min_level, rails.min_dwell_ms), (Level(1), 8));
}

#[test]
fn equal_policies_are_one_and_others_are_parts() {
    let one = |rest: &str| plan(&tried(rest, &Given::default()).unwrap());
    // Written three times, but the same.
    let same = one("[policy]\nname = \"ondemand\"\n[domain.ddr]\npolicy = \"ondemand\"\n\
                    [domain.l3]\nparams = { up_threshold = 90 }\n[domain.llcc]\nparams = { up_threshold = 90 }");
    let PolicySpec::PerDomain(parts) = same else { panic!("a value that is written is a value") };
    assert_eq!(parts.len(), 2);
    let PolicySpec::PerDomain(parts) = one("[domain.ddr]\npolicy = \"native\"\n[domain.l3]\n\
                                            policy = \"chain:peak | headroom(80)\"")
    else {
        panic!("three policies")
    };
    let names: Vec<&str> = parts.iter().map(|part| part.spec.title()).collect();
    assert_eq!(names, ["bwmon", "native", "chain:peak | headroom(80)"]);
}

#[test]
fn a_script_is_looked_for_beside_the_file_that_names_it() {
    let domains =
        tried("[domain.ddr]\npolicy = \"mine.rhai\"\nparams = { k = 7 }", &Given::default());
    let domains = domains.unwrap();
    assert_eq!(shown(&domains[1].params), ["k=7 (p.toml:5)"]);
    let PolicySpec::PerDomain(parts) = plan(&domains) else { panic!("two policies") };
    assert_eq!(parts[1].spec.title(), "p.toml/mine.rhai");
}

#[test]
fn what_does_not_fit_is_an_error_where_it_is_written() {
    for (rest, line, said) in [
        ("[domain.drr]\nlimits = {}", 3, "did you mean ddr?"),
        ("[policy]\nname = \"bw_hwmn\"", 4, "did you mean bw_hwmon?"),
        ("[policy]\nname = \"other\"", 4, "a script's name ends in .rhai"),
        ("[policy]\nname = \"not/there.rhai\"", 4, "cannot read not/there.rhai"),
        ("[policy]\npreset = \"x\"", 4, "no preset called x"),
        (
            "[domain.ddr]\npolicy = \"bw_hwmon\"\npreset = \"sdm845-cpubv\"",
            5,
            "did you mean sdm845-cpubw?",
        ),
        ("[policy]\nparams = { down_window = 4 }", 4, "did you mean down_windows?"),
        ("[policy]\nparams = { down_windows = 0 }", 4, "outside 1..1000"),
        ("[policy]\nparams = { down_windows = true }", 4, "another type"),
        ("[policy]\nname = \"native\"\npreset = \"x\"", 5, "neither preset nor tunables"),
        ("[policy]\nname = \"native\"\nparams = { x = 1 }", 5, "no tunable x"),
        ("[policy]\nname = \"chain:peak | headrom(80)\"", 4, "did you mean `headroom`?"),
        ("[domain.ddr.limits]\nmin_kBps = 9_000_000", 4, "above the highest level of domain ddr"),
        ("[limits]\nmax_level = 5", 4, "no level of domain llcc"),
    ] {
        let fault = tried(rest, &Given::default()).unwrap_err().to_string();
        assert!(fault.contains(said), "{rest}: {fault}");
        assert!(fault.contains(&format!("p.toml:{line}:")), "{rest}: {fault}");
    }
}

#[test]
fn what_the_command_line_gives_in_vain_is_an_error() {
    let given = |preset: Option<&str>, set: &[(&str, &str)]| Given {
        preset: preset.map(Into::into),
        set: set.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
        limits: Vec::new(),
    };
    let rest = "[domain.ddr]\npolicy = \"bw_hwmon\"\npreset = \"sdm845-llccbw\"";
    for (given, said) in [
        (given(None, &[("down_window", "1")]), "did you mean down_windows?"),
        (given(None, &[("down_windows", "0")]), "outside 1..1000"),
        (given(Some("sdm845-cpu"), &[]), "no policy of the product p has a preset"),
    ] {
        let fault = tried(rest, &given).unwrap_err().to_string();
        assert!(fault.contains(said) && fault.contains("--> --"), "{fault}");
    }
    let other = tried(rest, &given(Some("sdm845-cpubw"), &[])).unwrap();
    let io = other[1].params.iter().find(|p| p.name == "io_percent").unwrap();
    assert_eq!(
        (io.value.as_str(), io.origin.to_string().as_str()),
        ("50", "preset sdm845-cpubw, --preset sdm845-cpubw")
    );
}
