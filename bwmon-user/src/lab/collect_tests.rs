use super::*;
use crate::experiment::testing::agenda;
use crate::experiment::{Subject, plan};
use serde_json::Value;

/// A rig that is disturbed the first `voids` times.
struct Disturbed {
    voids: u32,
    ended: bool,
}

impl Rig for Disturbed {
    fn cannot(&mut self, _: &Subject) -> Option<String> {
        None
    }
    fn environment(&mut self) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }
    fn run(&mut self, job: &Job<'_>) -> Outcome {
        assert!((0.0..=1.0).contains(&job.progress));
        if self.voids > 0 {
            self.voids -= 1;
            return Outcome::without(Status::Void, "throttled");
        }
        let (measures, conditions) = ([("rate".to_owned(), 1.0)].into(), BTreeMap::new());
        Outcome { status: Status::Done, why: None, measures, conditions }
    }
    fn end(&mut self) -> Vec<String> {
        assert!(!self.ended, "ended once");
        self.ended = true;
        vec!["put back".to_owned()]
    }
}

/// Lines and what the rig told, of one workload, two subjects and `blocks` blocks.
fn collected(blocks: u32, voids: u32, cannot: &[(&str, &str)], stop: bool) -> (Vec<Line>, usize) {
    let agenda = agenda(2, 1, blocks);
    let todo: Vec<Todo> = plan(&agenda)
        .into_iter()
        .enumerate()
        .map(|(at, block)| Todo { block, at, attempt: 0 })
        .collect();
    let cannot = cannot.iter().map(|(name, why)| ((*name).to_owned(), (*why).to_owned())).collect();
    let stop = AtomicBool::new(stop);
    let work = Work {
        agenda: &agenda,
        planned: todo.len(),
        cannot: &cannot,
        runs: Path::new("runs"),
        stop: &stop,
    };
    let mut lines = Vec::new();
    let rigs: Vec<Box<dyn Rig + Send>> = vec![Box::new(Disturbed { voids, ended: false })];
    let told = collect(work, &todo, rigs, &mut |line| {
        lines.push(line);
        Ok(())
    });
    (lines, told.unwrap().len())
}

fn seen(lines: &[Line]) -> Vec<(u32, u32, Status)> {
    lines.iter().map(|line| (line.attempt, line.position, line.status)).collect()
}

#[test]
fn a_void_block_ends_at_once_and_is_run_again_as_a_whole() {
    let (lines, told) = collected(1, 1, &[], false);
    let (done, void) = (Status::Done, Status::Void);
    assert_eq!(seen(&lines), [(0, 0, void), (1, 0, done), (1, 1, done)]);
    assert_eq!(told, 1, "what the rig told at its end is handed on");
}

#[test]
fn a_block_that_stays_void_is_given_up_and_the_next_one_runs() {
    // max_retries is 2: three attempts of the first block, then the second.
    let (lines, _) = collected(2, 3, &[], false);
    let first: Vec<_> = lines.iter().filter(|line| line.block == 0).collect();
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|line| line.status == Status::Void));
    let second = lines.iter().filter(|line| line.block == 1 && line.status == Status::Done);
    assert_eq!(second.count(), 2);
}

#[test]
fn a_subject_that_cannot_run_is_skipped_with_its_reason_and_the_others_run() {
    let (lines, _) = collected(1, 0, &[("s1", "no such governor")], false);
    let skipped = lines.iter().find(|line| line.subject == "s1").unwrap();
    assert_eq!(skipped.status, Status::Skipped);
    assert_eq!(skipped.why.as_deref(), Some("no such governor"));
    assert!(skipped.measures.is_empty());
    assert_eq!(lines.iter().filter(|line| line.status == Status::Done).count(), 1);
}

#[test]
fn after_a_stop_nothing_is_begun_and_the_rig_still_puts_back() {
    let (lines, told) = collected(3, 0, &[], true);
    assert_eq!((lines.len(), told), (0, 1));
}

#[test]
fn results_that_cannot_be_kept_end_the_work() {
    let agenda = agenda(2, 1, 50);
    let todo: Vec<Todo> = plan(&agenda)
        .into_iter()
        .enumerate()
        .map(|(at, block)| Todo { block, at, attempt: 0 })
        .collect();
    let (cannot, stop) = (BTreeMap::new(), AtomicBool::new(false));
    let work = Work {
        agenda: &agenda,
        planned: todo.len(),
        cannot: &cannot,
        runs: Path::new("runs"),
        stop: &stop,
    };
    let rigs: Vec<Box<dyn Rig + Send>> = vec![Box::new(Disturbed { voids: 0, ended: false })];
    let error = collect(work, &todo, rigs, &mut |_| anyhow::bail!("disk full")).unwrap_err();
    assert_eq!(error.to_string(), "disk full");
}
