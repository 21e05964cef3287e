//! The door for clients: a Unix socket, answered beside the governing loop and never by it.

mod client;
mod lines;
mod rights;
mod socket;

pub(super) use socket::Listening;

use super::hub::Hub;
use crate::config::Readers;
use crate::control::{Answer, Code};
use crate::live::Root;
use client::Client;
use rights::Rights;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;

/// Clients at one time.
const CLIENTS: usize = 1_100;

/// The group that may change things, where nothing else is said.
pub const GROUP: &str = "bwmon";

/// Where clients are answered, and which.
#[derive(Clone, Debug)]
pub struct ControlPlan {
    /// The socket.
    pub socket: PathBuf,
    /// The group whose members may change things, as root may; `None` for root alone (and whoever
    /// runs the agent).
    pub group: Option<String>,
    /// Who may read.
    pub readers: Readers,
    /// Where /etc is.
    pub root: Root,
}

/// Answers clients until the runtime ends.
pub(super) async fn serve(listening: Rc<Listening>, hub: Hub) {
    let free = Arc::new(Semaphore::new(CLIENTS));
    let pictures = Rc::new(client::Pictures::new(hub.clone()));
    loop {
        let Ok((stream, _)) = listening.accept().await else {
            // Out of file descriptors, most likely: those who are here may leave.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let Ok(place) = free.clone().try_acquire_owned() else {
            turn_away(stream);
            continue;
        };
        let rights = Rights::of(&stream, &listening);
        let client = Client::new(hub.clone(), pictures.clone(), rights);
        tokio::task::spawn_local(async move {
            client.serve(stream).await;
            drop(place);
        });
    }
}

/// Without waiting: a line fits into the socket's buffer, or is not said.
fn turn_away(stream: UnixStream) {
    let answer = Answer::no(Code::Busy, format!("there are {CLIENTS} clients already"));
    let _ = stream.try_write(answer.line().as_bytes());
}
