//! When an interrupt-driven block is to wake the loop: from what was just decided.

use crate::board::Level;
use crate::bwmon::Armed;
use crate::decide::Reason;
use crate::governor::{DomainTick, Governor};
use crate::units::Kbps;

/// The thresholds of the board's `monitor`, after a tick of `governor`.
///
/// Per domain that it measures they are the policy's own (`wake_kBps`), or, as in icc-bwmon.c, they
/// lie around the level in force: above it, and at and below the next lower one. Where the limits
/// let nothing change in a direction, there is nothing to wake for. Of several domains the first to
/// want anything wakes.
pub fn armed(governor: &Governor, monitor: usize) -> Armed {
    let board = governor.board();
    let measured = board.domains.iter().enumerate().filter(|(_, d)| d.monitor == Some(monitor));
    let mut all = Armed { up_kbps: None, down_kbps: None };
    for (index, domain) in measured {
        let Some(tick) = governor.last().get(index) else { continue };
        let one = of_domain(domain.table.kbps(), tick, governor.level(index));
        all.up_kbps = [all.up_kbps, one.up_kbps].into_iter().flatten().min();
        all.down_kbps = all.down_kbps.max(one.down_kbps);
    }
    all
}

fn of_domain(levels: &[Kbps], tick: &DomainTick, level: Option<Level>) -> Armed {
    if matches!(tick.decision.reason, Reason::Manual | Reason::Gone) {
        return Armed { up_kbps: None, down_kbps: None };
    }
    if let Some((up, down)) = tick.proposal.wake_kbps {
        // The hardware asks for more than its threshold at that many; a script says "above".
        return Armed {
            up_kbps: Some(Kbps(up.0.saturating_add(1))),
            down_kbps: (down.0 > 0).then_some(down),
        };
    }
    let Some(level) = level else {
        // The driver's own start: the lowest level is both thresholds.
        let lowest = levels.first().copied();
        return Armed { up_kbps: lowest, down_kbps: lowest };
    };
    let observed = &tick.observation;
    let up = levels.get(level.0).filter(|_| level < observed.max_level);
    let lower = level.0.checked_sub(1).and_then(|lower| levels.get(lower));
    Armed {
        up_kbps: up.map(|kbps| Kbps(kbps.0 + 1)),
        down_kbps: lower.filter(|_| level > observed.min_level).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Decision;
    use crate::governor::Origin;
    use crate::policy::testing::observation;
    use crate::policy::{Ask, Proposal};

    /// 800000, 1804000, 3072000.
    const LEVELS: [Kbps; 3] = [Kbps(800_000), Kbps(1_804_000), Kbps(3_072_000)];

    fn tick(wake: Option<(u64, u64)>, reason: Reason) -> DomainTick {
        let mut proposal = Proposal::new(Ask::Hold, "");
        proposal.wake_kbps = wake.map(|(up, down)| (Kbps(up), Kbps(down)));
        let mut observation = observation();
        (observation.min_level, observation.max_level) = (Level(0), Level(2));
        let decision = Decision { level: None, reason };
        DomainTick { observation, proposal, origin: Origin::Policy, decision, vote: None }
    }

    fn at(level: Option<usize>, tick: &DomainTick) -> (Option<u64>, Option<u64>) {
        let armed = of_domain(&LEVELS, tick, level.map(Level));
        (armed.up_kbps.map(|k| k.0), armed.down_kbps.map(|k| k.0))
    }

    #[test]
    fn thresholds_lie_around_the_level_in_force_as_the_kernels_do() {
        let tick = tick(None, Reason::Policy);
        // icc-bwmon.c: up is the level's bandwidth + 1, down the next lower level's; at the ends
        // one of them is masked.
        assert_eq!(at(Some(0), &tick), (Some(800_001), None));
        assert_eq!(at(Some(1), &tick), (Some(1_804_001), Some(800_000)));
        assert_eq!(at(Some(2), &tick), (None, Some(1_804_000)));
        assert_eq!(at(None, &tick), (Some(800_000), Some(800_000)));
    }

    #[test]
    fn limits_mask_what_could_change_nothing() {
        let mut tick = tick(None, Reason::Policy);
        tick.observation.max_level = Level(1);
        tick.observation.min_level = Level(1);
        assert_eq!(at(Some(1), &tick), (None, None));
    }

    #[test]
    fn a_policys_own_wake_levels_come_first_and_a_domain_that_is_not_ours_has_none() {
        // Above 2000000, at and below 500000; 0 is never below.
        assert_eq!(
            at(Some(1), &tick(Some((2_000_000, 500_000)), Reason::Policy)),
            (Some(2_000_001), Some(500_000))
        );
        assert_eq!(
            at(Some(1), &tick(Some((2_000_000, 0)), Reason::Policy)),
            (Some(2_000_001), None)
        );
        for reason in [Reason::Manual, Reason::Gone] {
            assert_eq!(at(Some(1), &tick(Some((9, 5)), reason)), (None, None));
        }
    }
}
