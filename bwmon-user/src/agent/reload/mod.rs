//! What is to run, chosen anew: noticed or asked for, checked on a thread of its own, and handed to
//! the governing loop.

mod choice;
mod gate;
mod stamp;

pub use choice::{Choice, Choose};

use super::Say;
use super::hub::{Answered, Hub};
use super::notify;
use super::trial::Trial;
use crate::board::Board;
use crate::command::{Command, Replacement};
use crate::journal::Note;
use crate::policy::PolicySpec;
use crate::policy::canary::{CanaryEnd, Rule};
use crate::policy::script::digest;
use stamp::Stamp;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How often the files are looked at; a change is taken once they have been still for as long.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How what is to run is chosen anew.
#[derive(Clone, Debug)]
pub struct Reload {
    /// Asks the files again.
    pub choose: Choose,
    /// Take a change when it is noticed, not only when SIGHUP or a client asks for it.
    pub watch: bool,
}

/// A policy that a client brings.
#[derive(Clone, Debug)]
pub(super) struct UsePolicy {
    pub(super) policy: PolicySpec,
    /// In shadow for so many milliseconds first, judged by the rule.
    pub(super) canary: Option<(u64, Rule)>,
}

/// Wakes the loader.
pub(super) enum Nudge {
    /// SIGHUP: look now, and say what came of it.
    Hangup,
    /// The same for a client.
    Reload(oneshot::Sender<Answered>),
    /// A client brings a policy.
    Use(Box<UsePolicy>, oneshot::Sender<Answered>),
    /// The loop has noted something by itself.
    /// With how many policies the loop had taken by then: it may be about one that has gone since.
    Noted(Box<Note>, u64),
    /// There is nobody to load for any more.
    End,
}

/// The loader.
pub(super) struct Loader {
    choose: Choose,
    watch: bool,
    board: Arc<Board>,
    hub: Hub,
    say: Say,
    /// What runs, or is on trial as a canary.
    current: Choice,
    /// What runs while `current` is on trial.
    before: Option<Choice>,
    /// What was refused: it is not tried again unless somebody asks.
    refused: Option<Choice>,
    /// What `current` took the place of.
    replaced: Option<Choice>,
    /// Policies that the loop has taken from here.
    taken_by_loop: u64,
    /// How the bundle does that `current` came in.
    trial: Trial,
    taken: Vec<Option<Stamp>>,
    pending: Option<Vec<Option<Stamp>>>,
}

impl Loader {
    /// A loader for an agent that starts with `first`.
    pub(super) fn new(first: Choice, reload: Reload, hub: Hub, say: Say, trial: Trial) -> Self {
        let Reload { choose, watch } = reload;
        Self {
            choose,
            watch,
            board: hub.board().clone(),
            hub,
            say,
            taken: first.stamps(),
            current: first,
            before: None,
            refused: None,
            replaced: None,
            taken_by_loop: 0,
            trial,
            pending: None,
        }
    }

    /// Looks until it is told that this is the end.
    pub(super) fn follow(mut self, nudges: &Receiver<Nudge>) {
        self.trial.begins(&self.current, false);
        loop {
            self.trial.look(!self.governs().by_client && self.hub.policy_decides());
            match nudges.recv_timeout(LOOK_EVERY) {
                Ok(Nudge::Hangup) => drop(self.asked()),
                Ok(Nudge::Reload(reply)) => {
                    // Who asked may be gone.
                    let _ = reply.send(self.asked());
                }
                Ok(Nudge::Use(policy, reply)) => {
                    let _ = reply.send(self.bring(*policy));
                }
                Ok(Nudge::Noted(note, taken)) => self.noted(&note, taken),
                Err(RecvTimeoutError::Timeout) if self.watch => self.look(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Nudge::End) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Somebody asks for what the files say now.
    fn asked(&mut self) -> Answered {
        notify::reloading();
        self.refused = None;
        self.pending = None;
        let taken = self.current.stamps();
        let answer = match self.choose.again() {
            Ok(choice) if choice.is_same(&self.current) => {
                self.taken = taken;
                self.current = choice;
                let unchanged = format!("{} is unchanged", self.current.title());
                (self.say)(&unchanged);
                Ok(unchanged)
            }
            Ok(choice) => {
                self.taken = choice.stamps();
                self.offer(choice)
            }
            Err(why) => {
                self.taken = taken;
                self.refuse(nothing_taken(&why))
            }
        };
        notify::ready();
        answer
    }

    /// Whether a file has changed, and is still again.
    fn look(&mut self) {
        if self.current.by_client {
            return;
        }
        let stamps = self.current.stamps();
        if stamps == self.taken {
            self.pending = None;
            return;
        }
        // Written in pieces: wait until they are still.
        if self.pending.as_ref() != Some(&stamps) {
            self.pending = Some(stamps);
            return;
        }
        self.pending = None;
        self.taken = stamps;
        match self.choose.again() {
            Ok(choice) => {
                let known = choice.is_same(&self.current)
                    || self.refused.as_ref().is_some_and(|refused| choice.is_same(refused));
                // It may depend on other files now.
                if choice.watched != self.current.watched {
                    self.taken = choice.stamps();
                    self.current.watched.clone_from(&choice.watched);
                }
                if !known {
                    drop(self.offer(choice));
                }
            }
            Err(why) => {
                drop(self.refuse(nothing_taken(&why)));
            }
        }
    }

    /// What governs: `current`, but for a canary.
    fn governs(&self) -> &Choice {
        self.before.as_ref().unwrap_or(&self.current)
    }

    /// A client brings a policy; rails and product stay.
    fn bring(&mut self, brought: UsePolicy) -> Answered {
        let UsePolicy { policy, canary } = brought;
        let choice = Choice { policy, canary, by_client: true, ..self.governs().clone() };
        if choice.is_same(&self.current) {
            return Ok(format!("{} is unchanged", choice.title()));
        }
        self.offer(choice)
    }

    /// Checks `choice`, and hands it over.
    fn offer(&mut self, choice: Choice) -> Answered {
        for note in &choice.notes {
            if !self.current.notes.contains(note) {
                (self.say)(note);
            }
        }
        let passed = match self.check(&choice) {
            Ok(passed) => passed,
            Err((name, why)) => {
                let why = format!("{name} is refused; the policy stays as it is\n{why:#}");
                return self.refuse_choice(choice, why);
            }
        };
        passed.iter().for_each(|line| (self.say)(line));
        let governs = self.governs();
        let terms = (!choice.has_same_terms(governs)).then(|| choice.terms());
        // Limits that change hold at once: there is nothing of them to try in shadow. So does what
        // takes the place of a bundle that was given up, or a way back would be as slow as one ahead.
        let is_tried = choice.policy != governs.policy && !self.trial.is_way_back(governs, &choice);
        let canary = choice.canary.clone().filter(|_| is_tried);
        let on_trial = canary.is_some();
        let replacement = Replacement { policy: choice.policy.clone(), canary, terms };
        match self.hub.order_and_wait(Command::Replace(Box::new(replacement))) {
            Ok(what) => {
                self.taken_by_loop += 1;
                let before = std::mem::replace(&mut self.current, choice);
                self.replaced = Some(before.clone());
                // A canary after a canary: what runs is still what ran before the first.
                self.before = on_trial.then(|| self.before.take().unwrap_or(before));
                self.trial.begins(&self.current, on_trial);
                self.refused = None;
                let answer = Ok(what);
                self.hub.reloaded(&answer);
                answer
            }
            // No fault of the policy's.
            Err(why) if self.hub.is_ending() => Err(why),
            Err(why) => {
                let why = format!("the new policy cannot be made; the old one stays\n{why}");
                self.refuse_choice(choice, why)
            }
        }
    }

    /// What each script passed that does not run already; or the first that did not pass, and why.
    fn check(&self, choice: &Choice) -> Result<Vec<String>, (String, anyhow::Error)> {
        let known = self.current.scripts();
        let mut passed = Vec::new();
        for (source, set) in choice.scripts() {
            if known.iter().any(|(other, settings)| *other == source && *settings == set) {
                continue;
            }
            let what =
                gate::pass(source, &self.board, set).map_err(|why| (source.name.clone(), why))?;
            passed.push(format!("{} ({}) {what}", source.name, digest(&source.text)));
        }
        Ok(passed)
    }

    /// What a bundle brings is refused for good: the store goes back to what runs.
    fn refuse_choice(&mut self, choice: Choice, why: String) -> Answered {
        let answer = self.refuse(why.clone());
        if choice.bundle() != self.current.bundle() {
            let first = why.lines().last().unwrap_or_default();
            self.trial.dropped(&choice, first);
        }
        self.refused = Some(choice);
        answer
    }

    fn refuse(&self, why: String) -> Answered {
        (self.say)(&why);
        let answer = Err(why);
        self.hub.reloaded(&answer);
        answer
    }

    /// What the loop did by itself.
    fn noted(&mut self, note: &Note, taken: u64) {
        if taken != self.taken_by_loop {
            // Of a policy that has been replaced since. One that was promoted is what a canary that
            // has come after it is beside now.
            if let (Note::CanaryEnd(end), Some(replaced)) = (note, &self.replaced)
                && end.promoted
                && taken + 1 == self.taken_by_loop
                && self.before.is_some()
            {
                self.before = Some(replaced.clone());
            }
            return;
        }
        match note {
            Note::CanaryEnd(end) => self.canary_ended(end),
            // Who is demoted is what governs; a canary has its own faults.
            Note::Demoted { domain, fault } => {
                let why = format!("its policy was demoted on domain {domain}: {fault}");
                // What a client brought is not the bundle's.
                if !self.governs().by_client && self.trial.demoted(&why) {
                    self.go_back();
                }
            }
            _ => {}
        }
    }

    /// The end of a canary.
    fn canary_ended(&mut self, end: &CanaryEnd) {
        let Some(before) = self.before.take() else { return };
        if end.promoted {
            self.hub.tried(Ok(format!("{} has taken over after its canary", self.current.title())));
            self.trial.takes_over();
            return;
        }
        let dropped = std::mem::replace(&mut self.current, before);
        let failed = end.failed.as_deref().unwrap_or("no reason is known");
        self.hub.tried(Err(format!("the canary of {} was dropped: {failed}", dropped.title())));
        if dropped.bundle() != self.current.bundle() {
            self.trial.dropped(&dropped, &format!("its canary was dropped: {failed}"));
            self.trial.begins(&self.current, false);
        }
        self.refused = Some(dropped);
    }

    /// A bundle was given up while it governed: what the files say now takes over, at once.
    fn go_back(&mut self) {
        match self.choose.again() {
            Ok(choice) => {
                self.taken = choice.stamps();
                if !choice.is_same(&self.current) {
                    drop(self.offer(choice));
                }
            }
            Err(why) => drop(self.refuse(nothing_taken(&why))),
        }
    }
}

/// The files do not say what is to run.
fn nothing_taken(why: &anyhow::Error) -> String {
    format!("nothing is reloaded; all stays as it is\n{why:#}")
}
