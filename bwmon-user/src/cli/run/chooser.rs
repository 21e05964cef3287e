//! What is to run, asked again whenever a file changes or somebody asks.

use super::{Args, Settled};
use crate::agent::{Choice, Choose};
use crate::board::Board;
use crate::cli::choose::Picked;
use crate::cli::common;
use crate::live::Machine;
use crate::policy::PolicySpec;
use anyhow::bail;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the files again.
pub(super) struct Chooser {
    pub(super) args: Args,
    pub(super) machine: Machine,
    /// The board that is governed; it can only be changed by a new start.
    pub(super) board: Arc<Board>,
    /// As for the board.
    pub(super) period_us: u64,
}

impl From<Chooser> for Choose {
    fn from(chooser: Chooser) -> Self {
        Self::new(move || chooser.again())
    }
}

impl Chooser {
    fn again(&self) -> anyhow::Result<Choice> {
        let settled = Settled::of(&self.args)?;
        let picked = settled.choice.pick(self.machine.root(), &self.machine.facts())?;
        let board = match (&settled.board, picked.board()) {
            (Some(name), _) => Some(common::board(name)?),
            (None, Some(board)) => Some(board?),
            // The device tree does not change.
            (None, None) => None,
        };
        if board.is_some_and(|board| board != *self.board) {
            bail!("the board has changed; a new start takes it");
        }
        let mut choice = choice(&settled, &picked, &self.board, &self.args)?;
        let period_us = settled.period_us.or(picked.period_us());
        if period_us.is_some_and(|period_us| period_us != self.period_us) {
            choice.notes.push("the distance of the ticks has changed; a new start takes it".into());
            choice.waits_for_start = true;
        }
        Ok(choice)
    }
}

/// What `picked` comes to.
pub(super) fn choice(
    settled: &Settled,
    picked: &Picked,
    board: &Board,
    args: &Args,
) -> anyhow::Result<Choice> {
    let fitted = settled.choice.fit(picked, board, settled.mode.unvoted())?;
    let mut watched: Vec<PathBuf> = args.config.iter().cloned().collect();
    scripts(&fitted.spec, &mut watched);
    watched.extend(settled.choice.watched(picked, &crate::live::Root::at(&args.root)));
    watched.dedup();
    Ok(Choice {
        policy: fitted.spec,
        rails: fitted.rails,
        product: fitted.record,
        canary: super::bundles::canary(settled, picked, args)?,
        by_client: false,
        waits_for_start: false,
        watched,
        notes: picked.notes.iter().cloned().chain(fitted.notes).collect(),
    })
}

/// The files of the scripts of `spec`.
fn scripts(spec: &PolicySpec, files: &mut Vec<PathBuf>) {
    match spec {
        PolicySpec::Script { source, .. } => files.extend(common::policy_file(&source.name)),
        PolicySpec::PerDomain(parts) => parts.iter().for_each(|part| scripts(&part.spec, files)),
        PolicySpec::Native | PolicySpec::Chain(_) => {}
    }
}
