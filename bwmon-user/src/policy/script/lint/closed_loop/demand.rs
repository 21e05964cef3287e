//! Demands, worked out from a domain's table.

use crate::board::{Board, OppTable};
use crate::bwmon::{COUNT_MAX, CountScale};
use crate::units::Kbps;

/// A domain with a monitor, and the demands that it is put to. Demands are counts of the monitor:
/// what it cannot tell apart, no policy can.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) domain: usize,
    pub(super) monitor: usize,
    pub(super) scale: CountScale,
    pub(super) table: OppTable,
    /// Constant demands: as much as each level carries, a little more, and the middle to the next.
    pub(super) constant: Vec<u16>,
    /// From nothing to above the highest level in steps of at most 4 %.
    pub(super) ramp: Vec<u16>,
}

impl Track {
    /// One for each domain that a monitor measures.
    pub(super) fn all(board: &Board) -> Vec<Self> {
        let domains = board.domains.iter().enumerate();
        domains
            .filter_map(|(domain, described)| {
                let scale = board.monitor_of(described)?.scale;
                let table = described.table.clone();
                let constant = constant(&table, scale);
                let ramp = ramp(&constant);
                Some(Self { domain, monitor: described.monitor?, scale, table, constant, ramp })
            })
            .collect()
    }

    /// The bandwidth that a reading of `count` says.
    pub(super) fn kbps(&self, count: u16) -> Kbps {
        self.scale.kbps(count)
    }
}

/// The largest count that says no more than `kbps`.
fn fitting(scale: CountScale, kbps: Kbps) -> u16 {
    scale.threshold(kbps).saturating_sub(1)
}

fn constant(table: &OppTable, scale: CountScale) -> Vec<u16> {
    let levels = table.kbps();
    let mut counts = Vec::new();
    for (index, kbps) in levels.iter().enumerate() {
        let fits = fitting(scale, *kbps);
        counts.extend([fits, fits.saturating_add(1)]);
        if let Some(next) = levels.get(index + 1) {
            counts.push(fitting(scale, Kbps(kbps.0.midpoint(next.0))));
        }
    }
    counts.iter_mut().for_each(|count| *count = (*count).min(COUNT_MAX));
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn ramp(constant: &[u16]) -> Vec<u16> {
    let Some(highest) = constant.last() else { return Vec::new() };
    let mut counts = constant.to_vec();
    let mut count = 0;
    while count < *highest {
        counts.push(count);
        count = count.saturating_add((count / 25).max(1));
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::builtin;

    #[test]
    fn demands_stand_at_above_and_between_the_levels() {
        let board = builtin("sdm845-seed").unwrap().unwrap();
        let track = &Track::all(&board)[0];
        // 800000 / (64 * 250) = 50 units: count 49. The next level is 1804000, the middle 1302000
        // = 81 units and a bit: count 80.
        assert_eq!(track.constant[..3], [49, 50, 80]);
        assert_eq!(track.kbps(49), Kbps(800_000));
        assert!(track.kbps(50) > Kbps(800_000));
        assert!(
            track.kbps(*track.constant.last().unwrap()) > track.table.kbps_of(track.table.top())
        );
        assert!(track.ramp.windows(2).all(|pair| pair[1] - pair[0] <= (pair[0] / 25).max(1)));
        assert!(track.ramp.len() < 250, "{}", track.ramp.len());
    }
}
