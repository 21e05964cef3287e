//! One domain's vote over time: written when it changes, looked at once a second, tried again when
//! it was refused, written again when something less than it is in force.

use super::retry::Retry;
use super::voter::Voter;
use crate::units::Nanos;
use crate::vote::{Applied, Vote};

/// How often it is looked whether an unchanged vote still stands.
const LOOK_EVERY: Nanos = Nanos(Nanos::PER_S);

/// A voter, and what is known of its vote.
#[derive(Debug)]
pub(super) struct KeptVote {
    pub(super) voter: Box<dyn Voter>,
    looked: Nanos,
    /// When ours was last written, or last seen to stand.
    stood: Nanos,
    /// What the last look or vote came to; it holds until the next look.
    standing: Applied,
    retry: Retry,
    /// The machine has slept since it last took a vote: what it kept of ours is not known.
    slept: bool,
}

impl KeptVote {
    /// The path of `voter`, taken over at `now`.
    pub(super) fn new(voter: Box<dyn Voter>, now: Nanos) -> Self {
        let (standing, retry) = (Applied::InForce, Retry::default());
        Self { voter, looked: now, stood: now, standing, retry, slept: false }
    }

    /// Sees to it that `vote` is in force. `slept` says that the machine slept since the last call.
    pub(super) fn apply(&mut self, vote: &Vote, now: Nanos, slept: bool) -> Applied {
        self.slept |= slept;
        let write = vote.change || self.slept;
        if write
            && !slept
            && let Some(why) = self.retry.waits(vote.level, now)
        {
            return Applied::Refused { why: why.to_owned() };
        }
        // A clock that went back must not put the next look off.
        let due = now < self.looked || now.since(self.looked) >= LOOK_EVERY;
        if !write && !due {
            return self.standing.clone();
        }
        self.looked = now;
        let answer = self.look_and_vote(vote, write);
        match &answer {
            Applied::Refused { why } if write => self.retry.refused(vote.level, why, now),
            Applied::Refused { .. } => self.standing = answer.clone(),
            taken => {
                self.standing = match taken {
                    Applied::Placed => Applied::InForce,
                    other => other.clone(),
                };
                self.retry.taken();
                self.slept = false;
            }
        }
        answer
    }

    /// When ours was last written, or last seen to stand: what somebody did before that is past.
    pub(super) fn stood(&self) -> Nanos {
        self.stood
    }

    /// An [`apply`](Self::apply) at `now` ended at `end`, and ours stood or was written.
    pub(super) fn seen(&mut self, now: Nanos, end: Nanos) {
        if self.looked == now {
            self.stood = end;
        }
    }

    fn look_and_vote(&mut self, vote: &Vote, write: bool) -> Applied {
        match self.voter.look() {
            Applied::InForce if !write => Applied::InForce,
            // What a sleep took away nobody has changed.
            Applied::Foreign { .. } if self.slept && self.voter.is_lost() => {
                self.voter.vote(vote.level)
            }
            // Somebody may have taken the device since the last look.
            answer @ (Applied::Foreign { .. } | Applied::Gone { .. } | Applied::Refused { .. }) => {
                answer
            }
            // In force, or less than voted: somebody's limit may be over by now.
            _ => self.voter.vote(vote.level),
        }
    }
}
