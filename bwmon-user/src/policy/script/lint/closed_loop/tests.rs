use super::*;
use crate::board::{Level, builtin};
use crate::policy::library::SHIPPED;
use crate::policy::script::Source;
use crate::policy::script::lint::lint;

fn board(id: &str) -> Arc<Board> {
    Arc::new(builtin(id).unwrap().unwrap())
}

fn spec(text: &str) -> PolicySpec {
    let source = Source { name: "p.rhai".into(), text: text.into() };
    PolicySpec::Script { source, set: Vec::new() }
}

/// What is found on the seed's board.
fn found(body: &str) -> Vec<Finding> {
    let text = format!(
        "fn init(i) {{ #{{ n: 0 }} }}\nfn decide(obs) {{ if !obs.valid {{ return hold(); }} {body} }}"
    );
    closed_loop(&spec(&text), &board("sdm845-seed"), true)
}

fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().map(|finding| finding.code).collect()
}

#[test]
fn the_native_rule_chains_and_shipped_policies_have_no_findings() {
    for id in ["sdm845-seed", "sdm845", "sc7280"] {
        for shipped in SHIPPED {
            let source = Source { name: shipped.name.into(), text: shipped.text.into() };
            let follows = lint(&source, &board(id)).reads_demand;
            let found = closed_loop(&spec(shipped.text), &board(id), follows);
            if (id, shipped.name) == ("sdm845", "bw_hwmon") {
                // True, and the vendor's: 1 MiB a count, and io_percent 16 makes steps of 1.6 GB/s.
                assert_eq!(codes(&found), [Code::LevelNeverChosen]);
                continue;
            }
            assert!(found.is_empty(), "{id} {}: {found:#?}", shipped.name);
        }
        let chain = PolicySpec::Chain("chain:peak | headroom(80) | hold_down(24)".into());
        for spec in [PolicySpec::Native, chain] {
            assert_eq!(closed_loop(&spec, &board(id), true), []);
        }
    }
}

#[test]
fn a_level_that_goes_up_and_down_on_a_constant_demand_flaps() {
    // Up as soon as the reading is above, down as soon as half of it would fit the level below:
    // where a level carries less than twice the one below, each goes over into the other.
    let found = found(
        "if obs.above { return opp(min(obs.level + 1, obs.max_level)); } \
         if obs.has(\"lower_kBps\") && obs.peak_kBps / 2 < obs.lower_kBps { opp(obs.level - 1) } \
         else { hold() }",
    );
    assert_eq!(codes(&found), [Code::Flapping]);
    let message = &found[0].diagnostic.message;
    // 1804000 is the first demand for which the level below, 800000, carries half, not all of it:
    // 50 units and one more are 816000.
    assert!(message.contains("between 0 and 1 on a constant demand of 816000 kBps"), "{message}");
    assert_eq!(found[0].board.as_deref(), Some("sdm845-seed"));
    assert_eq!(found[0].domain.as_deref(), Some("ddr"));
}

#[test]
fn one_change_too_many_is_no_flapping() {
    // Down by one level after each rise, once.
    let found = found(
        "if obs.above { this.n = 0; return demand_kBps(obs.peak_kBps); } this.n += 1; \
         if this.n > 20 && obs.below { demand_kBps(obs.peak_kBps) } else { hold() }",
    );
    assert_eq!(found, []);
}

#[test]
fn a_level_that_never_comes_down_is_found() {
    let found = found("if obs.above { demand_kBps(obs.peak_kBps) } else { hold() }");
    assert!(codes(&found).contains(&Code::NeverComesDown), "{found:#?}");
    // After 40 readings, 160 ms, it does come down.
    let down = self::found(
        "if obs.below { this.n += 1; } else { this.n = 0; } if obs.above { demand_kBps(obs.peak_kBps) } \
         else if this.n >= 40 { this.n = 0; demand_kBps(obs.peak_kBps) } else { hold() }",
    );
    assert_eq!(down, []);
}

#[test]
fn levels_that_no_demand_leads_to_are_named() {
    let found = found("if obs.peak_kBps > 3_000_000 { opp_max() } else { opp_min() }");
    assert_eq!(codes(&found), [Code::BelowDemand, Code::LevelNeverChosen]);
    let message = &found[1].diagnostic.message;
    assert!(message.contains("level 1 (1804000 kBps), 2 (2188000 kBps), 3"), "{message}");
    assert!(!message.contains(" 0 (") && !message.contains(" 7 ("), "{message}");
}

#[test]
fn a_level_that_stays_below_the_demand_is_found() {
    // 90 % of the demand: from 816000 on, level 0 stays where level 1 is needed.
    let found = found("demand_kBps(obs.peak_kBps * 90 / 100)");
    assert_eq!(codes(&found), [Code::BelowDemand]);
    let message = &found[0].diagnostic.message;
    assert!(message.contains("constant demand of 816000 kBps the level stays at 0"), "{message}");
    assert!(message.contains("which carries 800000 kBps"), "{message}");
}

#[test]
fn a_policy_that_does_not_follow_the_demand_on_purpose_is_left_in_peace() {
    for text in ["fn decide(obs) { opp_max() }", "fn decide(obs) { opp(1) }"] {
        assert_eq!(closed_loop(&spec(text), &board("sdm845"), false), []);
        assert_ne!(closed_loop(&spec(text), &board("sdm845"), true), []);
    }
}

#[test]
fn a_fault_that_only_governing_brings_about_is_found_with_its_domain() {
    // Not on any single observation: it takes 300 readings on end.
    let found =
        found("this.n += 1; if this.n > 300 { throw \"late\"; } demand_kBps(obs.peak_kBps)");
    assert_eq!(codes(&found), [Code::Fault]);
    assert_eq!(found[0].diagnostic.message, "late");
    assert_eq!(found[0].diagnostic.place.as_ref().unwrap().line, 2);
    assert_eq!(found[0].domain.as_deref(), Some("ddr"));
}

#[test]
fn a_board_without_a_monitor_and_a_policy_that_cannot_be_made_have_no_findings() {
    let mut board = builtin("sdm845-seed").unwrap().unwrap();
    board.domains[0].monitor = None;
    assert_eq!(closed_loop(&spec("fn decide(obs) { hold() }"), &Arc::new(board), true), []);
    assert_eq!(closed_loop(&spec("fn decide(obs) {"), &self::board("sdm845"), true), []);
}

#[test]
fn the_same_policy_gives_the_same_findings() {
    let once = found("demand_kBps(obs.peak_kBps * 90 / 100)");
    assert_eq!(once, found("demand_kBps(obs.peak_kBps * 90 / 100)"));
}

#[test]
fn a_policy_that_flaps_everywhere_is_not_asked_without_end() {
    let text = "fn init(i) { #{ up: false } }\nfn decide(obs) { this.up = !this.up; \
                if this.up && obs.valid { opp(obs.max_level) } else { opp_min() } }";
    for id in ["sdm845-seed", "sdm845", "sc7280"] {
        let board = board(id);
        let tracks = Track::all(&board);
        let (policy, _) = spec(text).build(&board).unwrap();
        let mut drive = Drive::new(&board, policy, &tracks);
        ramp(&mut drive, &tracks).unwrap();
        let found = judge::constant(&mut drive, &tracks).unwrap();
        assert!(!found.is_empty());
        judge::never_down(&mut drive, &tracks).unwrap();
        // 45 µs a call in a debug build: less than half a second a board.
        assert!(drive.calls < 15_000, "{id}: {}", drive.calls);
        assert!(drive.level(&tracks[0]) <= Level(board.domains[0].table.top().0));
    }
}
