use super::*;
use crate::board::builtin;
use crate::decide::{Rails, Unvoted};
use crate::governor::Governor;
use crate::journal::PolicyRecord;
use crate::policy::NoGovernor;
use crate::sample::{Missing, ProbeFacts, Reading, Sample, Window};
use std::sync::{Arc, Mutex};

#[test]
fn a_day_of_refusals_that_come_and_go_is_a_line_a_minute() {
    let mut said = Said::default();
    let mut lines = 0;
    // Refused and taken again on every other tick of 8 ms for a day.
    for tick in 0..10_800_000_u64 / 2 {
        let now = Nanos(tick * 16 * Nanos::PER_MS);
        lines += u32::from(said.line("refused: EBUSY".into(), now).is_some());
        said.open = false;
    }
    assert_eq!(lines, 24 * 60);
}

#[test]
fn what_goes_on_is_said_once_and_something_else_at_once() {
    let mut said = Said::default();
    let at = |s: u64| Nanos(s * Nanos::PER_S);
    assert_eq!(said.line("a".into(), at(0)).as_deref(), Some("a"));
    assert_eq!(said.line("a".into(), at(500)), None);
    assert_eq!(said.line("b".into(), at(500)).as_deref(), Some("b"));
    said.open = false;
    assert_eq!(said.line("b".into(), at(501)), None);
    said.open = false;
    let later = said.line("b".into(), at(561)).unwrap();
    assert_eq!(later, "b (and 1 times since it was last said)");
}

/// What is said of ticks, a second apart, at which the first domain is answered so.
fn said_of(answers: &[Applied]) -> Vec<String> {
    let board = Arc::new(builtin("sdm845").unwrap().unwrap());
    let rails: Vec<Rails> =
        board.domains.iter().map(|d| Rails::open(&d.table, Unvoted::Top)).collect();
    let header = Header {
        schema: crate::journal::SCHEMA,
        program: String::new(),
        kernel: None,
        mode: "govern".into(),
        capabilities: Vec::new(),
        period_us: 4_000,
        policy: PolicyRecord::default(),
        product: None,
        rails: rails.clone(),
        levels: Vec::new(),
        continues: None,
        board: (*board).clone(),
    };
    let mut governor = Governor::new(board.clone(), Box::new(NoGovernor), rails, &[]);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let say: Say = Arc::new(move |line| kept.lock().unwrap().push(line.to_owned()));
    let mut narrator = Narrator::new(None, &say);
    narrator.begin(&header).unwrap();
    for (tick, answer) in (0..).zip(answers) {
        let end_ns = Nanos((tick + 1) * Nanos::PER_S);
        let sample = Sample {
            tick,
            window: Window { start_ns: Nanos(tick * Nanos::PER_S), end_ns },
            monitors: vec![Reading::Missing(Missing::NoUpdate); board.monitors.len()],
            probes: ProbeFacts::default(),
        };
        let ticks = governor.tick(&sample).to_vec();
        let applied = [Some(answer.clone())];
        narrator.append(&EntryView::new(&board, &sample, &ticks, &applied)).unwrap();
    }
    lines.lock().unwrap().clone()
}

#[test]
fn a_manual_domain_is_told_once_with_who_made_it_so() {
    let foreign = |who: &str| Applied::Foreign { what: format!("devfreq noc: set_freq is 1{who}") };
    let said = said_of(&[foreign(" (by sh[123])"), foreign(" (by sh[123])"), Applied::InForce]);
    let name = builtin("sdm845").unwrap().unwrap().domains[0].name.clone();
    let line = format!("domain {name} is manual from now on: devfreq noc: set_freq is 1");
    assert_eq!(said, [format!("{line} (by sh[123])")]);
    assert_eq!(said_of(&[foreign("")]), [line], "no probe saw it");
}

#[test]
fn a_day_of_a_disk_that_is_full_now_and_then_is_two_lines_a_minute() {
    let lines = Arc::new(Mutex::new(0_u64));
    let counted = lines.clone();
    let say: Say = Arc::new(move |_| *counted.lock().unwrap() += 1);
    let mut narrator = Narrator::new(None, &say);
    let mut missing = Lost::default();
    // Every other write of a second fails, for a day.
    for second in 0..86_400_u64 {
        narrator.now = Nanos(second * Nanos::PER_S);
        if second % 2 == 0 {
            let error = std::io::ErrorKind::StorageFull.into();
            let failed = Err(JournalError::Write { file: "j".into(), error });
            assert!(narrator.written(missing, failed).is_err());
            missing = Lost { entries: 1, ..Lost::default() };
        } else {
            narrator.written(missing, Ok(())).unwrap();
            missing = Lost::default();
        }
    }
    // "Cannot write" and "is written again" once a minute.
    assert_eq!(*lines.lock().unwrap(), 2 * 24 * 60);
}
