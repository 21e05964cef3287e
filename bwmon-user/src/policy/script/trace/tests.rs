use super::*;
use crate::board::{Level, builtin};
use crate::observe::Measured;
use crate::policy::library::SHIPPED;
use crate::policy::testing::observation;
use crate::units::{Kbps, Khz, Nanos};
use proptest::prelude::*;

fn board() -> Board {
    builtin("sdm845").unwrap().unwrap()
}

fn traced(text: &str) -> Traced {
    let source = Source { name: "p.rhai".into(), text: text.into() };
    Traced::new(source, &board(), &[]).unwrap_or_else(|fault| panic!("{fault}"))
}

fn ask(policy: &mut Traced) {
    policy.decide(&[observation(), observation(), observation()], 0).unwrap();
}

/// A line for each step: line, depth and arguments | text | changes.
fn told(policy: &Traced) -> Vec<String> {
    let pairs = |pairs: &[(String, String)]| -> String {
        pairs.iter().map(|(name, value)| format!(" {name} = {value}")).collect()
    };
    let line = |step: Step| {
        let (given, changed) = (pairs(&step.given), pairs(&step.changed));
        let given = if given.is_empty() { " " } else { &given };
        format!("{} {}{given}| {}|{changed}", step.line, step.depth, step.text)
    };
    policy.steps().unwrap().into_iter().map(line).collect()
}

#[test]
fn lines_that_ran_are_told_from_those_that_did_not() {
    let mut policy = traced(
        "fn decide(obs) {\n  let x = 1;\n  if x > 5 {\n    opp_max()\n  } else if x > 0 {\n    hold()\n  } else {\n    opp_min()\n  }\n}",
    );
    ask(&mut policy);
    let coverage = policy.coverage().unwrap();
    let lines: Vec<(usize, u64)> = coverage.lines.clone().into_iter().collect();
    // `else if` on line 5 belongs to the `if` of line 3.
    assert_eq!(lines, [(2, 1), (3, 1), (4, 0), (6, 1), (8, 0)]);
    assert_eq!((coverage.counts(), coverage.percent()), ((5, 3), Some(60.0)));
    assert_eq!(coverage.missed().collect::<Vec<_>>(), [4, 8]);
}

#[test]
fn variables_and_state_are_noted_at_the_statement_that_changed_them() {
    let mut policy = traced(
        "fn init(i) { #{ n: 7 } }\nfn more(x) {\n  let y = x * 2;\n  y + 1\n}\nfn decide(obs) {\n  let a = more(3);\n  a += 1;\n  this.n = a;\n  hold()\n}",
    );
    ask(&mut policy);
    assert_eq!(
        told(&policy),
        [
            // `a` is made by the call, not by the last line of what was called.
            "7 1 | let a = more(3);| a = 7",
            "3 2 x = 3| let y = x * 2;| y = 6",
            "4 2 | y + 1|",
            "8 1 | a += 1;| a = 8",
            "9 1 | this.n = a;| this.n = 8",
            "10 1 | hold()|",
        ]
    );
}

#[test]
fn several_calls_in_one_statement_are_told_apart() {
    let mut policy = traced(
        "fn f(x) {\n  let y = x;\n  y\n}\nfn g(z) { f(z) }\nfn decide(obs) {\n  let a = f(1) + f(1) + g(2);\n  opp(a)\n}",
    );
    ask(&mut policy);
    assert_eq!(
        told(&policy),
        [
            "7 1 | let a = f(1) + f(1) + g(2);| a = 4",
            "2 2 x = 1| let y = x;| y = 1",
            "3 2 | y|",
            "2 2 x = 1| let y = x;| y = 1",
            "3 2 | y|",
            "5 2 z = 2| f(z)|",
            "2 3 x = 2| let y = x;| y = 2",
            "3 3 | y|",
            "8 1 | opp(a)|",
        ]
    );
}

#[test]
fn a_change_of_the_state_stands_where_it_was_made() {
    let mut policy = traced(
        "fn init(i) { #{ n: 1 } }\nfn bump() { this.n += 1; this.n }\nfn two() { let t = 2; t }\nfn decide(obs) {\n  this.bump();\n  this.n = two() + 5;\n  let other = #{ n: 90, m: 0 };\n  other.m = other.n;\n  hold()\n}",
    );
    ask(&mut policy);
    assert_eq!(
        told(&policy),
        [
            "5 1 | this.bump();|",
            "2 2 | this.n += 1;| this.n = 2",
            "2 2 | this.n|",
            "6 1 | this.n = two() + 5;| this.n = 7",
            "3 2 | let t = 2;| t = 2",
            "3 2 | t|",
            "7 1 | let other = #{ n: 90, m: 0 };| other = #{\"m\": 0, \"n\": 90}",
            "8 1 | other.m = other.n;| other = #{\"m\": 90, \"n\": 90}",
            "9 1 | hold()|",
        ]
    );
    // The next call begins with 7; what it had then is not a change.
    ask(&mut policy);
    assert_eq!(told(&policy)[1], "2 2 | this.n += 1;| this.n = 8");
}

#[test]
fn a_fault_is_the_plain_scripts_and_the_state_is_not_shown_as_undone() {
    let mut policy = traced(
        "fn init(i) { #{ n: 1 } }\nfn decide(obs) {\n  this.n = 2;\n  let a = [];\n  a[this.n];\n  hold()\n}",
    );
    let fault = policy.decide(&[observation(); 3], 0).unwrap_err();
    let place = fault.diagnostic.place.unwrap();
    assert_eq!((place.line, place.text.trim()), (5, "a[this.n];"));
    assert_eq!(
        told(&policy),
        ["3 1 | this.n = 2;| this.n = 2", "4 1 | let a = [];| a = []", "5 1 | a[this.n];|"]
    );
}

#[test]
fn a_script_over_its_budget_faults_as_it_does_unwatched() {
    let text = |rounds: usize| {
        format!(
            "fn init(i) {{ #{{ n: 0 }} }}\nfn decide(obs) {{\n  let x = 0;\n  this.n += 1;\n  for i in 0..{rounds} {{\n    x += i;\n    x -= 1;\n  }}\n  opp(2)\n}}"
        )
    };
    let source = |rounds| Source { name: "p.rhai".into(), text: text(rounds) };
    let all = [observation(); 3];
    let fits = |rounds: &usize| {
        let mut plain = ScriptPolicy::new(source(*rounds), &board(), &[]).unwrap();
        plain.decide(&all, 0).is_ok()
    };
    // A round takes 5 to 10 of 5000 operations.
    let rounds: Vec<usize> = (500..1000).collect();
    let limit = 500 + rounds.partition_point(fits);
    assert!(limit > 500 && limit < 1000, "{limit}");
    for rounds in limit - 3..limit + 3 {
        let mut plain = ScriptPolicy::new(source(rounds), &board(), &[]).unwrap();
        let mut watched = traced(&text(rounds));
        for _ in 0..2 {
            let answer = plain.decide(&all, 0);
            assert_eq!(answer.is_ok(), rounds < limit);
            assert_eq!(watched.decide(&all, 0), answer);
            // Three statements before, two a round, one after; stopped soon after the limit.
            let (steps, most) = (watched.steps().unwrap().len(), 4 + 2 * rounds);
            let least = if answer.is_ok() { most } else { 2 * limit - 8 };
            assert!((least..=most).contains(&steps), "{rounds}: {steps}");
            assert_eq!(watched.state(0), plain.state(0), "{rounds}");
        }
    }
}

#[test]
fn events_reach_a_watched_script() {
    let mut policy = traced(
        "fn init(i) { #{ slept: 0 } }\nfn on_event(ev) {\n  if ev.kind == \"resumed\" {\n    this.slept = ev.slept_ms;\n  }\n}\nfn decide(obs) {\n  opp(this.slept)\n}",
    );
    policy.event(0, &PolicyEvent::Resumed { slept_ms: 3 }).unwrap();
    assert_eq!(told(&policy)[1], "4 1 | this.slept = ev.slept_ms;| this.slept = 3");
    let proposal = policy.decide(&[observation(); 3], 0).unwrap();
    assert_eq!(proposal.ask, crate::policy::Ask::Opp(Level(3)));
    assert_eq!(policy.state(0), Some(serde_json::json!({ "slept": 3 })));
    assert_eq!(policy.coverage().unwrap().lines[&4], 1);
    assert!(policy.steps().is_some());
}

#[test]
fn of_several_statements_on_a_line_each_has_its_own_text() {
    let mut policy = traced(
        "fn decide(obs) {\n  if obs.dt_us < 0 { opp_min(); } else { let m = #{ a: 1 }; opp(m.a) } // }\n}",
    );
    ask(&mut policy);
    assert_eq!(
        told(&policy),
        [
            "2 1 | if obs.dt_us < 0 {|",
            "2 1 | let m = #{ a: 1 };| m = #{\"a\": 1}",
            "2 1 | opp(m.a)|",
        ]
    );
}

#[test]
fn odd_syntax_gets_marks_where_they_fit_and_runs_all_the_same() {
    for body in [
        "let x = if obs.valid { 1 } else { 2 }; opp(x)",
        "let x = switch obs.domain { \"llcc\" => 1, \"ddr\" => { let y = 2; y } _ => 3 }; opp(x)",
        "let a = [1, 2].map(|v| v + 1); opp(a[0])",
        "let s = `a{${1 + 1};}`; hold(s)",
        "let s = `a\\`; hold(s)",
        "let s = `a${if obs.valid { `{` } else { \"}\" }}`; hold(s)",
        "/* { ; } */ hold() // }\n",
        "(1 + 2).abs(); hold()",
        "let i = 0; while i < 3 { i += 1; if i == 2 { continue; } } do { i -= 1; } until i == 0; hold()",
        "try { throw \"x\"; } catch (e) { let m = e; } return hold();",
        "{ let x = 1; { x } }; -1; !true; hold()",
        "for i in 0..3 { if i == 1 { break; } }; let m = #{ a: 1, b: #{ c: 2 } }; opp(m.b.c)",
        "let c = '}'; loop { break; } hold()",
    ] {
        let text = format!("fn decide(obs) {{ {body} }}");
        let mut policy = traced(&text);
        ask(&mut policy);
        assert!(policy.coverage().is_some(), "not marked: {body}");
        assert!(!policy.steps().unwrap().is_empty(), "{body}");
    }
}

#[test]
fn every_shipped_policy_can_be_marked() {
    for shipped in SHIPPED {
        let policy = traced(shipped.text);
        assert!(policy.coverage().unwrap().counts().0 > 0, "{}", shipped.name);
    }
}

fn any_observation() -> impl Strategy<Value = Observation> {
    let measured = (0u64..30_000_000, 1u32..30, any::<bool>(), any::<bool>()).prop_map(
        |(peak, windows, saturated, interrupt)| Measured {
            peak_kbps: Kbps(peak),
            mean_kbps: (windows == 1).then_some(Kbps(peak)),
            windows,
            saturated,
            interrupt,
            trend_kbps: None,
        },
    );
    let level = prop::option::of(0usize..5);
    let known = (prop::option::of(0u64..9_000_000), prop::option::of(300_000u64..3_000_000));
    (prop::option::of(measured), level, known, 1u64..30_000).prop_map(
        |(measured, level, (others, cpu), dt_us)| Observation {
            dt_us,
            measured,
            level: level.map(Level),
            others_kbps: others.map(Kbps),
            cpu_max_khz: cpu.map(Khz),
            ..observation()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_watched_policy_proposes_what_the_plain_one_does(
        seen in prop::collection::vec(any_observation(), 1..40),
    ) {
        for shipped in SHIPPED {
            let source = Source { name: shipped.name.into(), text: shipped.text.into() };
            let mut plain = ScriptPolicy::new(source.clone(), &board(), &[]).unwrap();
            let mut watched = Traced::new(source, &board(), &[]).unwrap();
            let mut now = Nanos(0);
            for obs in &seen {
                now = now.plus(Nanos(obs.dt_us * Nanos::PER_US));
                let all = [Observation { now, ..*obs }; 3];
                for domain in 0..3 {
                    prop_assert_eq!(plain.decide(&all, domain), watched.decide(&all, domain));
                    // The marked script did exactly what the plain one does.
                    let watch = watched.watch.as_ref().unwrap();
                    prop_assert!(!watch.astray);
                    prop_assert_eq!(plain.operations(), watch.policy.operations());
                    prop_assert_eq!(plain.state(domain), watch.policy.state(domain));
                }
            }
        }
    }

    #[test]
    fn marks_never_panic(text in "[ -~\\n]{0,120}") {
        let _ = Traced::new(Source { name: "p".into(), text }, &board(), &[]);
    }
}
