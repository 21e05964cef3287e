//! What holds for any text and any order.

use super::testing::{FOLLOWS, run, scenario, script};
use super::{NoFiles, parse};
use crate::policy::PolicySpec;
use proptest::prelude::*;

/// A spec with most of the keys, to be broken.
const FULL: &str = include_str!("../../../policies/adaptive.spec.toml");

/// Expectations of which some hold for a policy that follows and some do not.
const EXPECT: [&str; 8] = [
    "rise_ms = 4",
    "fall_ms = 4\nfall_to = 0",
    "max_transitions = 2",
    "never_below_demand = true",
    "idle_to_lowest_ms = 8",
    "level_max = 2",
    "step = 2\nlevel_min = 4",
    "why = \"quiet\"",
];

fn spec_of(order: &[usize]) -> String {
    let body = order.iter().fold(
        "series = [{ ms = 40, peak_kBps = 0 }, { ms = 40, peak_kBps = 3_000_000 }, \
         { ms = 40, peak_kBps = 0 }]\n"
            .to_owned(),
        |body, index| body + "[[scenario.expect]]\n" + EXPECT[*index] + "\n",
    );
    scenario(&body)
}

/// Expectation, domain, time and text of every failure, whatever the line.
fn verdict(order: &[usize]) -> Vec<(String, Option<u64>, String)> {
    let report = run(&mut script(FOLLOWS), &spec_of(order)).unwrap();
    let failures = &report.scenarios[0].failures;
    let mut lines: Vec<_> =
        failures.iter().map(|f| (f.expectation.clone(), f.at_ms, f.seen.clone())).collect();
    lines.sort();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_a_spec_or_an_error(text in "\\PC{0,200}") {
        let _ = parse("s", &text, None, &mut NoFiles);
    }

    #[test]
    fn a_spec_with_a_piece_cut_out_or_put_in_is_a_spec_or_an_error(
        start in 0..FULL.len(), length in 0usize..60, insert in "[\\[\\]{}=\",a-z0-9_\n]{0,12}",
    ) {
        let end = (start + length).min(FULL.len());
        let broken = FULL.get(..start).zip(FULL.get(end..));
        let broken = broken.map(|(before, after)| format!("{before}{insert}{after}"));
        if let Some(Ok(spec)) = broken.map(|text| parse("s", &text, None, &mut NoFiles)) {
            prop_assert!(spec.names().count() > 0);
        }
    }

    #[test]
    fn the_order_of_expectations_changes_no_verdict(
        order in Just((0..EXPECT.len()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let sorted: Vec<usize> = (0..EXPECT.len()).collect();
        prop_assert_eq!(verdict(&order), verdict(&sorted));
    }

    /// The kernel's rule as a script and in Rust have the same levels, whatever the traffic.
    #[test]
    fn bwmon_is_the_native_rule_on_any_series(
        steps in prop::collection::vec((1u64..20, 0u64..9_000_000, 0u8..10), 1..30),
        period_ms in 1u64..15,
    ) {
        let steps: Vec<String> = steps.iter().map(|(ticks, kbps, kind)| {
            let ms = ticks * period_ms;
            match kind {
                0 => format!("{{ ms = {ms}, missing = true }}"),
                1 => format!("{{ ms = {ms}, saturated = true }}"),
                2 => format!("{{ ms = {ms}, interrupt = true, peak_kBps = {kbps} }}"),
                3 => format!("{{ ms = {ms}, peak_kBps = [{kbps}, 0] }}"),
                _ => format!("{{ ms = {ms}, peak_kBps = {kbps} }}"),
            }
        }).collect();
        let body = format!(
            "period_ms = {period_ms}\nseries = [{}]\n[[scenario.expect]]\nsame_as = \"native\"",
            steps.join(", "),
        );
        let text = crate::policy::library::shipped("bwmon").unwrap().text;
        // Where every wrong policy has native's levels too there is nothing to compare.
        if let Ok(report) = run(&mut script(text), &scenario(&body)) {
            prop_assert!(report.ok, "{:?}", report.first_failure());
        }
    }
}

#[test]
fn every_shipped_spec_holds_for_its_policy_and_not_for_another() {
    for shipped in crate::policy::library::SHIPPED {
        let Some(spec) = shipped.spec else { continue };
        let report = run(&mut script(shipped.text), spec).unwrap();
        assert!(report.ok, "{}: {:?}", shipped.name, report.first_failure());
        for other in ["fn decide(obs) { opp_max() }", "fn decide(obs) { hold() }", FOLLOWS] {
            let report = run(&mut script(other), spec);
            // Another policy may not even have the tunables that the spec sets.
            assert!(!report.is_ok_and(|report| report.ok), "{}: {other}", shipped.name);
        }
    }
    let bwmon = crate::policy::library::shipped("bwmon").unwrap();
    assert!(run(&mut PolicySpec::Native, bwmon.spec.unwrap()).unwrap().ok);
}
