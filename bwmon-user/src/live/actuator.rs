//! All domains' vote paths behind one door.

use super::clock::MonotonicClock;
use super::feed::Feed;
use super::kept_vote::KeptVote;
use super::restore::{RestoreError, RestoreFile};
use super::slept::SleepWatch;
use super::voter::Voter;
use crate::ports::{Actuator, Clock, Outcome};
use crate::units::Nanos;
use crate::vote::{Applied, Vote};
use serde::Serialize;

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
    paths: Vec<Path>,
    restore: Option<RestoreFile>,
    now: fn() -> Nanos,
    feed: Feed,
}

/// One domain's path.
#[derive(Debug)]
enum Path {
    /// Its vote, and a watch of its own: each domain hears of each sleep.
    Voted(KeptVote, SleepWatch),
    DryRun,
}

impl LiveActuator {
    /// One path per domain; `restore` undoes them; `feed` knows who else wrote.
    pub(super) fn new(paths: Vec<VotePath>, restore: Option<RestoreFile>, feed: Feed) -> Self {
        let mut actuator = Self::timed(paths, restore, || MonotonicClock.now(), SleepWatch::new);
        actuator.feed = feed;
        actuator
    }

    /// The same at another time: `now` tells it, and `watch` makes what tells of sleep.
    fn timed(
        paths: Vec<VotePath>,
        restore: Option<RestoreFile>,
        now: fn() -> Nanos,
        watch: fn() -> SleepWatch,
    ) -> Self {
        let path = |path| match path {
            VotePath::Voted(voter) => Path::Voted(KeptVote::new(voter, now()), watch()),
            VotePath::DryRun => Path::DryRun,
        };
        let paths = paths.into_iter().map(path).collect();
        Self { paths, restore, now, feed: Feed::default() }
    }

    /// Whether the votes can stay when this process goes.
    pub fn can_keep(&self) -> bool {
        self.restore.as_ref().is_none_or(RestoreFile::can_keep)
    }

    /// Leaves everything as it is, on purpose: nothing is put back when this goes. Says what stays.
    ///
    /// # Errors
    /// When it cannot be noted in the restore file; then [`Actuator::release`] is still to be called.
    pub fn keep(&mut self) -> Result<Vec<Outcome>, RestoreError> {
        self.last_look();
        match self.restore.take() {
            None => Ok(Vec::new()),
            Some(mut restore) => match restore.keep() {
                Ok(outcomes) => Ok(outcomes),
                Err(error) => {
                    self.restore = Some(restore);
                    Err(error)
                }
            },
        }
    }

    /// What somebody else has changed since the last look is theirs, and is not put back.
    fn last_look(&mut self) {
        let Some(restore) = &mut self.restore else { return };
        for path in &mut self.paths {
            if let Path::Voted(kept, _) = path
                && let Applied::Foreign { mut what } = kept.voter.look()
            {
                let objects = kept.voter.objects();
                what += &self.feed.who(&objects, kept.stood());
                restore.forget(&objects, &what);
            }
        }
    }
}

/// A last resort for a panic between the takeover and the end of a run.
impl Drop for LiveActuator {
    fn drop(&mut self) {
        if self.restore.as_ref().is_some_and(|restore| !restore.items().is_empty()) {
            self.release();
        }
    }
}

impl Actuator for LiveActuator {
    fn apply(&mut self, vote: &Vote) -> Applied {
        let now = (self.now)();
        let (kept, sleep) = match self.paths.get_mut(vote.domain) {
            None => return Applied::Refused { why: "no such domain".into() },
            Some(Path::DryRun) if vote.change => return Applied::DryRun,
            Some(Path::DryRun) => return Applied::InForce,
            Some(Path::Voted(kept, sleep)) => (kept, sleep),
        };
        let slept = sleep.slept().0 > 0;
        let answer = match kept.apply(vote, now, slept) {
            Applied::Foreign { mut what } => {
                what += &self.feed.who(&kept.voter.objects(), kept.stood());
                Applied::Foreign { what }
            }
            answer @ (Applied::Refused { .. } | Applied::Gone { .. }) => answer,
            answer => {
                kept.seen(now, (self.now)());
                answer
            }
        };
        if let (Applied::Foreign { what }, Some(restore)) = (&answer, &mut self.restore) {
            restore.forget(&kept.voter.objects(), what);
        }
        answer
    }

    fn release(&mut self) -> Vec<Outcome> {
        self.last_look();
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

#[cfg(test)]
#[path = "vote_rig.rs"]
mod rig;
#[cfg(test)]
#[path = "suspend_tests.rs"]
mod suspend;
#[cfg(test)]
#[path = "actuator_tests.rs"]
mod tests;
