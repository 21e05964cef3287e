use super::*;
use crate::board::builtin;
use crate::policy::script::ScriptPolicy;
use std::collections::BTreeSet;

fn lints(text: &str) -> Lints {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    lint(&Source { name: "p.rhai".into(), text: text.into() }, &board)
}

/// Code, line and column of everything found.
fn found(text: &str) -> Vec<(Code, usize, usize)> {
    let place = |finding: Finding| {
        let place = finding.diagnostic.place.unwrap();
        (finding.code, place.line, place.column)
    };
    lints(text).findings.into_iter().map(place).collect()
}

/// What is said about the only finding.
fn said(text: &str) -> (String, String) {
    let findings = lints(text).findings;
    assert_eq!(findings.len(), 1, "{text}: {findings:?}");
    let diagnostic = findings[0].diagnostic.clone();
    (diagnostic.message, diagnostic.help.unwrap_or_default())
}

/// For each code: a script with a mark at the place where it is found, and a near miss.
fn cases() -> Vec<(Code, String, String)> {
    let with =
        |body: &str| format!("fn decide(obs) {{\n  if !obs.valid {{ return hold(); }}\n{body}\n}}");
    let plain = |body: &str| format!("fn decide(obs) {{\n{body}\n}}");
    let state = |init: &str, body: &str| {
        format!("fn init(info) {{ #{{ {init} }} }}\nfn decide(obs) {{\n{body}\n}}")
    };
    let text = str::to_owned;
    use Code::*;
    vec![
        // A branch that no dry run reaches.
        (
            UnknownFunction,
            plain("  if obs.dt_us == 123456789 { return ▼holdd(); }\n  hold()"),
            plain("  if obs.dt_us == 123456789 { return hold(); }\n  hold()"),
        ),
        (UnknownFunction, plain("hold().▼because(\"x\")"), plain("hold().why(\"x\")")),
        (WrongArgumentCount, plain("opp(▼clamp(1, 2))"), plain("opp(clamp(1, 2, 3))")),
        (WrongArgumentCount, plain("hold().▼hold_ms()"), plain("hold().hold_ms(1)")),
        (
            WrongArgumentCount,
            text("fn f(x) { x }\nfn decide(obs) { opp(▼f(1, 2)) }"),
            text("fn f(x) { x }\nfn decide(obs) { opp(f(1)) }"),
        ),
        (WrongArgumentType, plain("▼opp(1.5)"), plain("demand_kBps(1.5)")),
        (UnknownProperty, with("demand_kBps(obs.▼peak_kbps)"), with("demand_kBps(obs.peak_kBps)")),
        (
            UnknownProperty,
            text("fn init(i) {\n  #{ n: i.▼levels }\n}\nfn decide(obs) { opp(this.n) }"),
            text("fn init(i) {\n  #{ n: i.opp_count }\n}\nfn decide(obs) { opp(this.n) }"),
        ),
        (UnknownProperty, plain("let a = [1]; opp(a.▼length)"), plain("let a = [1]; opp(a.len)")),
        (
            UnknownProperty,
            text("fn decide(obs) { hold() }\nfn on_event(ev) { if ev.▼name == \"reload\" { } }"),
            text("fn decide(obs) { hold() }\nfn on_event(ev) { if ev.kind == \"reload\" { } }"),
        ),
        (ReadOnly, plain("obs.▼level = 3;\nhold()"), plain("let level = 3;\nopp(level)")),
        (
            UnknownReading,
            plain("if obs.has(▼\"llcc\") { opp_max() } else { hold() }"),
            plain("if obs.has(\"lost_events\") { opp_max() } else { hold() }"),
        ),
        (
            UnknownReading,
            text(
                "fn decide(obs) { hold() }\nfn on_event(ev) { if ev.has(▼\"level\") { throw 1; } }",
            ),
            text("fn decide(obs) { hold() }\nfn on_event(ev) { if ev.has(\"cpus\") { throw 1; } }"),
        ),
        (
            UnknownTunable,
            text("// @param a = 1 (0..3) which\nfn decide(obs) { opp(cfg::a + cfg::▼b) }"),
            text("// @param a = 1 (0..3) which\nfn decide(obs) { opp(cfg::a) }"),
        ),
        (
            UnknownConstant,
            text("const KEEP = 1;\nfn decide(obs) { opp(global::▼KEPT) }"),
            text("const KEEP = 1;\nfn decide(obs) { opp(global::KEEP) }"),
        ),
        (
            UnknownStateKey,
            state("n: 0", "this.▼m = this.n;\nhold()"),
            state("n: 0, m: 0", "this.m = this.n + this.m;\nhold()"),
        ),
        (NoState, plain("▼this.n = 1;\nhold()"), state("n: 0", "opp(this.n)")),
        (
            NoState,
            text("fn init(i) { #{ n: 0 } }\nfn f() { ▼this.n }\nfn decide(obs) { opp(f()) }"),
            text("fn init(i) { #{ n: 0 } }\nfn f() { this.n }\nfn decide(obs) { opp(this.f()) }"),
        ),
        (
            StateType,
            state("n: 0", "this.▼n = this.n / 2.0;\nopp(this.n)"),
            state("n: 0.0", "this.n = this.n / 2.0;\ndemand_kBps(this.n)"),
        ),
        (
            StateType,
            state("n: 0", "this.▼n /= 2.0;\nopp(this.n)"),
            state("n: 0", "this.n /= 2;\nopp(this.n)"),
        ),
        // Each way out without a proposal, at the place where it ends.
        (
            NoProposal,
            plain("  ▼if obs.valid { hold() }"),
            plain("  if obs.valid { hold() } else { opp_min() }"),
        ),
        (NoProposal, plain("if obs.valid { ▼return; }\nhold()"), plain("return hold();")),
        // The value of the last statement counts, with `;` or without.
        (NoProposal, plain("▼let p = hold();"), plain("hold();")),
        (
            NoProposal,
            plain("▼for i in 0..3 {\n  if i == 2 { return hold(); }\n}"),
            plain("loop {\n  return hold();\n}"),
        ),
        (NoProposal, plain("▼loop { break; }"), plain("loop { break hold(); }")),
        (
            NoProposal,
            plain("switch obs.max_level {\n 1 => hold(),\n 2 => ▼5,\n _ => opp_max()\n}"),
            plain("switch obs.max_level {\n 1 => hold(),\n 2 => opp(0),\n _ => opp_max()\n}"),
        ),
        (
            NoProposal,
            plain("▼switch obs.max_level {\n 1 => hold()\n}"),
            plain("switch obs.valid { true => hold(), false => opp_max() }"),
        ),
        (
            NoProposal,
            plain("try { hold() } catch ▼{\n opp_max()\n}"),
            plain("try { hold() } catch {\n return opp_max();\n}"),
        ),
        (
            NoProposal,
            text("fn f(o) {\n  ▼if o.valid { return hold(); }\n}\nfn decide(obs) { f(obs) }"),
            text(
                "fn f(o) {\n  if o.valid { return hold(); }\n}\nfn decide(obs) { f(obs); hold() }",
            ),
        ),
        (
            MixedComparison,
            plain("if obs.opp_count ▼> \"4\" { opp_max() } else { hold() }"),
            plain("if obs.opp_count > 4.5 { opp_max() } else { hold() }"),
        ),
        (
            MixedComparison,
            with("if obs.peak_kBps ▼== () { return hold(); }\nopp_max()"),
            with("if obs.peak_kBps == 0 { return hold(); }\nopp_max()"),
        ),
        (
            MixedComparison,
            text(
                "// @param fast = true\nfn decide(obs) { if cfg::fast ▼== 1 { hold() } else { opp(0) } }",
            ),
            text(
                "// @param fast = true\nfn decide(obs) { if cfg::fast == true { hold() } else { opp(0) } }",
            ),
        ),
        (
            NotACondition,
            plain("if ▼obs.max_level { opp_max() } else { hold() }"),
            plain("if obs.max_level > 0 { opp_max() } else { hold() }"),
        ),
        (
            NoSuchOperation,
            plain("hold(\"at \" ▼+ obs.max_level)"),
            plain("hold(`at ${obs.max_level}` + \"!\")"),
        ),
        (
            NoSuchOperation,
            plain("opp(obs.max_level ▼* obs.valid)"),
            plain("opp(obs.max_level * 1)"),
        ),
        (
            SlotTwoHelpers,
            with("let a = ewma(\"x\", obs.windows, 50);\nopp(average(▼\"x\", a, 4))"),
            with("let a = ewma(\"x\", obs.windows, 50);\nopp(average(\"y\", a, 4))"),
        ),
        (
            SlotTwoHelpers,
            plain("opp(peak_hold(\"quiet_kBps\", obs.▼quiet_kBps(3) + 1, 50))"),
            plain("restart(\"t\");\nopp(elapsed_ms(\"t\"))"),
        ),
        (
            TooManySlots,
            plain(&format!("let n = 0;\n{}n += elapsed_ms(▼\"one more\");\nopp(n)", slots(16))),
            plain(&format!("let n = 0;\n{}opp(n)", slots(16))),
        ),
        (
            LostProposal,
            with("if obs.peak_kBps > 5 { ▼opp_max(); }\nhold()"),
            with("if obs.peak_kBps > 5 { opp_max() } else { hold() };"),
        ),
        (
            FloatEquality,
            with("if obs.peak_kBps * 0.5 ▼== 0.25 { opp_max() } else { hold() }"),
            with("if obs.peak_kBps * 0.5 >= 0.25 { opp_max() } else { hold() }"),
        ),
        (
            UnguardedReading,
            plain("demand_kBps(obs.▼peak_kBps)"),
            with("demand_kBps(obs.peak_kBps)"),
        ),
        (
            UnguardedReading,
            plain("if obs.has(\"level\") { hold() } else { opp(obs.▼level) }"),
            plain("if obs.has(\"level\") { opp(obs.level) } else { hold() }"),
        ),
        (
            UnitInName,
            with("let ▼need_kbps = obs.peak_kBps;\ndemand_kBps(need_kbps)"),
            with("let need_kBps = obs.peak_kBps;\ndemand_kBps(need_kBps)"),
        ),
        (
            UnitInName,
            text("// @param ▼least_mbps = 5\nfn decide(obs) { demand_kBps(cfg::least_mbps) }"),
            text("// @param least_MiBps = 5\nfn decide(obs) { demand_kBps(cfg::least_MiBps) }"),
        ),
        (
            UnitInName,
            text("fn f(x, ▼inKbps) { x + inKbps }\nfn decide(obs) { demand_kBps(f(1, 2)) }"),
            text("fn f(x, in_kBps) { x + in_kBps }\nfn decide(obs) { demand_kBps(f(1, 2)) }"),
        ),
        (UnitInName, state("▼Mbps: 0", "opp(this.Mbps)"), state("MiBps: 0", "opp(this.MiBps)")),
        (
            UnreachableCode,
            plain("return hold();\n▼opp_max()"),
            plain("if obs.valid { return hold(); }\nopp_max()"),
        ),
        (
            UnreachableCode,
            plain("if obs.valid { return hold(); } else { throw 1; }\n▼opp_max()"),
            plain("if obs.valid { return hold(); } else { opp_min() }"),
        ),
        (UnreachableCode, plain("loop { }\n▼hold()"), plain("loop { break; }\nhold()")),
        (
            UnusedTunable,
            text("// @param ▼level = 1 (0..3) which\nfn decide(obs) { hold() }"),
            text("// @param level = 1 (0..3) which\nfn decide(obs) { opp(cfg::level) }"),
        ),
        (
            UnusedFunction,
            text("fn decide(obs) { hold() }\n\nfn ▼rest(x) { x }"),
            text("fn decide(obs) { opp(rest(1)) }\n\nfn rest(x) { x }"),
        ),
        (
            UnusedStateKey,
            state("n: 0, ▼last: 0", "this.last = this.n;\nhold()"),
            state("n: 0, last: 0", "this.last = this.n;\nopp(this.last)"),
        ),
        (
            NumberTooLarge,
            plain("demand_kBps(▼9007199254740993)"),
            plain("demand_kBps(9223372036854775807)"),
        ),
        (NumberTooLarge, plain("demand_kBps(▼10000000000000000000)"), plain("demand_kBps(1.0e19)")),
        (
            SlotNotLiteral,
            with("let s = `a${1}`;\nopp(ewma(▼s, obs.windows, 50))"),
            with("let s = \"a\";\nopp(ewma(s, obs.windows, 50))"),
        ),
    ]
}

fn slots(n: usize) -> String {
    (0..n).map(|i| format!("  n += elapsed_ms(\"s{i}\");\n")).collect()
}

#[test]
fn each_lint_is_found_at_its_place_and_not_in_a_near_miss() {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    for (code, marked, near) in cases() {
        let (before, after) = marked.split_once('▼').unwrap();
        let (text, line) = (format!("{before}{after}"), before.split('\n').count());
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let all = found(&text);
        assert!(all.contains(&(code, line, column)), "{code} at {line}:{column}:\n{text}\n{all:?}");
        let source = Source { name: "p.rhai".into(), text: near.clone() };
        if let Err(fault) = ScriptPolicy::new(source, &board, &[]) {
            panic!("{near}: {fault}");
        }
        let other = found(&near);
        assert!(other.iter().all(|(found, ..)| *found != code), "{code}:\n{near}\n{other:?}");
    }
}

#[test]
fn every_static_lint_has_a_case() {
    let loops = [Code::NeverComesDown, Code::Flapping, Code::LevelNeverChosen, Code::BelowDemand];
    let elsewhere = |code: Code| !code.can_be_allowed() || loops.contains(&code);
    let cases: BTreeSet<Code> = cases().into_iter().map(|(code, ..)| code).collect();
    let all = LINTS.iter().map(|lint| lint.code).filter(|code| !elsewhere(*code));
    assert_eq!(cases, all.collect::<BTreeSet<_>>());
}

#[test]
fn a_finding_says_what_to_do() {
    let plain = |body: &str| format!("fn decide(obs) {{ {body} }}");
    for (text, message, help) in [
        (plain("holdd()"), "there is no function `holdd`", "did you mean `hold`?"),
        (
            plain("opp(obs.level_kbps)"),
            "an observation has no property",
            "did you mean `level_kBps`?",
        ),
        (plain("opp(obs.has)"), "no property `has`", "it is a method: obs.has(\"name\")"),
        (
            plain("opp(obs.windows())"),
            "there is no method `windows`",
            "it is a reading: obs.windows",
        ),
        (plain("opp(clamp(1, 2))"), "takes 3 argument(s), not 2", "written clamp(x, low, high)"),
        (plain("hold().hold_ms()"), "takes 1 argument(s), not 0", "written hold_ms(n)"),
        (plain("hold(1, 2, 3)"), "takes 0 or 1 argument(s), not 3", "written hold()"),
        (plain("opp(1.5)"), "no `opp` takes (a number with a point)", "written opp(i)"),
        (plain("opp(cfg::x)"), "there is no tunable `x`", "// @param x = 1"),
        (
            plain("if obs.has(\"peak\") { hold() } else { opp(0) }"),
            "there is no reading \"peak\"",
            "has_domain",
        ),
        (
            plain("if obs.max_level != \"a\" { hold() } else { opp(0) }"),
            "a whole number is compared with a text: that is always true",
            "compare values of one type",
        ),
        (
            plain("if obs.valid == () { hold() } else { opp(0) }"),
            "true or false is compared with nothing",
            "unknown is never `()`",
        ),
        (
            plain("if obs.valid { 5 } else { hold() }"),
            "decide() ends here in a whole number, not a proposal",
            "demand_kBps(n)",
        ),
    ] {
        let (says, helps) = said(&text);
        assert!(says.contains(message), "{text}: {says}");
        assert!(helps.contains(help), "{text}: {helps}");
    }
}

#[test]
fn a_function_that_decide_answers_with_is_named_where_it_fails() {
    let text =
        "fn rule(o) {\n  if o.valid { return hold(); }\n}\nfn decide(obs) { rule(obs).why(\"x\") }";
    let (message, _) = said(text);
    assert!(
        message.starts_with("rule(), whose answer is that of decide(), ends without"),
        "{message}"
    );
}

#[test]
fn every_finding_is_reported_in_the_order_of_the_text() {
    let text = "// @param a = 1\nfn decide(obs) {\n  let kbps = obs.peak_kbps;\n  holdd(kbps, cfg::b);\n  5\n}";
    let codes: Vec<Code> = found(text).into_iter().map(|(code, ..)| code).collect();
    use Code::*;
    assert_eq!(
        codes,
        [UnusedTunable, UnitInName, UnknownProperty, UnknownFunction, UnknownTunable, NoProposal]
    );
}
