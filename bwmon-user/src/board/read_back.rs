//! What a vote reads back as, as a level.

use super::{Domain, Level};

impl Domain {
    /// The highest level that `found` carries, in the unit of the domain's vote path (Hz for devfreq,
    /// kHz for `bus_dcvs`, kBps else); the lowest if it carries none. `None` where that cannot be told:
    /// without a vote path, and where a level is several votes.
    pub fn level_of(&self, found: u64) -> Option<Level> {
        let reached = if let Some(path) = &self.devfreq {
            path.freq_hz.iter().filter(|freq| freq.0 <= found).count()
        } else if let Some(path) = &self.bus_dcvs {
            path.freq_khz.iter().filter(|freq| freq.0 <= found).count()
        } else if self.icc.len() == 1 || self.vote.as_ref().is_some_and(|v| v.paths.len() == 1) {
            self.table.kbps().iter().filter(|kbps| kbps.0 <= found).count()
        } else {
            return None;
        };
        Some(Level(reached.saturating_sub(1)).min(self.table.top()))
    }
}

#[cfg(test)]
mod tests {
    use crate::board::{IccPath, Level, builtin};

    #[test]
    fn what_is_found_is_the_level_that_it_carries_in_the_paths_own_unit() {
        let mut domain = builtin("sdm845").unwrap().unwrap().domains.remove(1);
        (domain.devfreq, domain.icc, domain.bus_dcvs, domain.vote) = (None, vec![], None, None);
        assert_eq!(domain.level_of(1_804_000), None, "no vote path");
        let path = IccPath { src: "a".into(), dst: "b".into(), tag: 3 };
        domain.icc = vec![path.clone()];
        // 800000, 1804000, 3072000, 5412000, 7216000 kBps.
        let levels = [0, 1_803_999, 1_804_000, u64::MAX].map(|found| domain.level_of(found));
        assert_eq!(levels, [0, 0, 1, 4].map(|level| Some(Level(level))));
        domain.icc = vec![path.clone(), path];
        assert_eq!(domain.level_of(1_804_000), None, "which column it is of is not known");
    }
}
