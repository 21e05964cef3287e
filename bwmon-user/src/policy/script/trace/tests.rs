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
    let depths: Vec<usize> = policy.steps().iter().map(|step| step.depth).collect();
    assert_eq!(depths, [1, 2, 2, 1, 1, 1]);
    let steps: Vec<(usize, Vec<(String, String)>)> =
        policy.steps().into_iter().map(|step| (step.line, step.changed)).collect();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        steps,
        [
            // The argument x is new when `more` begins.
            (7, vec![pair("x", "3")]),
            (3, vec![pair("y", "6")]),
            (4, vec![pair("a", "7")]),
            (8, vec![pair("a", "8")]),
            (9, vec![pair("this.n", "8")]),
            (10, vec![]),
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
        assert!(!policy.steps().is_empty(), "{body}");
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
    #![proptest_config(ProptestConfig::with_cases(24))]
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
                }
            }
        }
    }

    #[test]
    fn marks_never_panic(text in "[ -~\\n]{0,120}") {
        let _ = Traced::new(Source { name: "p".into(), text }, &board(), &[]);
    }
}
