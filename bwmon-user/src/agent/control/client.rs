//! One client, from its first request to its last hold.

use super::super::hub::{Answered, Hub};
use super::super::reload::UsePolicy;
use super::lines::{Came, Lines};
use super::rights::Rights;
use crate::command::Command;
use crate::control::{Answer, Ask, Code, HoldAsk, MAX_READ_REQUEST, MAX_REQUEST, PolicyUse, parse};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout};

/// A client that says nothing for so long, and holds nothing, is sent away.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that takes nothing for so long has gone.
const TAKE: Duration = Duration::from_secs(5);

/// A picture is shown again for so long: many clients cost one.
const FRESH: Duration = Duration::from_millis(20);

/// The state as a line of answer, made at most once in [`FRESH`].
pub(super) struct Pictures {
    hub: Hub,
    last: RefCell<Option<(Instant, Arc<str>)>>,
}

impl Pictures {
    pub(super) fn new(hub: Hub) -> Self {
        Self { hub, last: RefCell::new(None) }
    }

    fn line(&self) -> Arc<str> {
        let now = Instant::now();
        if let Some((made, line)) = &*self.last.borrow()
            && now.duration_since(*made) < FRESH
        {
            return line.clone();
        }
        let line: Arc<str> = Answer::yes(&self.hub.status()).line().into();
        *self.last.borrow_mut() = Some((now, line.clone()));
        line
    }

    /// What was shown is no longer so.
    fn forget(&self) {
        *self.last.borrow_mut() = None;
    }
}

/// One client.
pub(super) struct Client {
    hub: Hub,
    pictures: Rc<Pictures>,
    rights: Rights,
    holds: Vec<u64>,
}

impl Client {
    pub(super) fn new(hub: Hub, pictures: Rc<Pictures>, rights: Rights) -> Self {
        Self { hub, pictures, rights, holds: Vec::new() }
    }

    /// Answers until the client goes; then its holds end.
    pub(super) async fn serve(mut self, stream: UnixStream) {
        let (from, mut to) = stream.into_split();
        let most =
            if matches!(self.rights, Rights::Change(_)) { MAX_REQUEST } else { MAX_READ_REQUEST };
        let mut lines = Lines::new(from, most);
        // A client that cannot be answered has gone.
        let _ = self.answer_all(&mut lines, &mut to).await;
        for id in std::mem::take(&mut self.holds) {
            // An agent that ends has let go of it already.
            let _ = self.hub.order(Command::Release(id)).await;
        }
    }

    async fn answer_all(
        &mut self,
        lines: &mut Lines<OwnedReadHalf>,
        to: &mut OwnedWriteHalf,
    ) -> io::Result<()> {
        if let Rights::None(why) = &self.rights {
            return give(to, &Answer::no(Code::Forbidden, why.as_str()).line()).await;
        }
        loop {
            let came = if self.holds.is_empty() {
                match timeout(PATIENCE, lines.next()).await {
                    Ok(came) => came,
                    Err(_) => {
                        let why = format!("nothing came for {} s", PATIENCE.as_secs());
                        return give(to, &Answer::no(Code::Slow, why).line()).await;
                    }
                }
            } else {
                lines.next().await
            };
            let line = match came {
                Came::Line(line) => line,
                Came::End => return Ok(()),
                Came::TooLong => {
                    let answer = Answer::no(Code::TooLarge, "the request is too long");
                    return give(to, &answer.line()).await;
                }
            };
            let ask = match parse(&line) {
                Ok(ask) => ask,
                Err(answer) => {
                    give(to, &answer.line()).await?;
                    continue;
                }
            };
            match (ask, &self.rights) {
                (Ask::Status {}, _) => give(to, &self.pictures.line()).await?,
                (Ask::Watch { every_ms }, _) => return self.watch(every_ms, lines, to).await,
                (Ask::Tail {}, _) => return self.tail(lines, to).await,
                (_, Rights::Read(_) | Rights::None(_)) => {
                    let why = "you may read, not change: only root and the agent's group may";
                    give(to, &Answer::no(Code::Forbidden, why).line()).await?;
                }
                (ask, Rights::Change(peer)) => {
                    let peer = peer.clone();
                    let answered = self.change(ask, &peer).await;
                    self.pictures.forget();
                    let answer = match answered {
                        Ok(what) => Answer::yes(&what),
                        Err(why) => Answer::no(Code::Refused, why),
                    };
                    give(to, &answer.line()).await?;
                }
            }
        }
    }

    async fn change(&mut self, ask: Ask, peer: &str) -> Answered {
        match ask {
            Ask::Pause { at } => self.hub.order(Command::Pause(at)).await,
            Ask::Resume {} => self.hub.order(Command::Resume).await,
            Ask::Reload {} => self.hub.reload().await,
            Ask::PolicyUse(policy) => self.use_policy(&policy).await,
            Ask::Hold(hold) => self.hold(&hold, peer).await,
            Ask::Status {} | Ask::Watch { .. } | Ask::Tail {} => {
                Err("this changes nothing".to_owned())
            }
        }
    }

    async fn use_policy(&self, policy: &PolicyUse) -> Answered {
        let canary = policy.canary()?;
        let policy = policy.spec()?;
        self.hub.use_policy(UsePolicy { policy, canary }).await
    }

    async fn hold(&mut self, hold: &HoldAsk, peer: &str) -> Answered {
        let id = self.hub.hold_id();
        let hold = hold.hold(id, peer, self.hub.board())?;
        // Before it is asked for: a client that goes meanwhile must not leave it behind.
        self.holds.push(id);
        let answer = self.hub.order(Command::Hold(hold)).await;
        if answer.is_err() {
            self.holds.retain(|held| *held != id);
        }
        answer
    }

    async fn watch(
        &self,
        every_ms: u64,
        lines: &mut Lines<OwnedReadHalf>,
        to: &mut OwnedWriteHalf,
    ) -> io::Result<()> {
        let mut every = tokio::time::interval(Duration::from_millis(every_ms));
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = every.tick() => give(to, &self.pictures.line()).await?,
                () = gone(lines) => return Ok(()),
            }
        }
    }

    async fn tail(
        &self,
        lines: &mut Lines<OwnedReadHalf>,
        to: &mut OwnedWriteHalf,
    ) -> io::Result<()> {
        let mut tail = self.hub.tail();
        if let Some(header) = self.hub.header_line() {
            give(to, &wrapped(&header)).await?;
        }
        loop {
            tokio::select! {
                line = tail.recv() => match line {
                    Ok(line) => give(to, &wrapped(&line)).await?,
                    Err(RecvError::Lagged(lost)) => give(to, &wrapped(&lag(lost))).await?,
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = gone(lines) => return Ok(()),
            }
        }
    }
}

/// Until the client goes. What it says meanwhile is not listened to.
async fn gone(lines: &mut Lines<OwnedReadHalf>) {
    while matches!(lines.next().await, Came::Line(_)) {}
}

/// A line of the journal as a line of answer; it is JSON already.
fn wrapped(line: &str) -> String {
    format!("{{\"ok\":true,\"result\":{line}}}\n")
}

/// In the place of the lines that a follower was too slow for.
fn lag(lost: u64) -> String {
    format!("{{\"not_followed\":{lost}}}")
}

async fn give(to: &mut OwnedWriteHalf, line: &str) -> io::Result<()> {
    match timeout(TAKE, to.write_all(line.as_bytes())).await {
        Ok(written) => written,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
