//! A changed policy: noticed, checked on a thread of its own, and handed to the governing loop.

mod gate;
mod stamp;

use super::Say;
use crate::board::Board;
use crate::command::{Command, Replacement};
use crate::diag::Diagnostic;
use crate::journal::Note;
use crate::live::text_of;
use crate::policy::PolicySpec;
use crate::policy::canary::Rule;
use crate::policy::script::{Source, digest, preset};
use crate::ports::Control;
use stamp::Stamp;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Duration;

/// How often the file is looked at; a change is taken once it has been still for as long.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How a policy's file is followed.
#[derive(Clone, Debug)]
pub struct Reload {
    /// The file; `None` for a policy without one, which can only be restarted.
    pub file: Option<PathBuf>,
    /// Settings of its head that were asked for.
    pub preset: Option<String>,
    /// Tunables that were asked for.
    pub set: Vec<(String, String)>,
    /// Take a change when it is noticed, not only when SIGHUP asks for it.
    pub watch: bool,
    /// Milliseconds for which a changed policy is a canary, and what it is judged by.
    pub canary: Option<(u64, Rule)>,
}

/// Wakes the loader.
pub(super) enum Nudge {
    /// SIGHUP: look now, and say what came of it.
    Hangup,
}

/// The loader.
pub(super) struct Loader {
    reload: Reload,
    board: Arc<Board>,
    commands: SyncSender<Command>,
    say: Say,
    /// The digest of the text that decides or has been handed over.
    current: String,
    /// The digest of a text that was refused: it is not tried again, nor said again.
    refused: Option<String>,
    taken: Option<Stamp>,
    pending: Option<Stamp>,
    missing_said: bool,
}

impl Loader {
    pub(super) fn new(
        reload: Reload,
        board: Arc<Board>,
        current: String,
        commands: SyncSender<Command>,
        say: Say,
    ) -> Self {
        let taken = reload.file.as_deref().and_then(Stamp::of);
        let (refused, pending, missing_said) = (None, None, false);
        Self { reload, board, commands, say, current, refused, taken, pending, missing_said }
    }

    /// Looks until the other end of `nudges` is gone.
    pub(super) fn follow(mut self, nudges: &Receiver<Nudge>) {
        loop {
            match nudges.recv_timeout(LOOK_EVERY) {
                Ok(Nudge::Hangup) => self.look(true),
                Err(RecvTimeoutError::Timeout) if self.reload.watch => self.look(false),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn look(&mut self, asked: bool) {
        let Some(file) = self.reload.file.clone() else {
            if asked {
                (self.say)(
                    "nothing to reload: the policy has no file, or several; a new start reads them",
                );
            }
            return;
        };
        let stamp = Stamp::of(&file);
        if !asked {
            if stamp == self.taken {
                self.pending = None;
                return;
            }
            // Written in pieces: wait until it is still.
            if self.pending != stamp {
                self.pending = stamp;
                return;
            }
        }
        self.pending = None;
        let name = file.to_string_lossy().into_owned();
        let text = match text_of(&name) {
            Ok(text) => text,
            Err(error) => {
                if asked || !self.missing_said {
                    (self.say)(&format!("{error:#}; the policy stays as it is"));
                }
                self.missing_said = true;
                self.taken = stamp;
                return;
            }
        };
        self.missing_said = false;
        if self.offer(Source { name, text }, asked) {
            self.taken = stamp;
        }
    }

    /// Whether this text is dealt with; else it is offered again at the next look.
    fn offer(&mut self, source: Source, asked: bool) -> bool {
        let fingerprint = digest(&source.text);
        if fingerprint == self.current {
            if asked {
                (self.say)(&format!("{} is unchanged", source.name));
            }
            return true;
        }
        if self.refused.as_ref() == Some(&fingerprint) && !asked {
            return true;
        }
        let checked = self.tunables(&source).and_then(|set| {
            let passed = gate::pass(&source, &self.board, &set)?;
            Ok((set, passed))
        });
        let (set, passed) = match checked {
            Ok(passed) => passed,
            Err(why) => {
                (self.say)(&format!(
                    "{} is refused; the policy stays as it is\n{why:#}",
                    source.name
                ));
                self.refused = Some(fingerprint);
                return true;
            }
        };
        let name = source.name.clone();
        let policy = PolicySpec::Script { source, set };
        let replacement = Replacement { policy, canary: self.reload.canary.clone(), terms: None };
        match self.commands.try_send(Command::Replace(Box::new(replacement))) {
            Ok(()) => {
                (self.say)(&format!("{name} ({fingerprint}) {passed}"));
                self.current = fingerprint;
                self.refused = None;
                true
            }
            // The loop has not taken the last one yet.
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => true,
        }
    }

    fn tunables(&self, source: &Source) -> anyhow::Result<Vec<(String, String)>> {
        let mut all = match &self.reload.preset {
            Some(name) => preset(source, name)?,
            None => Vec::new(),
        };
        all.extend_from_slice(&self.reload.set);
        Ok(all)
    }
}

/// The loop's end of the channel.
pub(super) struct Commands {
    pub(super) commands: Receiver<Command>,
    pub(super) say: Say,
}

impl Control for Commands {
    fn next(&mut self) -> Option<Command> {
        self.commands.try_recv().ok()
    }

    fn answered(&mut self, answer: Result<&Note, &Diagnostic>) {
        if let Err(why) = answer {
            (self.say)(&format!("the new policy cannot be made; the old one stays\n{why}"));
        }
    }
}
