//! What is made of the levels that a policy chose.

use super::demand::Track;
use super::drive::{Drive, Stop};
use super::{IDLE_PERIOD, IDLE_TICKS, MOST_CALLS, MOST_TICKS, PERIOD, SETTLED_TICKS};
use crate::board::{Board, Level};
use crate::diag::Diagnostic;
use crate::policy::script::lint::{Code, Finding};
use crate::units::Kbps;

/// A finding before it has the names of policy and board.
#[derive(Clone, Debug)]
pub(super) struct Found {
    code: Code,
    domain: usize,
    message: String,
    help: &'static str,
}

impl Found {
    fn new(code: Code, track: &Track, message: String, help: &'static str) -> Self {
        Self { code, domain: track.domain, message, help }
    }

    pub(super) fn named(self, policy: &str, board: &Board) -> Finding {
        let domain = board.domains.get(self.domain).map(|domain| domain.name.clone());
        let place = format!("board {}, domain {}", board.id, domain.as_deref().unwrap_or("?"));
        Finding {
            code: self.code,
            diagnostic: Diagnostic::new(policy, format!("{place}: {}", self.message))
                .help(self.help),
            board: Some(board.id.clone()),
            domain,
        }
    }
}

/// Every constant demand, until the levels stay or the time is over.
pub(super) fn constant(drive: &mut Drive, tracks: &[Track]) -> Result<Vec<Found>, Stop> {
    let demands = tracks.iter().map(|track| track.constant.len()).max().unwrap_or(0);
    let mut flaps: Vec<Vec<(Kbps, Level, Level)>> = vec![Vec::new(); tracks.len()];
    let mut below: Vec<Vec<(Kbps, Level)>> = vec![Vec::new(); tracks.len()];
    let end = drive.calls + MOST_CALLS;
    for step in 0..demands {
        if drive.calls >= end {
            break;
        }
        let counts: Vec<u16> = tracks
            .iter()
            .map(|track| track.constant.get(step).or(track.constant.last()).copied().unwrap_or(0))
            .collect();
        for (track, count) in tracks.iter().zip(&counts) {
            drive.ask(track, Some(*count));
        }
        let histories = settle(drive, tracks, &counts)?;
        let results = flaps.iter_mut().zip(&mut below);
        for (((track, count), history), (flaps, below)) in
            tracks.iter().zip(&counts).zip(&histories).zip(results)
        {
            // A shorter list of demands repeats its last.
            if step >= track.constant.len() {
                continue;
            }
            let demand = track.kbps(*count);
            if let Some((low, high)) = flapping(history) {
                flaps.push((demand, low, high));
            } else if let Some(level) =
                history.last().copied().filter(|l| is_below(track, *l, demand))
            {
                below.push((demand, level));
            }
        }
    }
    let mut found = Vec::new();
    for ((track, flaps), below) in tracks.iter().zip(&flaps).zip(&below) {
        found.extend(said_flaps(track, flaps));
        found.extend(said_below(track, below));
    }
    Ok(found)
}

/// Ticks on one demand; the levels of each track, one for each tick.
fn settle(drive: &mut Drive, tracks: &[Track], counts: &[u16]) -> Result<Vec<Vec<Level>>, Stop> {
    let mut histories: Vec<Vec<Level>> = vec![Vec::with_capacity(SETTLED_TICKS); tracks.len()];
    let mut same = 0;
    for _ in 0..MOST_TICKS {
        drive.step(PERIOD)?;
        let mut stays = true;
        for ((track, count), history) in tracks.iter().zip(counts).zip(&mut histories) {
            let level = drive.level(track);
            stays &= history.last() == Some(&level);
            stays &= !is_below(track, level, track.kbps(*count));
            history.push(level);
        }
        same = if stays { same + 1 } else { 0 };
        if same >= SETTLED_TICKS {
            break;
        }
    }
    Ok(histories)
}

/// Whether a higher level is there that would carry more of the demand.
fn is_below(track: &Track, level: Level, demand: Kbps) -> bool {
    level < track.table.top() && track.table.kbps_of(level) < demand
}

/// The levels between which the last half goes up and down, at least twice each way.
fn flapping(history: &[Level]) -> Option<(Level, Level)> {
    let late = history.get(history.len() / 2..)?;
    let pairs = late.iter().zip(late.iter().skip(1));
    let (mut ups, mut downs) = (0, 0);
    for (before, after) in pairs {
        ups += usize::from(after > before);
        downs += usize::from(after < before);
    }
    (ups.min(downs) >= 2).then(|| Some((*late.iter().min()?, *late.iter().max()?)))?
}

fn said_flaps(track: &Track, flaps: &[(Kbps, Level, Level)]) -> Option<Found> {
    let (demand, low, high) = flaps.first()?;
    let message = format!(
        "the level keeps changing between {low} and {high} on a constant demand of {} kBps{}",
        demand.0,
        others(flaps.len())
    );
    let help = "put a gap between what takes it up and what takes it down, or hold it for a time";
    Some(Found::new(Code::Flapping, track, message, help))
}

fn said_below(track: &Track, below: &[(Kbps, Level)]) -> Option<Found> {
    let (demand, level) = below.first()?;
    let message = format!(
        "on a constant demand of {} kBps the level stays at {level}, which carries {} kBps{}",
        demand.0,
        track.table.kbps_of(*level).0,
        others(below.len())
    );
    let help = "demand_kBps(n) takes the lowest level that carries n";
    Some(Found::new(Code::BelowDemand, track, message, help))
}

fn others(all: usize) -> String {
    match all - 1 {
        0 => String::new(),
        1 => " (and so on one other demand)".to_owned(),
        more => format!(" (and so on {more} other demands)"),
    }
}

/// Levels that the native rule chose on the same demands, and the policy did not.
pub(super) fn never_chosen(drive: &Drive, native: &Drive, tracks: &[Track]) -> Vec<Found> {
    let mut found = Vec::new();
    for track in tracks {
        let chosen = drive.chosen(track);
        let missing: Vec<String> = native
            .chosen(track)
            .difference(&chosen)
            .map(|level| format!("{level} ({} kBps)", track.table.kbps_of(*level).0))
            .collect();
        if !missing.is_empty() {
            let message = format!(
                "no demand, rising or falling, leads to level {}; the native rule chooses it",
                missing.join(", ")
            );
            let help = "look at the thresholds around that bandwidth";
            found.push(Found::new(Code::LevelNeverChosen, track, message, help));
        }
    }
    found
}

/// The highest level, and then nothing for 10 s.
pub(super) fn never_down(drive: &mut Drive, tracks: &[Track]) -> Result<Vec<Found>, Stop> {
    for track in tracks {
        drive.ask(track, track.constant.last().copied());
    }
    let top = |drive: &Drive, track: &Track| drive.level(track) == track.table.top();
    for _ in 0..MOST_TICKS {
        if tracks.iter().all(|track| top(drive, track)) {
            break;
        }
        drive.step(PERIOD)?;
    }
    let mut high: Vec<&Track> =
        tracks.iter().filter(|track| track.table.len() > 1 && top(drive, track)).collect();
    for track in tracks {
        drive.ask(track, Some(0));
    }
    for _ in 0..IDLE_TICKS {
        if high.is_empty() {
            break;
        }
        drive.step(IDLE_PERIOD)?;
        high.retain(|track| top(drive, track));
    }
    let said = |track: &&Track| {
        let message = format!(
            "10 s after the demand fell to nothing the level is still the highest, {}",
            track.table.top()
        );
        let help = "a threshold for coming down is never reached";
        Found::new(Code::NeverComesDown, track, message, help)
    };
    Ok(high.iter().map(said).collect())
}
