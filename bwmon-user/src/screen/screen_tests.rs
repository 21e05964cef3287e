use super::*;
use crate::command::{Hold, PauseAt};
use crate::status::{Bucket, CanaryNow, Counts, DomainStatus, PolicyNow};
use crate::units::Kbps;

fn domain(name: &str) -> DomainStatus {
    let table: Vec<Kbps> = [800_000, 1_804_000, 3_072_000, 5_412_000, 7_216_000].map(Kbps).into();
    DomainStatus {
        name: name.into(),
        path: Some("devfreq noc".into()),
        monitor: Some("llcc".into()),
        peak_kbps: Some(Kbps(2_934_000)),
        mean_kbps: None,
        missing: None,
        others_kbps: Some(Kbps(800_000)),
        level: Some(2),
        level_kbps: Some(Kbps(3_072_000)),
        table_kbps: table,
        min_level: 0,
        max_level: 4,
        ask: "demand 3072000 kBps".into(),
        why: "peak".into(),
        by: "policy".into(),
        reason: "policy".into(),
        owner: "ours".into(),
        answer: Some("placed".into()),
        transitions: 7,
        refused: 0,
        faults: 0,
        history: (0..120_u64)
            .map(|n| Bucket {
                peak_kbps: (n % 17 != 5).then_some(Kbps((n % 40) * 180_000)),
                level_kbps: Some(Kbps(if n % 40 > 20 { 7_216_000 } else { 3_072_000 })),
            })
            .collect(),
    }
}

/// An agent in good order.
pub(crate) fn status() -> Status {
    Status {
        program: "bwmon 0.1.0 (0123456789ab)".into(),
        pid: 812,
        board: "sdm845".into(),
        mode: "govern".into(),
        uptime_ms: 3_723_000,
        period_us: 8_500,
        pause: None,
        policy: PolicyNow { name: "adaptive".into(), digest: "0011223344556677".into() },
        product: None,
        canary: None,
        holds: Vec::new(),
        counts: Counts { ticks: 438_000, missed: 3, transitions: 912, ..Counts::default() },
        first_fault: None,
        journal: None,
        last_reload: None,
        domains: vec![domain("llcc"), domain("ddr")],
    }
}

const PLAIN: View = View { colour: false, ascii: true, gone: false };

#[test]
fn eighty_columns_hold_two_domains_with_everything() {
    let text = frame_text(&status(), 80, 24, PLAIN);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 24);
    assert_eq!(lines[0], "bwmon 0.1.0  sdm845  govern  up 1:02:03  every 8 500 us  pid 812");
    assert_eq!(lines[1], "policy adaptive 0011223344556677");
    assert_eq!(lines[2], "ticks 438 000  missed 3  moves 912  refused 0  faults 0  lost events -");
    assert_eq!(lines[4], "llcc    level 2/4 3 072 000           peak 2 934 000 others 800 000");
    assert_eq!(lines[5], "        demand 3072000 kBps \"peak\"  placed");
    // The graph is as wide as the screen, with bars, the level's line, and marks of what is unknown.
    let graph = &lines[6..12];
    assert!(graph.iter().any(|line| line.contains("##")), "{text}");
    assert!(graph.iter().any(|line| line.contains("--")), "{text}");
    assert!(graph.iter().any(|line| line.contains('?')), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("ddr")));
    assert_eq!(lines[23], "q quit");
    assert!(lines.iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn what_is_not_known_is_never_a_number() {
    let mut status = status();
    let first = &mut status.domains[0];
    (first.peak_kbps, first.missing) = (None, Some("absent".into()));
    (first.level, first.level_kbps, first.others_kbps) = (None, None, None);
    let text = frame_text(&status, 80, 24, PLAIN);
    let line = text.lines().nth(4).unwrap();
    assert_eq!(line, "llcc    level -/4 -                   peak - (absent) others -");
}

#[test]
fn trouble_is_said_in_words() {
    let mut status = status();
    status.pause = Some(PauseAt::Top);
    status.first_fault = Some("Division by zero (my.rhai:3)".into());
    status.counts.lost_events = Some(12);
    status.canary = Some(CanaryNow {
        name: "new.rhai".into(),
        digest: String::new(),
        ms: 60_000,
        rule: "faults<=0".into(),
    });
    status.holds.push(Hold {
        id: 1,
        domain: None,
        floor: None,
        ceiling: None,
        by: "pid 7, uid 0: a test".into(),
    });
    let first = &mut status.domains[0];
    (first.by, first.reason) = ("demoted".into(), "max_level".into());
    (first.owner, first.answer) = ("manual".into(), Some("somebody else changed it".into()));
    let text = frame_text(&status, 120, 40, PLAIN);
    for words in [
        "PAUSED at the top",
        "1 hold(s): pid 7, uid 0: a test",
        "canary new.rhai for 60000 ms, by faults<=0",
        "first fault: Division by zero (my.rhai:3)",
        "lost events 12",
        "by the native rule (demoted)",
        "-> max_level",
        "manual: somebody else changed it",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_screen_that_is_too_small_says_how_large_it_has_to_be() {
    assert_eq!(
        frame_text(&status(), 40, 10, PLAIN).lines().next(),
        Some("at least 60x9, this is 40x10")
    );
    // And nothing is drawn outside of any other.
    for (columns, rows) in [(60, 9), (61, 10), (80, 12), (200, 60)] {
        assert_eq!(frame_text(&status(), columns, rows, PLAIN).lines().count(), usize::from(rows));
    }
}

#[test]
fn names_from_files_cannot_move_the_cursor() {
    let mut status = status();
    status.policy.name = "evil\u{1b}[2J".into();
    assert!(!frame_text(&status, 80, 24, PLAIN).contains('\u{1b}'));
}
