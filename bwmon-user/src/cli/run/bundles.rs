//! What the installed bundle means for a run.

use super::{Args, Settled};
use crate::agent::Trials;
use crate::cli::choose::Picked;
use crate::cli::output::say;
use crate::live::bundles::{Rolled, Started, Store};
use crate::live::{Machine, Mode, Root, boot_id};
use crate::policy::canary::Rule;
use std::time::Duration;

/// Bundles that are tried at one start; each of them is another one.
const TRIES: usize = 4;

/// What is to run. A bundle that governs is noted as started; one during which the machine rebooted
/// too often is left for the one before.
pub(super) fn pick(settled: &Settled, machine: &Machine) -> anyhow::Result<Picked> {
    let root = machine.root();
    let store = settled.choice.store(root);
    if settled.mode == Mode::Govern {
        leave_damaged(&store);
        if let Err(error) = store.current() {
            // Without its bundle a machine is governed worse than with it, and better than not at all.
            say(&format!("bwmon: warning: installed bundles are left aside: {error}"));
            return settled.choice.without_store().pick(root, &machine.facts());
        }
    }
    let mut picked = settled.choice.pick(root, &machine.facts())?;
    for _ in 0..TRIES {
        if settled.mode != Mode::Govern || !is_bundles(settled, &picked) {
            break;
        }
        match store.started(&boot_id(root)) {
            Ok(Started::RolledBack(rolled)) => {
                went_back("is not tried again", rolled);
                picked = settled.choice.pick(root, &machine.facts())?;
            }
            Ok(_) => break,
            // A read-only system governs all the same.
            Err(error) => {
                say(&format!("bwmon: warning: it is not noted that the bundle runs: {error}"));
                break;
            }
        }
    }
    Ok(picked)
}

/// Whether what is decided is a bundle's: not with a policy of one's own.
fn is_bundles(settled: &Settled, picked: &Picked) -> bool {
    !settled.choice.has_policy() && picked.bundle().is_some()
}

/// A machine whose disk was hurt governs with the last bundle that is whole.
fn leave_damaged(store: &Store) {
    match store.leave_damaged() {
        Ok(Some(rolled)) => went_back("is left", rolled),
        Ok(None) => {}
        Err(error) => say(&format!("bwmon: warning: a damaged bundle cannot be left: {error}")),
    }
}

fn went_back(what: &str, rolled: Rolled) {
    let to = rolled.to.map_or_else(|| "no bundle".into(), |to| format!("bundle {}", to.title()));
    say(&format!("bwmon: bundle {} {what}: {}; back to {to}", rolled.from.title(), rolled.why));
}

/// How changed policies are tried first: as the command line says, else as the bundle of `picked`
/// does, else as the configuration does.
pub(super) fn canary(
    settled: &Settled,
    picked: &Picked,
    args: &Args,
) -> anyhow::Result<Option<(u64, Rule)>> {
    if settled.asked_canary.is_some() {
        return Ok(settled.asked_canary.clone());
    }
    if is_bundles(settled, picked)
        && let Some(id) = picked.bundle()
        && let Some(current) = settled.choice.store(&Root::at(&args.root)).current()?
        && current.id == id
        && let Some(canary) = current.bundle.manifest.canary
    {
        return canary.terms().map(Some).map_err(anyhow::Error::msg);
    }
    Ok(settled.canary.clone())
}

/// How bundles on trial are followed, in a run that governs.
pub(super) fn trials(settled: &Settled, machine: &Machine, args: &Args) -> Option<Trials> {
    let root = machine.root();
    (settled.mode == Mode::Govern && !settled.choice.has_policy()).then(|| Trials {
        store: settled.choice.store(root),
        boot_id: boot_id(root),
        proven_after: Duration::from_millis(args.prove_after_ms),
    })
}
