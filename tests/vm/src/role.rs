//! What `/init` can be besides PID 1, by its first word.
//!
//! `player` is the hardware: a process of its own, because a mapping of `/dev/mem` is revoked when
//! the kernel driver comes back, and whoever then touches it dies of SIGBUS, which PID 1 must not.
//! `holder` holds a vote until it is ended, so that the way of its end can be chosen. `toucher` reads
//! a register through UIO until it is ended by that.

use crate::{player, vote};
use std::process::ExitCode;

/// Plays the part that the words name; `None` when they name none.
pub(crate) fn play(words: &[String]) -> Option<ExitCode> {
    let (first, rest) = words.split_first()?;
    let answer = match first.as_str() {
        player::WORD => player::main(rest),
        vote::HOLDER => vote::hold(rest),
        vote::TOUCHER => vote::touch(),
        _ => return None,
    };
    Some(match answer {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{first}: {error:#}");
            ExitCode::FAILURE
        }
    })
}
