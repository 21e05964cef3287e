//! The loop's side of the hub: orders in, answers, notes and the picture out.

use super::hub::{Answered, Hub, Order};
use super::narrator::news;
use super::notify::Beat;
use super::reload::Nudge;
use super::thread_faults;
use crate::command::Command;
use crate::diag::Diagnostic;
use crate::journal::Note;
use crate::ports::{Control, Ticked};
use tokio::sync::{mpsc, oneshot};

/// Ticks until buffers have their size and pages are there; faults are counted from then on.
const SETTLED: u64 = 256;

/// Orders from the hub, one before each tick.
pub(super) struct Commands {
    hub: Hub,
    orders: mpsc::Receiver<Order>,
    waiting: Option<oneshot::Sender<Answered>>,
    /// What is being answered is a [`Command::Replace`].
    replaces: bool,
    /// Policies taken until now: which one a note is about.
    taken: u64,
    beat: Beat,
}

impl Commands {
    pub(super) fn new(hub: Hub, orders: mpsc::Receiver<Order>) -> Self {
        Self { hub, orders, waiting: None, replaces: false, taken: 0, beat: Beat::new() }
    }
}

impl Control for Commands {
    fn next(&mut self) -> Option<Command> {
        let order = self.orders.try_recv().ok()?;
        self.waiting = order.reply;
        self.replaces = matches!(order.command, Command::Replace(_));
        Some(order.command)
    }

    fn answered(&mut self, answer: Result<&Note, &Diagnostic>) {
        let replaces = std::mem::take(&mut self.replaces);
        let answered = match answer {
            Ok(note) => {
                self.taken += u64::from(replaces);
                // Rare, and the picture must not miss it: here the loop waits for the lock, which
                // is held for a copy at most.
                self.hub.live().note(note);
                Ok(news(note))
            }
            Err(why) => Err(why.to_string()),
        };
        if let Some(reply) = self.waiting.take() {
            // Who asked may be gone.
            let _ = reply.send(answered);
        }
    }

    fn noted(&mut self, note: &Note) {
        self.hub.live().note(note);
        self.hub.nudge(Nudge::Noted(Box::new(note.clone()), self.taken));
    }

    fn ticked(&mut self, ticked: &Ticked<'_>) {
        if let Some(mut live) = self.hub.try_live() {
            live.take(ticked);
        }
        if ticked.stats.ticks == SETTLED {
            let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            if let Some(faults) = thread_faults::of(thread) {
                self.hub.settled(thread, faults);
            }
        }
        self.beat.tick(ticked.sample.window.end_ns);
    }
}
