//! All domains' vote paths behind one door.

use super::clock::MonotonicClock;
use super::restore::RestoreFile;
use super::voter::Voter;
use super::writers::Writers;
use crate::ports::{Actuator, Clock, Outcome};
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use serde::Serialize;

/// How often it is looked whether an unchanged vote still stands.
const LOOK_EVERY: Nanos = Nanos(Nanos::PER_S);

/// How one domain is voted.
#[derive(Debug)]
pub(super) enum VotePath {
    /// Written, read back, put back at the end.
    Voted(Box<dyn Voter>),
    /// Decided and journalled, never written.
    DryRun,
}

/// What is said about a domain's path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathDescription {
    /// The domain.
    pub domain: String,
    /// The path.
    pub path: String,
}

/// Votes on a live machine.
#[derive(Debug)]
pub struct LiveActuator {
    /// Each path, with the time of the last look.
    paths: Vec<(VotePath, Nanos)>,
    restore: Option<RestoreFile>,
    clock: MonotonicClock,
    writers: Writers,
}

impl LiveActuator {
    /// One path per domain; `restore` undoes them; `writers` names who else wrote.
    pub(super) fn new(
        paths: Vec<VotePath>,
        restore: Option<RestoreFile>,
        writers: Writers,
    ) -> Self {
        let clock = MonotonicClock;
        let now = clock.now();
        let paths = paths.into_iter().map(|path| (path, now)).collect();
        Self { paths, restore, clock, writers }
    }
}

/// A last resort for a panic between the takeover and the end of a run.
impl Drop for LiveActuator {
    fn drop(&mut self) {
        if let Some(restore) = &mut self.restore
            && !restore.items().is_empty()
        {
            let _ = restore.put_back();
        }
    }
}

impl Actuator for LiveActuator {
    fn apply(&mut self, vote: &Vote) -> Applied {
        let now = self.clock.now();
        let Some((path, looked)) = self.paths.get_mut(vote.domain) else {
            return Applied::Refused { why: "no such domain".into() };
        };
        let voter = match path {
            VotePath::DryRun if vote.change => return Applied::DryRun,
            VotePath::DryRun => return Applied::InForce,
            VotePath::Voted(voter) => voter,
        };
        if !vote.change && now.since(*looked) < LOOK_EVERY {
            return Applied::InForce;
        }
        *looked = now;
        // Somebody may have taken the device since the last look.
        let answer = match voter.look() {
            Applied::InForce if vote.change => voter.vote(vote.level),
            Applied::Foreign { mut what } => {
                what += &self.writers.of(&voter.object()).unwrap_or_default();
                Applied::Foreign { what }
            }
            answer => answer,
        };
        if let (Applied::Foreign { what }, Some(restore)) = (&answer, &mut self.restore) {
            restore.forget(&voter.object(), what);
        }
        answer
    }

    fn release(&mut self) -> Vec<Outcome> {
        let Some(restore) = &mut self.restore else { return Vec::new() };
        restore.put_back().unwrap_or_else(|error| {
            vec![Outcome {
                object: "restore file".to_owned(),
                done: false,
                what: error.to_string(),
            }]
        })
    }
}
