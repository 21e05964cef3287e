use super::*;
use crate::board::{Level, builtin, builtin_ids};
use crate::bwmon::COUNT_MAX;
use crate::observe::Measured;
use crate::policy::script::words::{FUNCTIONS, Group, PROPERTIES, Type};
use crate::policy::testing::observation;
use crate::policy::{Ask, Mainline};
use crate::units::Kbps;
use proptest::prelude::*;

const BWMON: &str = include_str!("../../../../policies/bwmon.rhai");

fn seed() -> Board {
    builtin("sdm845-seed").unwrap().unwrap()
}

fn source(text: &str) -> Source {
    Source { name: "p.rhai".into(), text: text.into() }
}

fn policy(text: &str) -> ScriptPolicy {
    ScriptPolicy::new(source(text), &seed(), &[]).unwrap_or_else(|fault| panic!("{fault}"))
}

fn refused(text: &str) -> Diagnostic {
    match ScriptPolicy::new(source(text), &seed(), &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(fault) => fault,
    }
}

fn seen(peak: u64, interrupt: bool) -> Measured {
    Measured {
        peak_kbps: Kbps(peak),
        mean_kbps: None,
        windows: 1,
        saturated: false,
        interrupt,
        trend_kbps: None,
    }
}

fn obs(level: Option<usize>, measured: Option<Measured>) -> Vec<Observation> {
    vec![Observation { level: level.map(Level), measured, ..observation() }]
}

/// What `decide` with `body` does.
fn answer(body: &str) -> Result<Proposal, PolicyFault> {
    policy(&format!("fn init(i) {{ #{{ n: 0 }} }}\nfn decide(obs) {{ {body} }}"))
        .decide(&obs(Some(1), Some(seen(1_000_000, false))), 0)
}

fn fault(body: &str) -> PolicyFault {
    answer(body).unwrap_err()
}

#[test]
fn every_way_to_propose_arrives() {
    assert_eq!(answer("demand_kBps(7)").unwrap().ask, Ask::Demand(Kbps(7)));
    assert_eq!(answer("demand_kBps(7.2)").unwrap().ask, Ask::Demand(Kbps(8)));
    assert_eq!(answer("opp(3)").unwrap().ask, Ask::Opp(Level(3)));
    assert_eq!(answer("opp_max()").unwrap().ask, Ask::Max);
    assert_eq!(answer("opp_min()").unwrap().ask, Ask::Min);
    let refined = answer("hold().hold_ms(20).wake_kBps(9, 5).why(\"because\")").unwrap();
    assert_eq!((refined.ask, refined.hold_ms), (Ask::Hold, 20));
    assert_eq!(refined.wake_kbps, Some((Kbps(9), Kbps(5))));
    assert_eq!(&*refined.why, "because");
}

#[test]
fn a_reason_is_cut_at_48_characters() {
    let why = answer("hold().why(\"ä23456789012345678901234567890123456789012345678901234\")")
        .unwrap()
        .why;
    assert_eq!(why.chars().count(), 48);
}

#[test]
fn what_is_not_known_is_an_error_that_names_has() {
    let fault = fault("if obs.mean_kBps > 5 { opp_max() } else { hold() }");
    assert!(fault.diagnostic.message.contains("obs.has(\"mean_kBps\")"), "{fault}");
    assert_eq!(fault.diagnostic.place.as_ref().unwrap().line, 2);
}

#[test]
fn a_typo_in_a_property_is_an_error_with_position_and_suggestion() {
    let fault = fault("demand_kBps(obs.peak_kbps)");
    assert_eq!(fault.diagnostic.place.as_ref().unwrap().line, 2);
    assert_eq!(fault.diagnostic.help.as_deref(), Some("did you mean `peak_kBps`?"), "{fault}");
}

#[test]
fn a_typo_in_a_function_is_an_error_with_suggestion() {
    let fault = fault("demand_kbps(obs.peak_kBps)");
    assert_eq!(fault.diagnostic.help.as_deref(), Some("did you mean `demand_kBps`?"), "{fault}");
}

#[test]
fn loops_recursion_and_growth_end_in_a_budget_fault() {
    for body in [
        "loop {}",
        "let x = 0; while true { x += 1; } hold()",
        "let s = \"x\"; loop { s += s; }",
        "let a = []; loop { a.push(1); }",
        "let a = [1, 2]; loop { a += a; }",
        "let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1; }",
        "let a = []; a.pad(60, 1); loop { a.map(|v| v + 1); }",
        "let a = []; a.pad(30_000_000, 1); hold()",
        "try { loop {} } catch { hold() }",
    ] {
        assert_eq!(fault(body).kind, FaultKind::Budget, "{body}: {}", fault(body));
    }
    let mut deep = policy("fn f(n) { f(n + 1) }\nfn decide(obs) { f(0) }");
    let fault = deep.decide(&obs(None, None), 0).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Budget, "{fault}");
}

#[test]
fn callbacks_of_native_functions_do_not_escape_the_budget() {
    // 60 x 60 x 60 callbacks: without a counter of our own each one starts at zero.
    let fault = fault(
        "let a = []; a.pad(60, 1); \
         a.map(|x| a_count(60)); hold() } fn a_count(n) { let b = []; b.pad(n, 1); \
         b.map(|y| { let c = []; c.pad(60, 1); c.map(|z| z + 1); y });",
    );
    assert_eq!(fault.kind, FaultKind::Budget, "{fault}");
}

#[test]
fn eval_import_output_and_sleep_do_not_exist() {
    for body in ["eval(\"1\")", "import \"x\" as x; hold()", "print(1); hold()", "debug(1); hold()"]
    {
        let text = format!("fn decide(obs) {{ {body} }}");
        assert!(ScriptPolicy::new(source(&text), &seed(), &[]).is_err(), "{body}");
    }
    for body in ["sleep(1); hold()", "timestamp(); hold()", "rand(); hold()"] {
        assert_eq!(fault(body).kind, FaultKind::Error, "{body}");
    }
}

#[test]
fn a_wrong_result_is_a_fault_that_points_at_decide() {
    for (body, said) in [
        ("3", "a whole number"),
        ("3.0", "a number"),
        ("", "nothing"),
        ("\"x\"", "a text"),
        ("#{}", "a map"),
        ("if false { hold() }", "nothing"),
    ] {
        let fault = fault(body);
        assert_eq!(fault.kind, FaultKind::WrongType, "{body}: {fault}");
        assert!(fault.diagnostic.message.contains(said), "{body}: {fault}");
        assert_eq!(fault.diagnostic.place.as_ref().unwrap().line, 2);
    }
}

#[test]
fn arithmetic_faults_have_a_position() {
    for body in [
        "let z = 0; demand_kBps(1 / z)",
        "demand_kBps(9223372036854775807 + obs.level)",
        "demand_kBps(-1)",
        "demand_kBps(0.0 / 0.0)",
        "opp(-1)",
    ] {
        let fault = fault(body);
        assert_eq!(fault.kind, FaultKind::Error, "{body}: {fault}");
        assert_eq!(fault.diagnostic.place.as_ref().map(|p| p.line), Some(2), "{body}: {fault}");
    }
}

#[test]
fn the_keys_and_types_of_the_state_are_frozen() {
    for body in [
        "this.m = 1; hold()",
        "this.n = \"x\"; hold()",
        "this.remove(\"n\"); hold()",
        "this = 5; hold()",
    ] {
        let fault = fault(body);
        assert!(matches!(fault.kind, FaultKind::State | FaultKind::Error), "{body}: {fault}");
    }
    let big = "fn init(i) { #{ a: [] } }\nfn decide(obs) { \
               for i in 0..64 { let s = \"x\"; for j in 0..8 { s += s; } this.a.push(s); } hold() }";
    let fault = policy(big).decide(&obs(None, None), 0).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::State | FaultKind::Budget), "{fault}");
}

#[test]
fn a_fault_resets_the_state_and_success_keeps_it() {
    let mut policy = policy(
        "fn init(i) { #{ n: 0 } }\n\
         fn decide(obs) { this.n += 1; if this.n == 3 { throw \"three\"; } opp(this.n) }",
    );
    let mut ask = || policy.decide(&obs(None, None), 0).map(|p| p.ask);
    assert_eq!(ask(), Ok(Ask::Opp(Level(1))));
    assert_eq!(ask(), Ok(Ask::Opp(Level(2))));
    assert!(ask().is_err());
    assert_eq!(ask(), Ok(Ask::Opp(Level(1))));
}

#[test]
fn tunables_and_constants_are_seen_inside_functions() {
    let text = "// @param level = 2 (0..7) which\nconst MORE = 1;\n\
                fn decide(obs) { opp(cfg::level + global::MORE) }";
    let ask = |set: &[(String, String)]| {
        let mut policy = ScriptPolicy::new(source(text), &seed(), set).unwrap();
        policy.decide(&obs(None, None), 0).unwrap().ask
    };
    assert_eq!(ask(&[]), Ask::Opp(Level(3)));
    assert_eq!(ask(&[("level".into(), "5".into())]), Ask::Opp(Level(6)));
}

#[test]
fn what_would_never_run_or_cannot_be_called_is_refused() {
    assert!(refused("fn decide(obs) { hold() }\nlet x = 1;").message.contains("outside"));
    assert_eq!(refused("hold()").place.unwrap().line, 1);
    assert_eq!(
        refused("const A = 1;\nconst B = foo(3);\nfn decide(obs) { hold() }").place.unwrap().line,
        2
    );
    assert!(refused("fn decide(obs) { nowhere }").help.unwrap().contains("cfg::"));
    assert!(refused("fn other() { 1 }").message.contains("decide"));
    assert!(refused("fn decide() { hold() }").message.contains("arguments"));
    let fault = refused("fn decide(obs) {\n  let x = ;\n}");
    assert_eq!(fault.place.unwrap().line, 2);
    assert!(refused("fn decide(obs) { undefined_name }").place.is_some());
    assert!(refused("fn init(i) { 5 }\nfn decide(obs) { hold() }").message.contains("map"));
}

#[test]
fn another_domain_is_reached_by_name_and_an_unknown_one_is_an_error() {
    let board = builtin("sdm845").unwrap().unwrap();
    let text = "fn decide(obs) { demand_kBps(obs.of(\"ddr\").peak_kBps) }";
    let mut policy = ScriptPolicy::new(source(text), &board, &[]).unwrap();
    let mut all = vec![observation(); 3];
    all[1].measured = Some(seen(5_000, false));
    assert_eq!(policy.decide(&all, 0).unwrap().ask, Ask::Demand(Kbps(5_000)));
    let text = "fn decide(obs) { demand_kBps(obs.of(\"dram\").peak_kBps) }";
    let mut policy = ScriptPolicy::new(source(text), &board, &[]).unwrap();
    assert!(policy.decide(&all, 0).unwrap_err().diagnostic.message.contains("llcc, ddr, l3"));
}

#[test]
fn every_documented_word_can_be_used_and_gives_its_type() {
    let value = |kind: Type, name: &str| match (kind, name) {
        (Type::Text, "domain") => "\"path\"".to_owned(),
        (Type::Text, "name") => "\"valid\"".to_owned(),
        (Type::Text, _) => "\"t\"".to_owned(),
        (Type::Bool, _) => "true".to_owned(),
        // For percentages, counts, and an upper bound that is not below its lower one.
        (_, "high" | "up") => "9".to_owned(),
        _ => "5".to_owned(),
    };
    for word in PROPERTIES.iter().chain(FUNCTIONS) {
        let arguments: Vec<String> =
            word.arguments.iter().map(|(name, kind)| value(*kind, name)).collect();
        let call = format!("{}({})", word.name, arguments.join(", "));
        let used = match word.group {
            Group::Reading => format!("obs.{}", word.name),
            Group::Asking => format!("obs.{call}").replace("\"path\"", "obs.domain"),
            Group::Refinement => format!("hold().{call}"),
            _ => call,
        };
        let gives = word.gives.name();
        let kind = match word.gives {
            Type::Int => "i64",
            Type::Text => "string",
            _ => gives,
        };
        let body =
            format!("let x = {used}; if type_of(x) != \"{kind}\" {{ throw type_of(x); }} hold()");
        let measured =
            Some(Measured { trend_kbps: Some(1), mean_kbps: Some(Kbps(5)), ..seen(5, false) });
        let mut all = obs(Some(3), measured);
        for o in &mut all {
            o.since_change_us = Some(1);
            (o.others_kbps, o.kernel_kbps) = (Some(Kbps(1)), Some(Kbps(1)));
            (o.cpu_max_khz, o.lost_events) = (Some(crate::units::Khz(1)), Some(0));
        }
        let answer = policy(&format!("fn decide(obs) {{ {body} }}")).decide(&all, 0);
        assert!(answer.is_ok(), "{used}: {}", answer.unwrap_err());
        if word.group == Group::Reading {
            let known = format!("if obs.has(\"{}\") {{ hold() }} else {{ opp(0) }}", word.name);
            let answer = policy(&format!("fn decide(obs) {{ {known} }}")).decide(&all, 0);
            assert_eq!(answer.unwrap().ask, Ask::Hold, "{}", word.name);
        }
    }
}

#[test]
fn script_and_native_give_the_same_level_for_every_count_and_every_table() {
    for id in builtin_ids() {
        let board = builtin(id).unwrap().unwrap();
        let mut script = ScriptPolicy::new(source(BWMON), &board, &[]).unwrap();
        let mut native = Mainline::new(&board);
        for (domain, described) in board.domains.iter().enumerate() {
            let Some(monitor) = board.monitor_of(described) else { continue };
            let (table, scale) = (&described.table, monitor.scale);
            for count in 0..=COUNT_MAX {
                let mut all = vec![observation(); board.domains.len()];
                all[domain].measured = Some(seen(scale.kbps(count).0, true));
                let level = |ask: Ask| match ask {
                    Ask::Demand(kbps) => table.ceil(kbps),
                    other => panic!("{id} {count}: {other:?}"),
                };
                let by_script = level(script.decide(&all, domain).unwrap().ask);
                let by_native = level(native.decide(&all, domain).unwrap().ask);
                // The kernel's own words: ceil((count + 1) * unit * 250), else the top.
                let meas = (u64::from(count) + 1) * u64::from(scale.unit_kb) * 250;
                let kernel =
                    table.kbps().iter().position(|k| k.0 >= meas).unwrap_or(table.len() - 1);
                assert_eq!((by_script, by_native), (Level(kernel), Level(kernel)), "{id} {count}");
            }
        }
    }
}

proptest! {
    #[test]
    fn script_and_native_agree_tick_by_tick_on_any_traffic(
        traffic in prop::collection::vec((0u16..=4095, 1u32..20, 0usize..12), 1..300),
    ) {
        let board = seed();
        let mut script = ScriptPolicy::new(source(BWMON), &board, &[]).unwrap();
        let mut native = Mainline::new(&board);
        let table = &board.domains[0].table;
        let mut level: Option<Level> = None;
        for (count, windows, kind) in traffic {
            let quiet = if kind > 2 { count % 100 } else { count };
            let measured = (kind != 0).then(|| Measured {
                windows,
                ..seen(board.monitors[0].scale.kbps(quiet).0, kind == 1)
            });
            let all = obs(level.map(|l| l.0), measured);
            let a = script.decide(&all, 0).unwrap();
            let b = native.decide(&all, 0).unwrap();
            prop_assert_eq!(&a, &b);
            if let Ask::Demand(kbps) = a.ask {
                level = Some(table.ceil(kbps));
            }
        }
    }

    #[test]
    fn any_text_is_refused_or_compiled_but_never_a_panic(text in "\\PC{0,200}") {
        let _ = ScriptPolicy::new(source(&text), &seed(), &[]);
    }
}

#[test]
fn the_shipped_policy_passes_its_check_on_every_board() {
    for id in builtin_ids() {
        let board = builtin(id).unwrap().unwrap();
        let report = check(source(BWMON), &board, &[]).unwrap_or_else(|f| panic!("{id}: {f}"));
        assert!(report.calls > 0 && report.max_operations < 200, "{id}: {report:?}");
    }
}
