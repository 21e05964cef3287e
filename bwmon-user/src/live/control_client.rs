//! The other end of the agent's control socket.

use crate::control::{Answer, Ask, Code};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the agent listens, where nothing else is said.
pub const DEFAULT_SOCKET: &str = "/run/bwmon/control.sock";

/// An agent that says nothing for so long is stuck. A policy is checked and tried meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why there is no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens.
    #[error(
        "no agent listens at {}: {error}; is `bwmon run` running, and is this its socket?",
        path.display()
    )]
    NoAgent {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// No rights to the socket.
    #[error(
        "you may not speak to the agent at {}: {error}; root and the members of its group may",
        path.display()
    )]
    NoRights {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the agent at {} went away: {error}", path.display())]
    Broken {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Not an answer.
    #[error("what answers at {} is no bwmon agent, or another version: {error}", path.display())]
    Odd {
        /// The socket.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// The agent says no.
    #[error("{why}")]
    No {
        /// Why, for a program.
        code: Option<Code>,
        /// Why, for a person.
        why: String,
    },
}

/// A connection to an agent.
#[derive(Debug)]
pub struct ControlClient {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl ControlClient {
    /// Connects to the agent at `path`.
    ///
    /// # Errors
    /// [`ClientError::NoAgent`] or [`ClientError::NoRights`].
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        let stream = UnixStream::connect(path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                ClientError::NoRights { path: path.to_owned(), error }
            }
            _ => ClientError::NoAgent { path: path.to_owned(), error },
        })?;
        let client = Self { path: path.to_owned(), stream: BufReader::new(stream) };
        client.wait_at_most(Some(PATIENCE))?;
        Ok(client)
    }

    /// How long an answer may take; `None` for as long as it takes.
    ///
    /// # Errors
    /// [`ClientError::Broken`].
    pub fn wait_at_most(&self, time: Option<Duration>) -> Result<(), ClientError> {
        self.stream.get_ref().set_read_timeout(time).map_err(|error| self.broken(error))
    }

    /// Asks, and answers what the agent says to it, as JSON.
    ///
    /// # Errors
    /// [`ClientError::No`] where the agent does not do it, and whatever may break.
    pub fn ask(&mut self, ask: &Ask) -> Result<String, ClientError> {
        let mut line = ask.line().map_err(|error| self.odd(error.to_string()))?;
        line.push('\n');
        // An agent that turns us away may have closed already; what it said can still be read.
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        match (self.read(), sent) {
            (Ok(Some(result)), _) => Ok(result),
            (Ok(None) | Err(ClientError::Broken { .. }), Err(error)) => Err(self.broken(error)),
            (Ok(None), Ok(())) => Err(self.broken(io::ErrorKind::UnexpectedEof.into())),
            (Err(error), _) => Err(error),
        }
    }

    /// The next answer of one that goes on, as JSON; `None` at its end.
    ///
    /// # Errors
    /// As for [`ControlClient::ask`].
    pub fn read(&mut self) -> Result<Option<String>, ClientError> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).map_err(|error| self.broken(error))? == 0 {
            return Ok(None);
        }
        let answer: Answer =
            serde_json::from_str(&line).map_err(|error| self.odd(error.to_string()))?;
        match (answer.ok, answer.result) {
            (true, Some(result)) => Ok(Some(result.get().to_owned())),
            (true, None) => Err(self.odd("it says yes to nothing".to_owned())),
            (false, _) => Err(ClientError::No {
                code: answer.code,
                why: answer.error.unwrap_or_else(|| "the agent does not say why".to_owned()),
            }),
        }
    }

    fn broken(&self, error: io::Error) -> ClientError {
        ClientError::Broken { path: self.path.clone(), error }
    }

    fn odd(&self, error: String) -> ClientError {
        ClientError::Odd { path: self.path.clone(), error }
    }
}
