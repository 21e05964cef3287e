use super::super::open_journal;
use super::*;
use crate::board::{Level, builtin};
use crate::command::{Bound, Command, Hold, PauseAt};
use crate::decide::{Rails, Unvoted};
use crate::governor::Governor;
use crate::journal::{Line, Reader, SCHEMA};
use crate::policy::PolicySpec;
use crate::policy::library;
use crate::policy::script::Source;
use crate::ports::{Actuator, Outcome};
use crate::replay::verify;
use crate::run::{RunStats, obey, walk};
use crate::sample::{ProbeFacts, Reading, Sample, Window};
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use std::sync::{Arc, Mutex};

struct Placed;

impl Actuator for Placed {
    fn apply(&mut self, vote: &Vote) -> Applied {
        if vote.change { Applied::Placed } else { Applied::InForce }
    }
    fn release(&mut self) -> Vec<Outcome> {
        Vec::new()
    }
}

fn shipped(name: &str) -> PolicySpec {
    let text = library::shipped(name).unwrap().text.to_owned();
    PolicySpec::Script { source: Source { name: name.into(), text }, set: Vec::new() }
}

/// An agent without a machine: ticks and commands into a journal.
struct Story {
    governor: Governor,
    header: Header,
    tick: u64,
}

impl Story {
    fn new() -> Self {
        let board = Arc::new(builtin("sdm845-seed").unwrap().unwrap());
        let rails = vec![Rails::open(&board.domains[0].table, Unvoted::Top)];
        let (policy, record) = shipped("adaptive").build(&board).unwrap();
        let header = Header {
            schema: SCHEMA,
            program: "a test".into(),
            kernel: None,
            mode: "govern".into(),
            capabilities: Vec::new(),
            period_us: 4_000,
            policy: record,
            product: None,
            rails: rails.clone(),
            levels: vec![None],
            continues: None,
            board: (*board).clone(),
        };
        Self { governor: Governor::new(board, policy, rails, &[]), header, tick: 0 }
    }

    fn tick(&mut self, journal: &mut AgentJournal) -> Result<(), JournalError> {
        let (tick, period) = (self.tick, 4_000_000);
        let window = Window { start_ns: Nanos(tick * period), end_ns: Nanos((tick + 1) * period) };
        // Traffic that goes up and down, so that levels change.
        let count = if tick % 40 < 20 { 300 } else { 3 };
        let reading = Reading::Polled {
            zone_max: crate::bwmon::ZoneMaxima([0, count, 0, 0]),
            elapsed_ns: Nanos(period),
        };
        let probes = ProbeFacts::default();
        let sample = Sample { tick, window, monitors: vec![reading], probes };
        self.tick += 1;
        let (mut applied, mut stats) = (Vec::new(), RunStats::default());
        walk(&mut self.governor, &mut Placed, &sample, &mut applied, &mut stats);
        let board = self.governor.board();
        journal.append(&EntryView::new(board, &sample, self.governor.last(), &applied))
    }

    fn obey(&mut self, journal: &mut AgentJournal, command: Command) {
        let note = obey(&mut self.governor, command).unwrap();
        journal.note(&note).unwrap();
    }
}

fn plan(folder: &tempfile::TempDir, max_bytes: Option<u64>, keep: Option<u64>) -> JournalPlan {
    let file = folder.path().join("j").to_str().unwrap().to_owned();
    JournalPlan { file, max_bytes, keep }
}

/// The ticks of the journal `name` and how many files it is made of.
fn ticks(name: &str) -> (Vec<u64>, u64, Header) {
    let (input, parts) = open_journal(name).unwrap();
    let (mut reader, header) = Reader::open(name, input).unwrap();
    let mut ticks = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        ticks.push(entry.sample.tick);
    }
    (ticks, parts, header)
}

#[test]
fn nothing_is_lost_where_files_change_and_the_whole_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&folder, Some(40_000), Some(100));
    let mut story = Story::new();
    let mut journal = AgentJournal::create(&plan).unwrap();
    journal.begin(&story.header).unwrap();
    for round in 0..600 {
        story.tick(&mut journal).unwrap();
        match round {
            100 => story.obey(&mut journal, Command::Pause(PauseAt::Top)),
            200 => story.obey(&mut journal, Command::Resume),
            300 => {
                let hold = Hold {
                    id: 1,
                    domain: None,
                    floor: Some(Bound::Level(Level(3))),
                    ceiling: None,
                    by: "a test".into(),
                };
                story.obey(&mut journal, Command::Hold(hold));
            }
            500 => story.obey(&mut journal, Command::Release(1)),
            _ => {}
        }
    }
    let (seen, parts, header) = ticks(&plan.file);
    assert_eq!(seen, (0..600).collect::<Vec<_>>());
    assert!(parts > 3, "{parts}");
    assert_eq!(header, story.header);
    for number in 1..parts {
        let length = fs::metadata(older(&plan.file, number)).unwrap().len();
        assert!(length <= 40_000, "{length}");
    }
    let (input, _) = open_journal(&plan.file).unwrap();
    let (reader, header) = Reader::open(&plan.file, input).unwrap();
    let found = verify(reader, &header).unwrap();
    assert_eq!((found.entries, found.different), (600, 0));
}

#[test]
fn a_part_alone_says_what_was_in_force_and_that_it_cannot_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&folder, Some(40_000), Some(2));
    let mut story = Story::new();
    let mut journal = AgentJournal::create(&plan).unwrap();
    journal.begin(&story.header).unwrap();
    story.tick(&mut journal).unwrap();
    story.obey(&mut journal, Command::Pause(PauseAt::Top));
    let board = story.governor.board().clone();
    let native = PolicySpec::Native.build(&board).unwrap().1;
    let replace = crate::command::Replacement::at_once(PolicySpec::Native);
    story.obey(&mut journal, Command::Replace(Box::new(replace)));
    for _ in 0..600 {
        story.tick(&mut journal).unwrap();
    }
    let (seen, parts, header) = ticks(&plan.file);
    // The oldest have gone: three files, and ticks without a gap up to the last.
    assert_eq!(parts, 3);
    assert!(seen.len() < 600 && seen.windows(2).all(|two| two[1] == two[0] + 1));
    assert_eq!(seen.last(), Some(&600));
    let continues = header.continues.clone().unwrap();
    assert_eq!(continues.pause, Some(PauseAt::Top));
    assert_eq!(header.policy, native);
    // Paused: eight rows, the highest is 7.
    assert_eq!(header.levels, [Some(Level(7))]);
    let (input, _) = open_journal(&plan.file).unwrap();
    let (reader, header) = Reader::open(&plan.file, input).unwrap();
    let error = verify(reader, &header).unwrap_err().to_string();
    assert!(error.contains(&format!("part {} of a journal", continues.part)), "{error}");
}

#[test]
fn a_journal_that_is_there_is_kept_where_older_ones_are_and_is_no_part_of_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&folder, None, Some(2));
    for _ in 0..4 {
        let mut story = Story::new();
        let mut journal = AgentJournal::create(&plan).unwrap();
        journal.begin(&story.header).unwrap();
        story.tick(&mut journal).unwrap();
    }
    assert!(older(&plan.file, 2).exists() && !older(&plan.file, 3).exists());
    let (seen, parts, _) = ticks(&plan.file);
    assert_eq!((seen, parts), (vec![0], 1));
    // Without that it is overwritten.
    let overwrite = JournalPlan { keep: None, ..plan.clone() };
    AgentJournal::create(&overwrite).unwrap();
    assert_eq!(fs::metadata(&plan.file).unwrap().len(), 0);
}

/// A disk with so much room.
#[derive(Clone, Debug)]
struct Full(Arc<Mutex<(Vec<u8>, usize)>>);

impl Sink for Full {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        if disk.0.len() + line.len() > disk.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.0.extend_from_slice(line);
        Ok(())
    }
}

#[test]
fn a_full_disk_leaves_whole_lines_and_a_mark_of_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Full(Arc::new(Mutex::new((Vec::new(), 1 << 20))));
    let mut story = Story::new();
    let mut journal = AgentJournal::on(plan(&folder, None, None), Box::new(disk.clone()));
    journal.begin(&story.header).unwrap();
    for _ in 0..10 {
        story.tick(&mut journal).unwrap();
    }
    disk.0.lock().unwrap().1 = 0;
    for _ in 0..5 {
        assert!(story.tick(&mut journal).unwrap_err().to_string().contains("cannot write"));
    }
    assert_eq!(journal.lost().entries, 5);
    disk.0.lock().unwrap().1 = 1 << 20;
    story.tick(&mut journal).unwrap();
    assert_eq!(journal.lost(), Lost::default());
    let bytes = disk.0.lock().unwrap().0.clone();
    let (mut reader, header) = Reader::open("j", bytes.as_slice()).unwrap();
    let mut lost = None;
    let mut seen = Vec::new();
    while let Some((line, _)) = reader.read().unwrap() {
        match line {
            Line::Entry(entry) => seen.push(entry.sample.tick),
            Line::Note(note) => lost = Some(*note),
        }
    }
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15]);
    let five = Lost { entries: 5, notes: 0, from_tick: Some(10), to_tick: Some(14) };
    assert_eq!(lost, Some(Note::Lost(five)));
    let (reader, _) = Reader::open("j", bytes.as_slice()).unwrap();
    let error = verify(reader, &header).unwrap_err().to_string();
    assert!(error.contains("of the 10 entries before, 0 differ"), "{error}");
}
