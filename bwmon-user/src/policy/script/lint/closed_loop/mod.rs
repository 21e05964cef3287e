//! The closed loop: a policy governs a board, with its guard rails, on demands that are worked out
//! from the board's tables. It is deterministic: no model of the machine, only readings that say
//! the demand.
//!
//! What is looked for: levels that flap on a constant demand, that stay below it, that do not come
//! down when it is gone, and levels that are never chosen.

mod demand;
mod drive;
mod judge;

use super::{Code, Finding};
use crate::board::Board;
use crate::policy::{Mainline, PolicySpec};
use crate::units::Nanos;
use demand::Track;
use drive::{Drive, Stop};
use std::sync::Arc;

/// Distance of ticks: one window of the mainline variants.
const PERIOD: Nanos = Nanos(4 * Nanos::PER_MS);
/// Ticks for which one constant demand lasts at most.
const MOST_TICKS: usize = 400;
/// Ticks after which a level that has not changed is taken to stay.
const SETTLED_TICKS: usize = 60;
/// Calls after which no further constant demand is tried: a policy that takes its time, or flaps on
/// all of them, must not make the check slow.
const MOST_CALLS: usize = 5_000;
/// Ticks for which each step of the ramp lasts.
const RAMP_TICKS: usize = 2;
/// Distance of ticks while the demand is nothing, and their number: 10 s.
const IDLE_PERIOD: Nanos = Nanos(20 * Nanos::PER_MS);
const IDLE_TICKS: usize = 500;

/// Lets the policy of `spec` govern `board`. A policy that does not follow the demand on purpose
/// (`follows` is false) is only watched for faults. A policy that cannot be made for the board has
/// no findings: making it says what is wrong.
pub fn closed_loop(spec: &PolicySpec, board: &Arc<Board>, follows: bool) -> Vec<Finding> {
    let tracks = Track::all(board);
    let Ok((policy, _)) = spec.clone().build(board) else { return Vec::new() };
    if tracks.is_empty() {
        return Vec::new();
    }
    let name = policy.name().to_owned();
    let mut drive = Drive::new(board, policy, &tracks);
    let mut native = Drive::new(board, Box::new(Mainline::new(board)), &tracks);
    match watch(&mut drive, &mut native, &tracks, follows) {
        Ok(findings) => findings.into_iter().map(|found| found.named(&name, board)).collect(),
        Err(stop) => vec![stopped(stop, board)],
    }
}

fn watch(
    drive: &mut Drive,
    native: &mut Drive,
    tracks: &[Track],
    follows: bool,
) -> Result<Vec<judge::Found>, Stop> {
    ramp(drive, tracks)?;
    if !follows {
        return Ok(Vec::new());
    }
    ramp(native, tracks)?;
    let mut found = judge::constant(drive, tracks)?;
    judge::constant(native, tracks)?;
    found.extend(judge::never_chosen(drive, native, tracks));
    found.extend(judge::never_down(drive, tracks)?);
    Ok(found)
}

/// Up through all demands in small steps, down again, and nothing for a while.
fn ramp(drive: &mut Drive, tracks: &[Track]) -> Result<(), Stop> {
    let steps = tracks.iter().map(|track| track.ramp.len()).max().unwrap_or(0);
    for step in (0..steps).chain((0..steps).rev()) {
        for track in tracks {
            drive.ask(track, track.ramp.get(step).or(track.ramp.last()).copied());
        }
        for _ in 0..RAMP_TICKS {
            drive.step(PERIOD)?;
        }
    }
    for _ in 0..SETTLED_TICKS {
        drive.step(PERIOD)?;
    }
    Ok(())
}

fn stopped(stop: Stop, board: &Board) -> Finding {
    let domain = board.domains.get(stop.domain).map(|domain| domain.name.clone());
    Finding {
        code: Code::Fault,
        diagnostic: *stop.fault.diagnostic,
        board: Some(board.id.clone()),
        domain,
    }
}

#[cfg(test)]
mod tests;
