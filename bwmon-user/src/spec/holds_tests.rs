//! Every expectation: when it holds, and what it says when it does not.

use super::testing::{FOLLOWS, failures, one, run, scenario, script};
use crate::policy::PolicySpec;

/// 100 ms quiet, 100 ms at 3000000 kBps (level 3), 100 ms quiet.
const PULSE: &str = "series = [{ ms = 100, peak_kBps = 100_000 }, \
                     { ms = 100, peak_kBps = 3_000_000 }, { ms = 100, peak_kBps = 100_000 }]\n";

/// What `policy` fails of `expect` under the pulse; one line at most.
fn pulse(policy: &str, expect: &str) -> String {
    let body = format!("{PULSE}[[scenario.expect]]\n{expect}");
    let failures = failures(&mut script(policy), &body);
    assert!(failures.len() <= 1, "{failures:?}");
    failures.into_iter().next().unwrap_or_default()
}

#[test]
fn a_policy_that_follows_the_demand_keeps_everything_that_is_said_of_following() {
    let expect = "rise_ms = 4\nfall_ms = 4\nnever_below_demand = true\nidle_to_lowest_ms = 4\n\
                  max_transitions = 3\nlevel_at_end = 0\nwhy = \"peak\"\nvote_kBps_max = 3_072_000\n\
                  mean_vote_kBps_max = 1_600_000\nlevel_max = 3";
    assert_eq!(pulse(FOLLOWS, expect), "");
}

#[test]
fn a_late_rise_says_when_it_was_to_be_and_when_it_was() {
    // Looks at the demand of 30 ms ago: eight ticks of 4 ms late, so in force at 200 + 36 - ...
    let late = "fn init(i) { #{ n: 0 } }\nfn decide(obs) { if obs.peak_kBps < 1_000_000 \
                { this.n = 0; return opp(0); } this.n += 1; if this.n < 8 { return opp(0); } \
                demand_kBps(obs.peak_kBps) }";
    // The eighth tick from 100 ms on ends at 132 ms.
    assert_eq!(
        pulse(late, "rise_ms = 30"),
        "rise_ms = 30 (line 7) on ddr: demand rises at 100 ms to 3000000 kBps (read as 3008000); \
         level 3 (3072000 kBps) or more was to be in force by 130 ms, it was at 132 ms"
    );
    assert_eq!(pulse(late, "rise_ms = 32"), "");
    assert_eq!(
        pulse(
            "fn decide(obs) { opp(1) }",
            "rise_ms = 30, rise_to = 2".replace(", ", "\n").as_str()
        ),
        "rise_ms = 30, rise_to = 2 (line 7) on ddr: demand rises at 100 ms to 3000000 kBps (read as \
         3008000); level 2 (2188000 kBps) or more was to be in force by 130 ms, it was not by 200 \
         ms, where that demand ends"
    );
}

/// The kernel's rule with another number of quiet windows.
fn down_after(windows: u32) -> String {
    format!(
        "fn init(i) {{ #{{ n: 0 }} }}\nfn decide(obs) {{ if !obs.below {{ this.n = 0; return \
         demand_kBps(obs.peak_kBps); }} this.n += obs.windows; if this.n < {windows} \
         {{ return hold(); }} this.n = 0; demand_kBps(obs.peak_kBps) }}"
    )
}

#[test]
fn coming_down_one_window_early_or_late_is_seen() {
    let expect = "fall_ms = 64\nstay_ms = 64";
    assert_eq!(pulse(&down_after(16), expect), "");
    assert_eq!(
        pulse(&down_after(17), expect),
        "fall_ms = 64 (line 7) on ddr: demand falls at 200 ms to 100000 kBps (read as 112000); \
         level 0 (800000 kBps) or less was to be in force by 264 ms, it was at 268 ms"
    );
    assert_eq!(
        pulse(&down_after(15), expect),
        "stay_ms = 64 (line 8) on ddr: demand falls at 200 ms to 100000 kBps (read as 112000); \
         level 3 (3072000 kBps) was to stay in force until 264 ms, level 0 (800000 kBps) was at \
         260 ms"
    );
}

#[test]
fn a_fall_right_after_another_may_be_answered_with_the_first() {
    // The kernel's rule comes down 64 ms after 40 ms, though the demand falls again at 72 ms.
    let body = "series = [{ ms = 40, peak_kBps = 5_000_000 }, { ms = 32, peak_kBps = 3_000_000 }, \
                { ms = 80, peak_kBps = 100_000 }]\n[[scenario.expect]]\nstay_ms = 64\nstep = 2\n\
                [[scenario.expect]]\nfrom_ms = 100\nto_ms = 104\nlevel_max = 3";
    assert_eq!(failures(&mut PolicySpec::Native, body), Vec::<String>::new());
    let all = body.replace("\nstep = 2", "");
    assert_eq!(failures(&mut PolicySpec::Native, &all), Vec::<String>::new());
}

#[test]
fn levels_and_votes_name_the_first_tick_that_is_outside() {
    assert_eq!(
        pulse(FOLLOWS, "from_ms = 50\nto_ms = 150\nlevel_max = 2"),
        "level_max = 2 (line 9) on ddr: level 2 (2188000 kBps) or less was expected from 50 to 150 \
         ms, at 104 ms it was level 3 (3072000 kBps)"
    );
    assert_eq!(
        pulse(FOLLOWS, "step = 2\nlevel_min = \"top-3\""),
        "level_min = \"top-3\" (line 8) on ddr: level 4 (4068000 kBps) or more was expected from \
         100 to 200 ms, at 104 ms it was level 3 (3072000 kBps)"
    );
    assert_eq!(
        pulse(FOLLOWS, "step = 2\nvote_kBps_min = 3_072_001"),
        "vote_kBps_min = 3072001 (line 8) on ddr: a vote of 3072001 kBps or more was expected from \
         100 to 200 ms, at 104 ms it was level 3 (3072000 kBps)"
    );
    assert_eq!(
        pulse(FOLLOWS, "vote_kBps_max = 3_000_000"),
        "vote_kBps_max = 3000000 (line 7) on ddr: a vote of 3000000 kBps or less was expected from \
         0 to 300 ms, at 104 ms it was level 3 (3072000 kBps)"
    );
    assert_eq!(
        pulse(FOLLOWS, "to_ms = 200\nlevel_at_end = \"lowest\""),
        "level_at_end = 0 (line 8) on ddr: level 0 (800000 kBps) was expected at 200 ms, it was \
         level 3 (3072000 kBps)"
    );
    // A third of the time at 3072000, else at 800000: 1557333.
    assert_eq!(
        pulse(FOLLOWS, "mean_vote_kBps_max = 1_557_332"),
        "mean_vote_kBps_max = 1557332 (line 7) on ddr: a mean vote of 1557332 kBps or less was \
         expected from 0 to 300 ms, it was 1557333 kBps"
    );
}

#[test]
fn too_many_changes_name_the_one_too_many() {
    // The first vote counts, as it does in the report of a simulation.
    assert_eq!(
        pulse(FOLLOWS, "max_transitions = 2"),
        "max_transitions = 2 (line 7) on ddr: at most 2 changes of level were expected from 0 to \
         300 ms, there were 3, number 3 at 204 ms"
    );
}

#[test]
fn a_level_below_the_demand_is_seen_and_a_grace_is_given() {
    assert_eq!(
        pulse("fn decide(obs) { opp(2) }", "never_below_demand = true\ngrace_ms = 8"),
        "never_below_demand = true, grace_ms = 8 (line 7) on ddr: at 112 ms the demand is 3000000 \
         kBps (read as 3008000), which level 3 (3072000 kBps) carries, level 2 (2188000 kBps) was \
         in force, below the demand for 12 ms (8 are allowed)"
    );
    assert_eq!(
        pulse("fn decide(obs) { opp(2) }", "never_below_demand = true"),
        "never_below_demand = true (line 7) on ddr: at 104 ms the demand is 3000000 kBps (read as \
         3008000), which level 3 (3072000 kBps) carries, level 2 (2188000 kBps) was in force"
    );
}

#[test]
fn without_demand_the_lowest_level_has_to_come_and_stay() {
    assert_eq!(
        pulse(&down_after(16), "from_ms = 200\nidle_to_lowest_ms = 60"),
        "idle_to_lowest_ms = 60 (line 8) on ddr: no demand above the lowest level from 200 ms on; \
         level 0 (800000 kBps) was to be in force from 260 ms on, at 260 ms it was level 3 \
         (3072000 kBps)"
    );
    let leaves = "fn init(i) { #{ n: 0 } }\nfn decide(obs) { this.n += 1; if this.n == 20 \
                  { opp(1) } else { opp(0) } }";
    assert!(pulse(leaves, "idle_to_lowest_ms = 40").contains("at 80 ms it was level 1"));
}

#[test]
fn reasons_and_other_policies_are_compared() {
    assert_eq!(
        pulse(FOLLOWS, "why = \"quiet\""),
        "why = \"quiet\" (line 7) on ddr: a reason with \"quiet\" was expected from 0 to 300 ms, \
         the reasons were \"peak\""
    );
    assert_eq!(
        pulse("fn decide(obs) { demand_kBps(obs.peak_kBps) }", "same_as = \"native\""),
        "same_as = \"native\" (line 7) on ddr: at 4 ms native has level 7 (7216000 kBps), it was \
         level 0 (800000 kBps)"
    );
    let bwmon = crate::policy::library::shipped("bwmon").unwrap();
    assert_eq!(pulse(bwmon.text, "same_as = \"native\""), "");
}

#[test]
fn faults_fail_a_scenario_unless_they_are_allowed() {
    // Faults from 100 ms on, until it is set aside after three of them: 104, 108 and 112 ms.
    let faulty = "fn decide(obs) { if obs.peak_kBps > 1_000_000 { throw \"no\"; } opp(0) }";
    let said = pulse(faulty, "rise_ms = 4");
    assert_eq!(
        said,
        "faults_max = 0 (line 3) on ddr: at most 0 faults of the policy were expected, there were \
         3, the first at 104 ms: no (p.rhai:1:49)"
    );
    let allowed = format!("faults_max = 3\n{PULSE}[[scenario.expect]]\nrise_ms = 4");
    assert_eq!(failures(&mut script(faulty), &allowed), Vec::<String>::new());
    // The native rule answers meanwhile; its reasons are not the policy's.
    let reasons = allowed.replace("rise_ms = 4", "why = \"busiest window\"");
    assert!(failures(&mut script(faulty), &reasons)[0].ends_with("no reason was given"));
}

#[test]
fn what_the_probes_and_the_kernel_say_reaches_the_policy() {
    let policy = "fn decide(obs) { if obs.interrupt && obs.kernel_kBps == 2_188_000 && \
                  obs.others_kBps == 7 && obs.cpu_max_kHz == 300_000 { opp(5) } else { opp(0) } }";
    let body = "series = [{ ms = 4, interrupt = true, peak_kBps = 2_000_000, others_kBps = 7, \
                cpu_max_kHz = 300_000 }, { ms = 4, interrupt = true, peak_kBps = 9, \
                kernel_kBps = 2_188_000, others_kBps = { ddr = 7 }, cpu_max_kHz = 300_000 }]\n\
                [[scenario.expect]]\nlevel_min = 5";
    assert_eq!(failures(&mut script(policy), body), Vec::<String>::new());
}

#[test]
fn a_start_level_is_in_force_before_the_first_tick_and_no_transition() {
    let body = "start_level = 2\nseries = [{ ms = 40, missing = true }]\n[[scenario.expect]]\n\
                level_min = 2\nlevel_max = 2\nmax_transitions = 0";
    assert_eq!(failures(&mut script(FOLLOWS), body), Vec::<String>::new());
}

#[test]
fn tunables_of_the_spec_reach_the_policy_and_those_of_the_caller_go_over_them() {
    let text = "// @preset low: level=1\n// @param level = 0 (0..7) x\n\
                fn decide(obs) { opp(cfg::level) }";
    let level = |head: &str, own: &str, set: &[(&str, &str)]| {
        let mut policy = script(text);
        let PolicySpec::Script { set: values, .. } = &mut policy else { panic!() };
        values.extend(set.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let spec = format!(
            "schema = 1\n{head}\n[[scenario]]\nname = \"s\"\n{own}\nseries = [{{ ms = 4, \
             peak_kBps = 0 }}]\nboard = \"sdm845-seed\"\n[[scenario.expect]]\nlevel_at_end = 6"
        );
        let report = run(&mut policy, &spec).unwrap();
        let seen = report.first_failure().map(|(_, failure)| failure.seen.clone());
        seen.map_or(6, |seen| seen.split(' ').nth(3).unwrap().parse::<u32>().unwrap())
    };
    assert_eq!(level("", "", &[]), 0);
    assert_eq!(level("preset = \"low\"", "", &[]), 1);
    assert_eq!(level("preset = \"low\"\nset = { level = 2 }", "", &[]), 2);
    assert_eq!(level("set = { level = 2 }", "set = { level = 3 }", &[]), 3);
    assert_eq!(level("set = { level = 2 }", "set = { level = 3 }", &[("level", "6")]), 6);
}

#[test]
fn a_workload_of_the_simulator_is_judged_by_what_its_monitors_read() {
    let body = "workload = \"frames\"\nms = 100\n[[scenario.expect]]\nnever_below_demand = true\n\
                same_as = \"native\"\nbelow_demand_ms_max = 4";
    let report = one(&mut PolicySpec::Native, body);
    assert_eq!(report.failures, []);
    assert_eq!((report.simulated_ms, report.ticks, report.expectations), (100, 25, 3));
    let body = body.replace("max = 4", "max = 0");
    let slow = failures(&mut script("fn decide(obs) { opp(0) }"), &body);
    assert!(
        slow.iter().any(|line| line.contains("its clock was to hold traffic back")),
        "{slow:?}"
    );
}

#[test]
fn an_expectation_without_a_domain_holds_for_each_that_is_measured() {
    let spec = scenario(
        "series = [{ ms = 40, peak_kBps = { llcc = 100_000, ddr = 3_000_000 } }]\n\
         [[scenario.expect]]\nlevel_at_end = \"lowest\"",
    );
    let report = run(&mut script(FOLLOWS), &spec.replace("sdm845-seed", "sdm845")).unwrap();
    let failures = &report.scenarios[0].failures;
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0].domain.as_deref(), Some("ddr"));
}
