//! A bundle on trial: noted in the store when it begins to govern, proven after some time without a
//! demotion, and given up when its canary is dropped or its policy is demoted.

use super::Say;
use super::reload::Choice;
use crate::live::bundles::{Id, Rolled, Standing, Started, Store};
use std::time::{Duration, Instant};

/// What an agent that governs needs to tell how a bundle does.
#[derive(Clone, Debug)]
pub struct Trials {
    /// Where bundles are installed.
    pub store: Store,
    /// This boot of the machine.
    pub boot_id: String,
    /// A bundle that governed for so long without a demotion has proven itself.
    pub proven_after: Duration,
}

/// The trial of the bundle that governs, or is about to.
pub(super) struct Trial {
    trials: Option<Trials>,
    say: Say,
    on: Option<On>,
}

struct On {
    id: Id,
    /// For how long it has governed; `None` while it is a canary.
    governed: Option<Duration>,
    /// When that was looked at last.
    looked: Instant,
}

impl Trial {
    /// Of an agent that follows `trials`; one without leaves the store alone.
    pub(super) fn new(trials: Option<Trials>, say: Say) -> Self {
        Self { trials, say, on: None }
    }

    /// `choice` governs from now on, or is a canary. A bundle that is on trial already goes on; one
    /// that was a canary governs.
    pub(super) fn begins(&mut self, choice: &Choice, is_canary: bool) {
        let Some(trials) = &self.trials else { return };
        // What waits for a new start is on trial from there on.
        let id = choice.bundle().filter(|_| !choice.waits_for_start);
        if let Some(on) = self.on.as_mut().filter(|on| Some(&on.id) == id.as_ref()) {
            if !is_canary && on.governed.is_none() {
                (on.governed, on.looked) = (Some(Duration::ZERO), Instant::now());
            }
            return;
        }
        self.on = None;
        let Some(id) = id else { return };
        let standing = match trials.store.started(&trials.boot_id) {
            Ok(Started::With(current, standing)) if current == id => standing,
            // Another one was installed meanwhile; whoever follows the files gets there.
            Ok(_) => return,
            Err(error) => {
                (self.say)(&format!("warning: it is not noted that {} runs: {error}", id.title()));
                return;
            }
        };
        if standing != Standing::Proven {
            let governed = (!is_canary).then_some(Duration::ZERO);
            self.on = Some(On { id, governed, looked: Instant::now() });
        }
    }

    /// The canary takes over.
    pub(super) fn takes_over(&mut self) {
        if let Some(on) = &mut self.on {
            (on.governed, on.looked) = (Some(Duration::ZERO), Instant::now());
        }
    }

    /// Whether its time is over: then it has proven itself. Time in which its policy did not decide
    /// does not count.
    pub(super) fn look(&mut self, decides: bool) {
        let (Some(trials), Some(on)) = (&self.trials, &mut self.on) else { return };
        let since = on.looked.elapsed();
        on.looked += since;
        let (id, Some(governed)) = (&on.id, &mut on.governed) else { return };
        if decides {
            *governed += since;
        }
        if *governed < trials.proven_after {
            return;
        }
        match trials.store.proven(id) {
            Ok(()) => (self.say)(&format!("bundle {} has proven itself", id.title())),
            Err(error) => (self.say)(&format!(
                "warning: it is not noted that bundle {} has proven itself: {error}",
                id.title()
            )),
        }
        self.on = None;
    }

    /// Whether `next` is a way back from `governs`, and no novelty that has to be tried first: to a
    /// bundle that has proven itself here, or from one that was given up to one that has governed, or
    /// to none.
    pub(super) fn is_way_back(&self, governs: &Choice, next: &Choice) -> bool {
        let (from, to) = (governs.bundle(), next.bundle());
        if from == to {
            return false;
        }
        // In doubt it is tried first.
        let given_up = || self.standing(from).is_some_and(|standing| !standing.may_run());
        match (to.is_some(), self.standing(to)) {
            (false, _) => given_up(),
            (true, Some(Standing::Proven)) => true,
            (true, Some(Standing::Trial { boots })) => !boots.is_empty() && given_up(),
            (true, _) => false,
        }
    }

    fn standing(&self, id: Option<Id>) -> Option<Standing> {
        self.trials.as_ref()?.store.standing(&id?).ok().flatten()
    }

    /// The policy that governs is demoted: whether its bundle was on trial, and is given up.
    pub(super) fn demoted(&mut self, why: &str) -> bool {
        match &self.on {
            Some(On { id, governed: Some(_), .. }) => {
                let id = id.clone();
                self.give_up(&id, why)
            }
            _ => false,
        }
    }

    /// The canary of `choice` is dropped, or it is refused: its bundle is given up, unless it has
    /// proven itself here.
    pub(super) fn dropped(&mut self, choice: &Choice, why: &str) {
        let Some(id) = choice.bundle() else { return };
        if self.standing(Some(id.clone())) != Some(Standing::Proven) {
            self.give_up(&id, why);
        }
    }

    fn give_up(&mut self, id: &Id, why: &str) -> bool {
        let Some(trials) = &self.trials else { return false };
        self.on = None;
        let failed = trials.store.failed(id, why);
        let is_done = failed.is_ok();
        let line = match failed {
            Ok(None) => format!("bundle {} has failed: {why}", id.title()),
            Ok(Some(Rolled { from, to, why })) => {
                let to =
                    to.map_or_else(|| "no bundle".into(), |to| format!("bundle {}", to.title()));
                format!("bundle {} has failed ({why}); back to {to}", from.title())
            }
            Err(error) => format!(
                "warning: it is not noted that bundle {} has failed ({why}): {error}; \
                 `bwmon bundle rollback` goes back by hand",
                id.title()
            ),
        };
        (self.say)(&line);
        is_done
    }
}
