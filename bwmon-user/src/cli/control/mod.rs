//! Verbs for a running agent, over its control socket.

pub(super) mod hold;
pub(super) mod simple;
pub(super) mod status;
pub(super) mod tail;

use super::Answer;
use super::output::say;
use crate::control::{Ask, Code};
use crate::live::control_client::{ClientError, ControlClient, DEFAULT_SOCKET};
use std::path::PathBuf;

/// `--socket`.
#[derive(clap::Args, Debug, Clone)]
pub(super) struct SocketArgs {
    /// The agent's control socket
    #[arg(long, value_name = "PATH", default_value = DEFAULT_SOCKET)]
    pub(super) socket: PathBuf,
}

impl SocketArgs {
    pub(super) fn connect(&self) -> Result<ControlClient, ClientError> {
        ControlClient::connect(&self.socket)
    }

    /// Asks for a change; what the agent says to it is printed. A refusal is the answer "no".
    pub(super) fn change(&self, ask: &Ask) -> anyhow::Result<Answer> {
        let answer = self.connect()?.ask(ask);
        match refused(answer)? {
            Some(done) => {
                super::output::line(&words(&done))?;
                Ok(Answer::Yes)
            }
            None => Ok(Answer::No),
        }
    }
}

/// What was done; `None` where the agent would not, which is said.
pub(super) fn refused(answer: Result<String, ClientError>) -> anyhow::Result<Option<String>> {
    match answer {
        Ok(done) => Ok(Some(done)),
        Err(ClientError::No { code: Some(Code::Refused), why }) => {
            say(&format!("refused: {why}"));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// A result that is a JSON text, without the quotes.
pub(super) fn words(result: &str) -> String {
    serde_json::from_str(result).unwrap_or_else(|_| result.to_owned())
}
