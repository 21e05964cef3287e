//! What is right, or cannot be told: the lints say nothing.

use super::*;
use crate::board::builtin;
use crate::policy::library::SHIPPED;
use crate::policy::script::ScriptPolicy;
use proptest::prelude::*;

fn findings(text: &str) -> Vec<Finding> {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    lint(&Source { name: "p.rhai".into(), text: text.into() }, &board).findings
}

/// Policies of which nothing is said.
const RIGHT: &[(&str, &str)] = &[
    (
        "an early way out guards what follows",
        "fn decide(obs) { if !obs.valid || !obs.has(\"level\") { return hold(); } \
         if obs.util_pct > 50 { opp_max() } else { opp(obs.level) } }",
    ),
    (
        "another domain under a name of its own",
        "fn decide(obs) { if obs.has_domain(\"llcc\") { let path = obs.of(\"llcc\"); \
         if path.valid { return demand_kBps(path.peak_kBps); } } hold() }",
    ),
    (
        "another domain each time by its name",
        "fn decide(obs) { if obs.of(\"llcc\").valid { \
         return demand_kBps(obs.of(\"llcc\").peak_kBps); } hold() }",
    ),
    (
        "what was asked is kept in a variable",
        "fn decide(obs) { let known = obs.has(\"level\"); let up = false; \
         if known && obs.above { up = true; } if up { opp(obs.level) } else { hold() } }",
    ),
    (
        "a name that is made up",
        "fn decide(obs) { for name in [\"level\"] { if !obs.has(name) { return hold(); } } \
         opp(obs.level) }",
    ),
    (
        "an unknown reading is caught",
        "fn decide(obs) { try { return demand_kBps(obs.mean_kBps); } catch { } hold() }",
    ),
    (
        "the caller asks",
        "fn f(o) { demand_kBps(o.peak_kBps) } fn decide(obs) { if obs.valid { f(obs) } else { hold() } }",
    ),
    (
        "the function called asks",
        "fn ready(o) { o.valid && o.has(\"level\") } \
         fn decide(obs) { if ready(obs) { opp(obs.level) } else { hold() } }",
    ),
    (
        "above, below and an interrupt mean that there is a reading",
        "fn decide(obs) { if obs.above || obs.interrupt { demand_kBps(obs.peak_kBps) } \
         else if obs.below { demand_kBps(obs.peak_kBps + obs.windows) } else { hold() } }",
    ),
    (
        "a level above 0 has a lower one",
        "fn decide(obs) { if !obs.has(\"level\") || obs.level == 0 { return hold(); } \
         demand_kBps(obs.lower_kBps) }",
    ),
    (
        "1 or more is above 0, either way round",
        "fn decide(obs) { if !obs.has(\"level\") { return hold(); } \
         if 1 <= obs.level { demand_kBps(obs.lower_kBps) } else { hold() } }",
    ),
    (
        "loops of each kind, with variables that change their type",
        "fn decide(obs) { let n = 0; let x = (); while n < 3 { n += 1; if n == 2 { x = \"two\"; } } \
         do { n -= 1; } until n <= 0; for (i, at) in 0..4 { n += i * at; if n > 5 { break; } } \
         if x == \"two\" { opp(n) } else { hold() } }",
    ),
    (
        "anonymous functions, and functions by name",
        "fn twice(x) { x * 2 } fn decide(obs) { let a = [3, 1].map(twice); \
         let sum = a.reduce(|s, x| if s == () { x } else { s + x }, 0); demand_kBps(sum) }",
    ),
    (
        "maps of one's own",
        "fn decide(obs) { let m = #{ a: 1 }; m.b = 2; m[\"c\"] = 3; opp(m.a * m.b - m.c + m.len()) }",
    ),
    (
        "a state that is put together",
        "fn init(info) { let s = #{ n: 0 }; s.m = info.opp_count; s } \
         fn decide(obs) { this.n += this.m; opp(this.n % obs.opp_count) }",
    ),
    (
        "a state of the same keys from each branch",
        "fn init(info) { if info.domain == \"l3\" { return #{ n: 1, a: [] }; } #{ a: [], n: 0 } } \
         fn decide(obs) { this.a.push(this.n); opp(this.n) }",
    ),
    (
        "a method that calls another, and one with arguments",
        "fn init(i) { #{ n: 0 } } fn next(by) { this.add(by); this.n } fn add(by) { this.n += by; } \
         fn decide(obs) { opp(this.next(1) % obs.opp_count) }",
    ),
    (
        "functions that call each other",
        "fn even(n) { if n == 0 { true } else { odd(n - 1) } } \
         fn odd(n) { if n == 0 { false } else { even(n - 1) } } \
         fn decide(obs) { if even(3) { opp_max() } else { hold() } }",
    ),
    (
        "a function for numbers of both kinds",
        "fn half(x) { x / 2 } fn init(i) { #{ n: 0, f: 0.0 } } \
         fn decide(obs) { this.n = half(4) ; this.f = half(4.0); demand_kBps(this.n + this.f) }",
    ),
    (
        "texts with numbers in them, and braces in those",
        "fn decide(obs) { hold(`at ${ if obs.valid { obs.peak_kBps } else { 0 } } of ${#{ a: 1 }.a}`) }",
    ),
    (
        "a list of steps",
        "// @param steps_MiBps = [] (0..9) steps\nfn decide(obs) { if !obs.valid { return hold(); } \
         for step in cfg::steps_MiBps { if step > obs.peak_kBps { return demand_kBps(step); } } \
         if obs.windows in cfg::steps_MiBps { opp_min() } else { opp_max() } }",
    ),
    (
        "throw ends a path",
        "fn decide(obs) { if obs.valid { return hold(); } throw \"no reading\"; }",
    ),
    (
        "a proposal on the way",
        "fn decide(obs) { let p = hold(); if obs.above { p = opp_max(); } p.why(\"so\") }",
    ),
    (
        "a constant as a slot's name, and one slot in two branches",
        "const SLOT = \"peak\"; fn decide(obs) { if !obs.valid { return hold(); } \
         let x = if obs.saturated { ewma(global::SLOT, 9, 50) } \
         else { ewma(\"peak\", obs.peak_kBps, 50) }; demand_kBps(x) }",
    ),
    (
        "a state that is taken over",
        "fn init(i) { #{ n: 0 } } fn on_event(ev) { if ev.kind == \"reload\" && ev.has(\"old_state\") \
         && \"n\" in ev.old_state { this.n = ev.old_state.n; } else if ev.kind == \"resumed\" \
         { this.n = ev.slept_ms; } } fn decide(obs) { opp(this.n) }",
    ),
];

#[test]
fn nothing_is_said_of_what_is_right_or_cannot_be_told() {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    for (what, text) in RIGHT {
        let source = Source { name: "p.rhai".into(), text: (*text).into() };
        if let Err(fault) = ScriptPolicy::new(source, &board, &[]) {
            panic!("{what}: {fault}");
        }
        let found: Vec<String> =
            findings(text).iter().map(|f| format!("{}: {}", f.code, f.diagnostic)).collect();
        assert!(found.is_empty(), "{what}: {found:#?}");
    }
}

#[test]
fn nothing_is_said_of_the_shipped_policies() {
    for shipped in SHIPPED {
        let found = findings(shipped.text);
        assert!(found.is_empty(), "{}: {found:#?}", shipped.name);
    }
}

#[test]
fn whether_a_script_looks_at_the_demand_is_told() {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    let looks = |text: &str| {
        lint(&Source { name: "p.rhai".into(), text: text.into() }, &board).reads_demand
    };
    assert!(!looks("fn decide(obs) { opp_max() }"));
    assert!(!looks(
        "// @param level = 0\nfn decide(obs) { opp(min(cfg::level, obs.opp_count - 1)) }"
    ));
    assert!(looks("fn decide(obs) { if obs.above { opp_max() } else { opp_min() } }"));
    assert!(looks(
        "fn decide(obs) { let q = obs.quiet_kBps(3); if q < 0 { opp_max() } else { hold() } }"
    ));
}

#[test]
fn deep_nesting_and_long_chains_of_calls_are_looked_through() {
    let deep = format!("fn decide(obs) {{ opp({}1{}) }}", "(".repeat(25), ")".repeat(25));
    assert_eq!(findings(&deep), []);
    let blocks = format!(
        "fn decide(obs) {{ {} hold() {} }}",
        "if true { ".repeat(12),
        "} else { hold() }".repeat(12)
    );
    assert_eq!(findings(&blocks), []);
    let chain: String = (0..30).map(|n| format!("fn f{n}(x) {{ f{}(x) }} ", n + 1)).collect();
    let text = format!("fn decide(obs) {{ opp(f0(1)) }} {chain} fn f30(x) {{ x > \"a\" }}");
    let found: Vec<Code> = findings(&text).iter().map(|finding| finding.code).collect();
    // Known through thirty functions: a number is compared with a text, and opp gets the answer.
    assert_eq!(found, [Code::WrongArgumentType, Code::MixedComparison]);
}

/// Pieces that scripts are made of, so that random texts come far into the parser.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "fn decide(obs) {",
        "fn init(i) {",
        "fn f(x) {",
        "}",
        "{",
        "(",
        ")",
        "if ",
        " else ",
        "let x = ",
        "x",
        "this",
        "this.n",
        "obs",
        ".valid",
        ".peak_kBps",
        ".has(\"level\")",
        "cfg::a",
        "global::B",
        "hold()",
        "opp(1)",
        ";",
        " == ",
        " && ",
        " + ",
        " = ",
        "#{ n: 0 }",
        "[1, 2]",
        "return ",
        "loop {",
        "break",
        "while x {",
        "for i in 0..3 {",
        "switch x {",
        "1 => ",
        ",",
        "|y| ",
        "try {",
        "} catch {",
        "`a${",
        "}`",
        "()",
        "1.5",
        "99999999999999999999",
        "\"t\"",
        "f(1)",
        "this.f(2)",
        "throw ",
        "!",
        "..",
        "ewma(\"s\", 1, 50)",
        "const B = 1;",
        "// @param a = 1\n",
        "\n",
        "é",
        "?.",
        "??",
        "[0]",
        "int.",
        " in ",
    ];
    proptest::sample::select(words.map(str::to_owned).to_vec())
}

proptest! {
    #[test]
    fn any_text_is_looked_through_without_a_panic(text in "\\PC{0,200}") {
        findings(&text);
    }

    #[test]
    fn any_heap_of_pieces_is_looked_through_without_a_panic(
        pieces in prop::collection::vec(piece(), 0..40),
    ) {
        let text = pieces.concat();
        findings(&text);
        findings(&format!("fn init(i) {{ #{{ n: 0 }} }} fn decide(obs) {{ let x = 1; {text} }}"));
    }

    #[test]
    fn a_shipped_policy_with_a_hole_is_looked_through_without_a_panic(
        which in 0..SHIPPED.len(), from in 0usize..4_000, length in 1usize..60,
    ) {
        let text: Vec<char> = SHIPPED[which].text.chars().collect();
        let from = from % text.len();
        let to = (from + length).min(text.len());
        let kept: String = text[..from].iter().chain(&text[to..]).collect();
        findings(&kept);
    }

    #[test]
    fn findings_are_in_order_and_point_into_the_text(
        pieces in prop::collection::vec(piece(), 0..25),
    ) {
        let text = format!("fn f(x) {{ x }} fn decide(obs) {{ let x = 1; {} }}", pieces.join(" "));
        let found = findings(&text);
        let mut sorted = found.clone();
        sort(&mut sorted);
        prop_assert_eq!(&sorted, &found);
        for finding in found {
            let place = finding.diagnostic.place.unwrap();
            prop_assert!(place.line <= text.lines().count());
            prop_assert!(place.column <= place.text.chars().count() + 1);
        }
    }
}
