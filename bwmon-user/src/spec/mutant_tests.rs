//! The shipped specs notice when the policy is changed a little.

use super::testing::{run, script};
use crate::policy::library::shipped;

/// Whether the spec of `policy` fails when `old` reads `new` in its script.
fn notices(policy: &str, old: &str, new: &str) -> bool {
    let shipped = shipped(policy).unwrap();
    assert!(shipped.text.contains(old), "{policy} has no {old}");
    let mutant = shipped.text.replacen(old, new, 1);
    match run(&mut script(&mutant), shipped.spec.unwrap()) {
        Ok(report) => !report.ok,
        Err(error) => panic!("{policy}: {old} -> {new}: {error}"),
    }
}

#[test]
fn the_spec_of_bwmon_notices_small_changes() {
    for (old, new) in [
        ("down_windows = 16", "down_windows = 15"),
        ("down_windows = 16", "down_windows = 17"),
        ("cfg::down_windows", "cfg::down_windows + 1"),
        ("quiet >= 0", "quiet > 2_000_000"),
        ("demand_kBps(quiet,", "demand_kBps(0,"),
        ("demand_kBps(obs.peak_kBps,", "demand_kBps(obs.peak_kBps - 1,"),
        ("obs.above || obs.interrupt", "obs.above"),
        ("obs.above || obs.interrupt", "obs.interrupt"),
        ("hold()", "opp_max()"),
    ] {
        assert!(notices("bwmon", old, new), "{old} -> {new}");
    }
}

#[test]
fn the_spec_of_adaptive_notices_small_changes() {
    for (old, new) in [
        ("util_pct = 70", "util_pct = 71"),
        ("util_pct = 70", "util_pct = 69"),
        ("quiet_windows = 6", "quiet_windows = 5"),
        ("quiet_windows = 6", "quiet_windows = 7"),
        ("l3_kBps_per_kHz = 10", "l3_kBps_per_kHz = 11"),
        ("l3_hold_ms = 24", "l3_hold_ms = 28"),
        ("l3_hold_ms = 24", "l3_hold_ms = 20"),
        ("need > obs.lower_kBps", "need >= obs.lower_kBps"),
        ("obs.others_kBps >= this.max_kBps", "obs.others_kBps > this.max_kBps"),
        ("!carried && this.windows", "this.windows"),
        ("need = max(need, path.peak_kBps)", "need = path.peak_kBps"),
        ("if need == 0 { return hold(); }", ""),
        (" || obs.interrupt", ""),
    ] {
        assert!(notices("adaptive", old, new), "{old} -> {new}");
    }
}
