//! Collecting: blocks are run, void ones again, and every result is handed on as it comes.

use super::rig::{Job, Outcome, Rig};
use crate::experiment::{Agenda, Block, Line, Status};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

/// One block to be run, and where it stands in the plan.
#[derive(Clone, Debug)]
pub struct Todo {
    /// The block.
    pub block: Block,
    /// Its number in the plan.
    pub at: usize,
    /// How often it had been tried before.
    pub attempt: u32,
}

/// What is needed for all blocks.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The agenda.
    pub agenda: &'a Agenda,
    /// Blocks in the whole plan.
    pub planned: usize,
    /// Subjects that cannot run here, and why.
    pub cannot: &'a BTreeMap<String, String>,
    /// Where runs put what they print.
    pub runs: &'a Path,
    /// Stop when this becomes true.
    pub stop: &'a AtomicBool,
}

/// Runs `todo` with as many hands as there are `rigs`; `done` gets every line as it comes. An error
/// of `done` stops the work.
///
/// # Errors
/// That of `done`.
pub fn collect(
    work: Work<'_>,
    todo: &[Todo],
    rigs: Vec<Box<dyn Rig + Send + '_>>,
    done: &mut dyn FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let broken = AtomicBool::new(false);
    let (next, broken) = (&next, &broken);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let hands: Vec<_> = rigs
            .into_iter()
            .map(|mut rig| {
                let send = send.clone();
                scope.spawn(move || {
                    while !work.stop.load(Ordering::Relaxed) && !broken.load(Ordering::Relaxed) {
                        let Some(one) = todo.get(next.fetch_add(1, Ordering::Relaxed)) else {
                            break;
                        };
                        block(work, one, rig.as_mut(), &send);
                    }
                    rig.end()
                })
            })
            .collect();
        drop(send);
        let mut result = Ok(());
        for line in receive {
            if result.is_ok() {
                result = done(line);
                broken.store(result.is_err(), Ordering::Relaxed);
            }
        }
        let mut told = Vec::new();
        for hand in hands {
            match hand.join() {
                Ok(said) => told.extend(said),
                Err(_) => told.push("a worker ended in a panic; --resume goes on".to_owned()),
            }
        }
        result.map(|()| told)
    })
}

/// The name of a run's folder: its block, its workload's place in the agenda, attempt and position.
pub fn run_name(block: u32, workload: usize, attempt: u32, position: u32) -> String {
    format!("{block}-{workload}-{attempt}-{position}")
}

/// One block, and again while it is void.
fn block(work: Work<'_>, todo: &Todo, rig: &mut dyn Rig, send: &Sender<Line>) {
    let mut attempt = todo.attempt;
    loop {
        if attempt_is_good(work, todo, attempt, rig, send)
            || attempt - todo.attempt >= work.agenda.max_retries
            || work.stop.load(Ordering::Relaxed)
        {
            return;
        }
        attempt += 1;
    }
}

/// Every subject once, in the block's order; false once one is void.
fn attempt_is_good(
    work: Work<'_>,
    todo: &Todo,
    attempt: u32,
    rig: &mut dyn Rig,
    send: &Sender<Line>,
) -> bool {
    let agenda = work.agenda;
    let Some(workload) = agenda.workloads.get(todo.block.workload) else { return true };
    for (position, subject) in todo.block.order.iter().enumerate() {
        let Some(subject) = agenda.subjects.get(*subject) else { continue };
        let runs = agenda.subjects.len();
        let at = (todo.at * runs + position) as f64;
        let job = Job {
            subject,
            workload,
            block: todo.block.block,
            progress: at / ((work.planned * runs).max(2) - 1) as f64,
            folder: &work.runs.join(run_name(
                todo.block.block,
                todo.block.workload,
                attempt,
                position as u32,
            )),
        };
        let outcome = match work.cannot.get(&subject.name) {
            Some(why) => Outcome::without(Status::Skipped, why.clone()),
            None => rig.run(&job),
        };
        let void = outcome.status == Status::Void;
        let line = Line {
            block: todo.block.block,
            workload: workload.name.clone(),
            position: position as u32,
            subject: subject.name.clone(),
            attempt,
            status: outcome.status,
            why: outcome.why,
            measures: outcome.measures,
            conditions: outcome.conditions,
        };
        // Nobody listens any more only where the work was stopped.
        let _ = send.send(line);
        if void {
            return false;
        }
    }
    true
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
