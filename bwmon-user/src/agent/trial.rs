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

    /// `choice` governs from now on, or is a canary. A bundle that is on trial already goes on.
    pub(super) fn begins(&mut self, choice: &Choice, is_canary: bool) {
        let Some(trials) = &self.trials else { return };
        // What waits for a new start is on trial from there on.
        let id = choice.bundle().filter(|_| !choice.waits_for_start);
        if self.on.as_ref().map(|on| &on.id) == id.as_ref() {
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

    /// Whether the bundle of `choice` was given up meanwhile: what takes its place is no novelty that
    /// has to be tried first.
    pub(super) fn is_given_up(&self, choice: &Choice) -> bool {
        let (Some(trials), Some(id)) = (&self.trials, choice.bundle()) else { return false };
        // In doubt it is tried first.
        trials.store.is_given_up(&id).unwrap_or(false)
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

    /// The canary of `choice` is dropped, or it is refused: its bundle is given up.
    pub(super) fn dropped(&mut self, choice: &Choice, why: &str) {
        if let Some(id) = choice.bundle() {
            self.give_up(&id, why);
        }
    }

    fn give_up(&mut self, id: &Id, why: &str) -> bool {
        let Some(trials) = &self.trials else { return false };
        self.on = None;
        let line = match trials.store.failed(id, why) {
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
        true
    }
}
