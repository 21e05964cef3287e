use super::*;
use crate::board::builtin;
use crate::experiment::JournalMeasure as J;
use serde_json::json;
use std::io::Write;

const MS: u64 = Nanos::PER_MS;

/// A journal of the seed's board with `lines` after its header.
fn journal(lines: &[String]) -> tempfile::NamedTempFile {
    let board = builtin("sdm845-seed").unwrap().unwrap();
    let header = json!({
        "schema": 1, "program": "bwmon test", "kernel": null, "mode": "govern",
        "capabilities": [], "period_us": 4000,
        "policy": {"name": "p", "digest": "d", "source": "", "params": {}},
        "rails": [], "levels": [0], "board": board,
    });
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{header}\n{}", lines.concat()).unwrap();
    file
}

/// The tick `n` of 4 ms.
fn tick(n: u64, reading: Value, peak: Option<u64>, level: Option<u64>, applied: Value) -> String {
    let reason = if level.is_some() { "policy" } else { "no_vote" };
    let line = json!({
        "sample": {
            "tick": n,
            "window": {"start_ns": n * 4 * MS, "end_ns": (n + 1) * 4 * MS},
            "monitors": [reading],
            "probes": {"others_kBps": [null], "cpu_max_kHz": null, "lost_events": null},
        },
        "domains": [{
            "name": "ddr", "peak_kBps": peak, "by": "policy", "ask": "hold", "why": "",
            "decision": {"level": level, "reason": reason}, "vote": null, "applied": applied,
        }],
    });
    format!("{line}\n")
}

fn plain(n: u64, level: u64, applied: Value) -> String {
    tick(n, json!({"missing": "absent"}), Some(500_000), Some(level), applied)
}

/// From the tick `begin` to before the tick `end`.
fn span(begin: u64, end: u64) -> Span {
    Span { begin: Nanos(begin * 4 * MS), end: Nanos(end * 4 * MS) }
}

fn told(lines: &[String], span: Span, whose: Whose) -> Told {
    read(journal(lines).path(), span, whose).unwrap()
}

#[test]
fn only_the_span_counts_and_levels_from_before_it_are_known() {
    let lines: Vec<String> = (0..10).map(|n| plain(n, n / 4, json!("placed"))).collect();
    let told = told(&lines, span(4, 8), Whose::Agents);
    assert_eq!((&told.facts["ticks"], &told.facts["missed_ticks"]), (&json!(4), &json!(0)));
    // Level 0 is in force during the first of the four, level 1 after it.
    let mean = (800_000.0 + 3.0 * 1_804_000.0) / 4.0;
    assert_eq!(told.meter.figure(J::MeanVoteKbps, None), Some(mean));
    assert_eq!(told.meter.figure(J::Transitions, Some("ddr")), Some(1.0));
    assert_eq!(told.disturbed, None);
}

#[test]
fn a_last_line_that_was_cut_off_is_left_away_and_missed_ticks_are_counted() {
    let mut lines = vec![plain(0, 0, json!("placed")), plain(3, 0, json!("in_force"))];
    lines.push(plain(4, 0, json!("placed")).split_at(60).0.to_owned());
    let text = lines.concat();
    let told = told(&lines, span(0, 9), Whose::Agents);
    assert_eq!((&told.facts["ticks"], &told.facts["missed_ticks"]), (&json!(2), &json!(2)));
    assert_eq!(last_moment(&text), Some(Nanos(16 * MS)));
    assert_eq!(last_moment("half a li"), None);
}

#[test]
fn votes_that_others_disturbed_are_told_also_from_before_the_span() {
    let what = |applied: Value, at: u64| {
        let lines: Vec<String> = (0..4)
            .map(|n| plain(n, 1, if n == at { applied.clone() } else { json!("in_force") }))
            .collect();
        told(&lines, span(2, 4), Whose::Agents).disturbed
    };
    assert_eq!(what(json!({"foreign": {"what": "x is y"}}), 0), Some("ddr: x is y".into()));
    assert_eq!(what(json!({"gone": {"what": "noc"}}), 2), Some("ddr: noc vanished".into()));
    assert_eq!(what(json!({"refused": {"why": "busy"}}), 2), Some("ddr: busy".into()));
    let clamped = what(json!({"clamped": {"found": 5}}), 3).unwrap();
    assert!(clamped.contains("clamped to 5"), "{clamped}");
    // While it settles a vote may fail.
    assert_eq!(what(json!({"refused": {"why": "busy"}}), 0), None);
    assert_eq!(what(json!({"not_honoured": {"found": 5}}), 3), None);
}

#[test]
fn an_agent_that_never_ticked_while_it_counted_is_a_disturbance() {
    let lines = [plain(0, 0, json!("placed"))];
    let why = told(&lines, span(5, 9), Whose::Agents).disturbed.unwrap();
    assert_eq!(why, "the agent's journal has no tick of the time that counts");
    assert_eq!(told(&lines, span(5, 9), Whose::Kernels).disturbed, None);
}

#[test]
fn a_machine_that_slept_is_a_disturbance() {
    let slept = plain(1, 0, json!("placed"))
        .replace("\"lost_events\":null", "\"lost_events\":null,\"slept_ns\":7000000");
    let why = told(&[plain(0, 0, json!("placed")), slept], span(0, 9), Whose::Agents).disturbed;
    assert_eq!(why, Some("the machine was suspended for 7 ms".into()));
}

#[test]
fn beside_the_kernels_driver_its_levels_count_and_not_those_of_the_shadow() {
    let kernel = |n, up: u64| {
        let reading =
            json!({"kernel": {"meas_kBps": 1, "up_kBps": up, "down_kBps": 1, "updates": 1}});
        tick(n, reading, Some(500_000), Some(3), json!("dry_run"))
    };
    let quiet = |n| tick(n, json!({"missing": "no_update"}), None, Some(4), json!("dry_run"));
    let lines = [kernel(0, 1_804_001), quiet(1), quiet(2), kernel(3, 800_001), quiet(4)];
    let told = told(&lines, span(1, 5), Whose::Kernels);
    let mean = (3.0 * 1_804_000.0 + 800_000.0) / 4.0;
    assert_eq!(told.meter.figure(J::MeanVoteKbps, None), Some(mean));
    assert_eq!(told.meter.figure(J::Transitions, None), Some(1.0));
    // A threshold that no level of the board has: another board than the driver's.
    let odd =
        super::read(journal(&[kernel(0, 12_345)]).path(), span(0, 9), Whose::Kernels).unwrap();
    assert_eq!(odd.meter.figure(J::MeanVoteKbps, None), None);
}
