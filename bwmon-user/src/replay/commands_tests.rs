use super::*;
use crate::board::{Board, Level, builtin};
use crate::command::{Bound, Hold, PauseAt, Terms};
use crate::decide::{Rails, Unvoted};
use crate::journal::SCHEMA;
use crate::policy::library;
use crate::policy::script::Source;
use crate::sample::{ProbeFacts, Reading, Window};
use crate::units::Nanos;
use proptest::prelude::*;

fn shipped(name: &str) -> PolicySpec {
    let text = library::shipped(name).unwrap().text.to_owned();
    PolicySpec::Script { source: Source { name: name.into(), text }, set: Vec::new() }
}

fn board() -> Board {
    builtin("sdm845-seed").unwrap().unwrap()
}

fn rails(min: usize) -> Vec<Rails> {
    let open = Rails::open(&board().domains[0].table, Unvoted::Top);
    vec![Rails { min_level: Level(min), ..open }]
}

/// A journal of `steps`: ticks with such counts, and commands between them.
fn journal(steps: &[(u16, Option<Command>)]) -> String {
    let (policy, record) = shipped("adaptive").build(&board()).unwrap();
    let header = Header {
        schema: SCHEMA,
        program: "a test".into(),
        kernel: None,
        mode: "govern".into(),
        capabilities: Vec::new(),
        period_us: 4_000,
        policy: record,
        product: None,
        rails: rails(0),
        levels: vec![None],
        continues: None,
        board: board(),
    };
    let mut text = serde_json::to_string(&header).unwrap() + "\n";
    let mut governor = Governor::new(Arc::new(board()), policy, rails(0), &[]);
    let (mut applied, mut stats) = (Vec::new(), RunStats::default());
    for (tick, (count, command)) in (0_u64..).zip(steps) {
        if let Some(command) = command {
            let note = obey(&mut governor, command.clone()).unwrap();
            text += &(note.line().unwrap() + "\n");
        }
        let at = |tick: u64| Nanos(tick * 4_000_000);
        let sample = Sample {
            tick,
            window: Window { start_ns: at(tick), end_ns: at(tick + 1) },
            monitors: vec![Reading::Polled {
                zone_max: crate::bwmon::ZoneMaxima([0, *count, 0, 0]),
                elapsed_ns: at(1),
            }],
            probes: ProbeFacts::default(),
        };
        walk(&mut governor, &mut Assumed, &sample, &mut applied, &mut stats);
        let entry = EntryView::new(governor.board(), &sample, governor.last(), &applied);
        text += &(entry.line().unwrap() + "\n");
        for note in governor.take_notes() {
            text += &(note.line().unwrap() + "\n");
        }
    }
    text
}

fn verified(text: &str) -> Verified {
    let (reader, header) = Reader::open("j", text.as_bytes()).unwrap();
    verify(reader, &header).unwrap()
}

fn hold(id: u64, floor: Option<usize>, ceiling: Option<usize>) -> Command {
    let bound = |level: Option<usize>| level.map(|level| Bound::Level(Level(level)));
    let (floor, ceiling) = (bound(floor), bound(ceiling));
    Command::Hold(Hold { id, domain: None, floor, ceiling, by: "a test".into() })
}

fn replace(policy: PolicySpec, canary_ms: Option<u64>, min: Option<usize>) -> Command {
    let canary = canary_ms.map(|ms| (ms, "faults<=0".parse().unwrap()));
    let terms = min.map(|min| Terms { rails: rails(min), product: None });
    Command::Replace(Box::new(Replacement { policy, canary, terms }))
}

/// The level that each entry of `text` decided.
fn levels(text: &str) -> Vec<usize> {
    let level = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["domains"][0]["decision"]["level"].as_u64().map(|level| level as usize)
    };
    text.lines().skip(1).filter_map(level).collect()
}

#[test]
fn a_pause_stands_at_the_top_or_where_it_is_and_a_hold_in_it_counts() {
    let quiet = |command| (0_u16, command);
    let mut steps: Vec<(u16, Option<Command>)> = (0..60).map(|_| quiet(None)).collect();
    steps[20].1 = Some(Command::Pause(PauseAt::Top));
    steps[30].1 = Some(hold(1, None, Some(5)));
    steps[40].1 = Some(Command::Resume);
    steps[50].1 = Some(Command::Release(1));
    let text = journal(&steps);
    let levels = levels(&text);
    // Eight rows: the top is 7; nothing is asked for, so the policy is at 0 before.
    assert_eq!((levels[19], levels[20], levels[29]), (0, 7, 7));
    // The ceiling of the hold is 5.
    assert_eq!((levels[30], levels[39]), (5, 5));
    assert!(levels[49] < 5, "{levels:?}");
    assert_eq!(verified(&text).different, 0);
}

#[test]
fn a_journal_whose_hold_was_taken_out_does_not_verify() {
    let mut steps: Vec<(u16, Option<Command>)> = (0..30).map(|_| (0, None)).collect();
    steps[20].1 = Some(hold(1, Some(4), None));
    let text = journal(&steps);
    assert_eq!(levels(&text)[20..], [4; 10]);
    assert_eq!(verified(&text).different, 0);
    let without: String = text
        .lines()
        .filter(|l| !l.starts_with("{\"note\":{\"hold\""))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(verified(&without).different > 0);
}

fn any_command() -> impl Strategy<Value = Command> {
    let level = || prop::option::of(0usize..8);
    prop_oneof![
        Just(Command::Pause(PauseAt::Top)),
        Just(Command::Pause(PauseAt::Keep)),
        Just(Command::Resume),
        (1u64..4, level(), level()).prop_map(|(id, floor, ceiling)| hold(id, floor, ceiling)),
        (1u64..4).prop_map(Command::Release),
        (prop::option::of(1u64..80), prop::option::of(0usize..4), any::<bool>()).prop_map(
            |(canary_ms, min, native)| {
                let policy = if native { PolicySpec::Native } else { shipped("bwmon") };
                replace(policy, canary_ms, min)
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_asked_for_while_it_runs_is_walked_again_to_the_byte(
        steps in prop::collection::vec(
            (0u16..400, prop::option::weighted(0.2, any_command())), 1..80,
        ),
    ) {
        let text = journal(&steps);
        let found = verified(&text);
        prop_assert_eq!((found.entries, found.different), (steps.len() as u64, 0), "{:?}", found.first);
    }
}
