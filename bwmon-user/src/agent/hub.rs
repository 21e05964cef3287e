//! What the governing loop, the loader and the clients share: one queue of orders, one of nudges,
//! one picture of the state. The loop never waits for any of them.

use super::reload::{Nudge, UsePolicy};
use super::thread_faults;
use crate::board::Board;
use crate::command::Command;
use crate::status::{Identity, Live, ReloadNow, Status};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender as Nudges;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use tokio::sync::{broadcast, mpsc, oneshot};

/// Orders that wait for the loop; who has one more waits.
pub(super) const ORDERS: usize = 64;

/// Lines of the journal that a slow reader may lag behind; then it is told how many it lost.
const TAIL: usize = 1_024;

/// What came of something that was asked for: what is written down of it, or why it was not done.
pub(super) type Answered = Result<String, String>;

/// A command, and who waits for what comes of it.
pub(super) struct Order {
    pub(super) command: Command,
    pub(super) reply: Option<oneshot::Sender<Answered>>,
}

/// Cheap to clone: everybody has one.
#[derive(Clone)]
pub(super) struct Hub(Arc<Inner>);

struct Inner {
    identity: Identity,
    live: Mutex<Live>,
    orders: mpsc::Sender<Order>,
    nudges: Nudges<Nudge>,
    tail: broadcast::Sender<Arc<str>>,
    header: OnceLock<Arc<str>>,
    holds: AtomicU64,
    /// The loop's thread, and its page faults when it had settled.
    settled: OnceLock<(u32, u64)>,
}

impl Hub {
    /// The hub, and the loop's end of its orders.
    pub(super) fn new(
        identity: Identity,
        live: Live,
        nudges: Nudges<Nudge>,
    ) -> (Self, mpsc::Receiver<Order>) {
        let (orders, queue) = mpsc::channel(ORDERS);
        let inner = Inner {
            identity,
            live: Mutex::new(live),
            orders,
            nudges,
            tail: broadcast::Sender::new(TAIL),
            header: OnceLock::new(),
            holds: AtomicU64::new(1),
            settled: OnceLock::new(),
        };
        (Self(Arc::new(inner)), queue)
    }

    /// Everything as of the last tick.
    pub(super) fn status(&self) -> Status {
        // The words are made outside of the lock: the loop must find it free.
        let live = self.live().clone();
        let mut status = live.status(&self.0.identity);
        let settled = self.0.settled.get();
        status.counts.page_faults = settled.and_then(|(thread, before)| {
            thread_faults::of(*thread).map(|now| now.saturating_sub(*before))
        });
        status
    }

    /// The board.
    pub(super) fn board(&self) -> &Arc<Board> {
        &self.0.identity.board
    }

    /// Gives `command` to the loop, and waits for what comes of it.
    pub(super) async fn order(&self, command: Command) -> Answered {
        let (reply, answer) = oneshot::channel();
        let order = Order { command, reply: Some(reply) };
        self.0.orders.send(order).await.map_err(|_| ending())?;
        answer.await.unwrap_or_else(|_| Err(ending()))
    }

    /// The same for a thread outside of the runtime.
    pub(super) fn order_and_wait(&self, command: Command) -> Answered {
        let (reply, answer) = oneshot::channel();
        let order = Order { command, reply: Some(reply) };
        self.0.orders.blocking_send(order).map_err(|_| ending())?;
        answer.blocking_recv().unwrap_or_else(|_| Err(ending()))
    }

    /// Has the loader look, and waits for what comes of it.
    pub(super) async fn reload(&self) -> Answered {
        let (reply, answer) = oneshot::channel();
        self.nudge(Nudge::Reload(reply));
        answer.await.unwrap_or_else(|_| Err(ending()))
    }

    /// Has the loader check a policy and hand it over, and waits for what comes of it.
    pub(super) async fn use_policy(&self, policy: UsePolicy) -> Answered {
        let (reply, answer) = oneshot::channel();
        self.nudge(Nudge::Use(Box::new(policy), reply));
        answer.await.unwrap_or_else(|_| Err(ending()))
    }

    /// A loader that is gone has nobody to load for.
    pub(super) fn nudge(&self, nudge: Nudge) {
        drop(self.0.nudges.send(nudge));
    }

    /// A number for a hold.
    pub(super) fn hold_id(&self) -> u64 {
        self.0.holds.fetch_add(1, Ordering::Relaxed)
    }

    /// The journal's lines from now on, without their ends.
    pub(super) fn tail(&self) -> broadcast::Receiver<Arc<str>> {
        self.0.tail.subscribe()
    }

    /// The journal's first line.
    pub(super) fn header_line(&self) -> Option<Arc<str>> {
        self.0.header.get().cloned()
    }

    pub(super) fn set_header(&self, line: &str) {
        let _ = self.0.header.set(line.into());
    }

    /// Tells those who follow the journal; without any, `line` is not even made.
    pub(super) fn tell(&self, line: impl FnOnce() -> Option<String>) {
        if self.0.tail.receiver_count() > 0
            && let Some(line) = line()
        {
            let _ = self.0.tail.send(line.into());
        }
    }

    /// Notes what came of a reload.
    pub(super) fn reloaded(&self, answer: &Answered) {
        let mut live = self.live();
        let (ok, what) = match answer {
            Ok(what) => (true, what),
            Err(why) => (false, why),
        };
        live.counts.reloads += u64::from(ok);
        live.counts.reloads_refused += u64::from(!ok);
        live.last_reload = Some(ReloadNow { ok, what: what.clone() });
    }

    /// A canary has come to its end: what is said of the last reload is no longer that it runs.
    pub(super) fn tried(&self, answer: Answered) {
        let ok = answer.is_ok();
        let what = answer.unwrap_or_else(|why| why);
        self.live().last_reload = Some(ReloadNow { ok, what });
    }

    /// Whether the policy has its say: nobody has paused it, and it is demoted nowhere.
    pub(super) fn policy_decides(&self) -> bool {
        let live = self.live();
        !live.is_paused() && live.counts.demoted == 0
    }

    /// Whether the loop takes no orders any more.
    pub(super) fn is_ending(&self) -> bool {
        self.0.orders.is_closed()
    }

    /// The loop has settled on `thread`, with so many page faults until now.
    pub(super) fn settled(&self, thread: u32, faults: u64) {
        let _ = self.0.settled.set((thread, faults));
    }

    /// The picture. A panic while it was held leaves it as of an earlier tick, which does no harm.
    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.0.live.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The picture, if nobody looks at it at this moment.
    pub(super) fn try_live(&self) -> Option<MutexGuard<'_, Live>> {
        match self.0.live.try_lock() {
            Ok(live) => Some(live),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

fn ending() -> String {
    "the agent is ending".to_owned()
}
