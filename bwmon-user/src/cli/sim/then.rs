//! Another policy in the middle of a simulation: a reload, or a canary.

use crate::board::Board;
use crate::cli::common::{self, PolicyArgs};
use crate::cli::output::say;
use crate::command::{Command, Replacement};
use crate::diag::Diagnostic;
use crate::journal::Note;
use crate::ports::Control;
use anyhow::bail;

/// The options.
#[derive(clap::Args)]
pub(super) struct ThenArgs {
    /// Put this policy in the place of the first one, in the middle
    #[arg(long, value_name = "FILE|NAME", requires = "then_at_ms")]
    then: Option<String>,
    /// At this virtual time
    #[arg(long, value_name = "MS", requires = "then")]
    then_at_ms: Option<u64>,
    /// A tunable of the other policy; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = common::name_value, requires = "then")]
    then_set: Vec<(String, String)>,
    #[command(flatten)]
    canary: common::CanaryArgs,
}

/// Gives the command at its time.
pub(super) struct Then {
    tick: u64,
    command: Option<(u64, Command)>,
}

impl ThenArgs {
    /// What is to happen when; the other policy is made once, so that a fault in it is known before
    /// anything is simulated.
    pub(super) fn control(&self, board: &Board, period_us: u64) -> anyhow::Result<Then> {
        let (Some(policy), Some(at)) = (&self.then, self.then_at_ms) else {
            if self.canary.wanted().is_some() {
                bail!("--canary-ms goes with --then: it says which policy is the canary");
            }
            return Ok(Then { tick: 0, command: None });
        };
        let args = PolicyArgs { policy: policy.clone(), preset: None, set: self.then_set.clone() };
        let spec = args.spec()?;
        spec.clone().build(board)?;
        let canary = self.canary.wanted();
        let tick = at.saturating_mul(1_000) / period_us;
        let replacement = Replacement { policy: spec, canary, terms: None };
        let command = Command::Replace(Box::new(replacement));
        Ok(Then { tick: 0, command: Some((tick, command)) })
    }
}

impl Control for Then {
    fn next(&mut self) -> Option<Command> {
        self.tick += 1;
        self.command.take_if(|(at, _)| self.tick > *at).map(|(_, command)| command)
    }

    fn answered(&mut self, answer: Result<&Note, &Diagnostic>) {
        if let Err(why) = answer {
            say(&format!("error: {why}"));
        }
    }
}

/// What came of it, one line each.
pub(super) fn told(note: &Note) -> String {
    crate::agent::news(note)
}
